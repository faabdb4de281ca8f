package workload

import "zksim/scenarios/engine"

// Brief reports whether the run is to be as short as a run with every kind of
// operation in it can be: it has one round. Exhaustive search is for such runs.
func Brief(p *engine.Process) bool { return p.Rounds == 1 }

// Leads and Follows are the two roles into which the clients of a brief run part, the odd
// and the even ones; in other runs each plays both.
func Leads(p *engine.Process) bool { return !Brief(p) || p.ID%2 == 1 }

// Follows is the other of the two roles of Leads.
func Follows(p *engine.Process) bool { return !Brief(p) || p.ID%2 == 0 }

// Repeat returns how many times to do what only makes a run longer: n times, or once if
// it is to be brief.
func Repeat(p *engine.Process, n int) int {
	if Brief(p) {
		return 1
	}
	return n
}

// byTurns is how many steps the holders of a preset work: few, so that many take turns, or so many that it shows if
// what they hold goes to another one. What a client does in a round and for how long are not tied to each other.
func byTurns(p *engine.Process, r int) int {
	if Brief(p) {
		return 2
	}
	return [...]int{2, 20, 60}[(2*p.ID+r)%3]
}

// always is a stay that is the same in every round.
func always(steps int) func(*engine.Process, int) int {
	return func(*engine.Process, int) int { return steps }
}

// Steps takes that many steps, in which everybody else can move.
func Steps(p *engine.Process, n int) {
	for range n {
		p.Step()
	}
}
