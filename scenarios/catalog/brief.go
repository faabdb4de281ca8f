package catalog

import "zksim/scenarios/engine"

// brief reports whether the run is to be as short as a run with every kind of
// operation in it can be: it has one round. Exhaustive search is for such runs.
func brief(p *engine.Process) bool { return p.Rounds == 1 }

// leads and follows are the two roles into which the clients of a brief run part, the odd
// and the even ones; in other runs each plays both.
func leads(p *engine.Process) bool   { return !brief(p) || p.ID%2 == 1 }
func follows(p *engine.Process) bool { return !brief(p) || p.ID%2 == 0 }

// repeat returns how many times to do what only makes a run longer: n times, or once if
// it is to be brief.
func repeat(p *engine.Process, n int) int {
	if brief(p) {
		return 1
	}
	return n
}
