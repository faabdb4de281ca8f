package catalog

import (
	"zksim/faults"
	"zksim/internal/mutants"
	"zksim/model"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

const lockDir = "/lock"

func newLock(p *engine.Process) workload.FullLocker {
	return recipes.NewLock(p.Conn, p.Env, p.Path(lockDir), recipes.LockOptions{})
}

func newSingleNodeLock(p *engine.Process) workload.FullLocker {
	return recipes.NewSingleNodeLock(p.Conn, p.Env, p.Path(lockDir), recipes.LockOptions{})
}

func newBroken(f mutants.Flaw) func(p *engine.Process) workload.FullLocker {
	return func(p *engine.Process) workload.FullLocker { return mutants.NewLock(p.Conn, p.Env, p.Path(lockDir), f) }
}

var lockSetup = []model.Request{engine.Mkdir(lockDir)}

var lockFaults = append(faults.Contract(), faults.Rule{Fault: "sequence", Budget: 2, Aim: faults.Aim{Path: lockDir}})

// lockScenario is what all scenarios of locks have in common.
func lockScenario(s engine.Scenario) engine.Scenario {
	s.Setup, s.Checkers = lockSetup, workload.LockCheckers
	if !s.Broken() && s.Alike() == nil {
		s = s.Symmetric(workload.ByThree)
	}
	return workload.WithDefaults(s, 3)
}

// lockMutant is a scenario of a broken lock that must be caught.
func lockMutant(f mutants.Flaw, s engine.Scenario) engine.Scenario {
	s = mutated(f, s)
	if s.Program == nil {
		s.Program, s.Rounds = workload.LockRounds(newBroken(f)), 2
	}
	return lockScenario(s)
}

// lockPatiently makes a program that tries again when Lock fails, like a caller that knows that connections come and
// go.
func lockPatiently(newLocker func(p *engine.Process) workload.FullLocker) func(p *engine.Process) {
	return func(p *engine.Process) {
		l := newLocker(p)
		o := p.Register(l.Znodes)
		for range 4 {
			if workload.LockOnce(p, o, l, 2, false) == nil {
				return
			}
		}
	}
}
