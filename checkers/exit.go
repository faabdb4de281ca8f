package checkers

import "zksim/model/history"

// Exit is the promise of a double barrier to those who leave: when Leave returns
// without an error, all others of the round have begun to leave or their sessions
// have ended. For the events see [Rounds].
type Exit struct{}

// Name implements [Checker].
func (Exit) Name() string { return "exit" }

// Doc implements [Checker].
func (Exit) Doc() string { return "nobody has left the barrier before all of the round leave" }

// Check implements [Checker].
func (c Exit) Check(h *history.History) Verdict {
	all := stays(h)
	for _, x := range all {
		for _, y := range all {
			if x.round == y.round && x.object != y.object && x.out < y.leaves && x.out < y.ends {
				return violated(c, x.out, "c%d has left round 0x%x while c%d is inside by %s", x.client, x.round, y.client, y.path)
			}
		}
	}
	return Verdict{}
}
