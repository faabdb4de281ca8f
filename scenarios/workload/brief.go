package workload

import "zksim/scenarios/engine"

// Brief reports whether the run is to be as short as a run with every kind of operation can be: it has one round.
// Exhaustive search makes such runs.
func Brief(p *engine.Process) bool { return p.Rounds == 1 }

// Leads and Follows report the role of a client. In a brief run odd clients lead and even ones follow; in other runs
// each client does both.
func Leads(p *engine.Process) bool { return !Brief(p) || p.ID%2 == 1 }

// Follows is the other role; see Leads.
func Follows(p *engine.Process) bool { return !Brief(p) || p.ID%2 == 0 }

// Repeat returns how many times to do something that only makes a run longer: n times, or once in a brief run.
func Repeat(p *engine.Process, n int) int {
	if Brief(p) {
		return 1
	}
	return n
}

// byTurns is how many steps the holders of a preset work: few, so that many take turns, or so many that it shows if
// another client gets what they hold. The length does not depend on what the client does in that round.
func byTurns(p *engine.Process, r int) int {
	if Brief(p) {
		return 2
	}
	return [...]int{2, 20, 60}[(2*p.ID+r)%3]
}

// always returns a stay of the same length in every round.
func always(steps int) func(*engine.Process, int) int {
	return func(*engine.Process, int) int { return steps }
}

// Steps takes n steps, in which all others can move.
func Steps(p *engine.Process, n int) {
	for range n {
		p.Step()
	}
}
