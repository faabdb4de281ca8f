package checkers

import "zksim/model/history"

// Rounds is the promise of a double barrier that is used again: a round has no more
// members than it was made for and each once, and nobody enters while a member of
// another round is inside.
//
// The operations are called enter, asked for n participants (Value), which answers
// with the own znode (Path) and a number of the round (Value), and leave.
type Rounds struct{}

// Name implements [Checker].
func (Rounds) Name() string { return "rounds" }

// Doc implements [Checker].
func (Rounds) Doc() string { return "rounds of the barrier have their own members and do not overlap" }

// Check implements [Checker].
func (c Rounds) Check(h *history.History) Verdict {
	all := stays(h)
	for i, x := range all {
		members := int64(1)
		for _, y := range all[:i] {
			switch {
			case y.round != x.round:
				if x.enters < y.leaves && x.enters < y.ends && x.enters < x.ends {
					return violated(c, x.enters, "c%d entered round 0x%x while c%d is inside 0x%x by %s", x.client, x.round, y.client, y.round, y.path)
				}
			case y.object == x.object:
				return violated(c, x.enters, "c%d entered round 0x%x twice, by %s and %s", x.client, x.round, y.path, x.path)
			default:
				members++
			}
		}
		if members > x.need {
			return violated(c, x.enters, "c%d entered round 0x%x as number %d of %d", x.client, x.round, members, x.need)
		}
	}
	return Verdict{}
}

// stay is one time that a client was inside. What did not happen is after the
// end of the history.
type stay struct {
	client, object      int32
	path                string
	need, round         int64
	enters, leaves, out int // Enter returns, Leave begins, Leave returns without an error
	ends                int // the session ends
}

// stays returns the times that clients were inside, in the order of entering.
func stays(h *history.History) []stay {
	var all []stay
	need := map[int32]int64{}
	never := len(h.Events)
	// of returns the object's latest stay.
	of := func(object int32) *stay {
		for k := len(all) - 1; k >= 0; k-- {
			if all[k].object == object {
				return &all[k]
			}
		}
		return &stay{}
	}
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Invoke && e.Op == "enter":
			need[e.Object] = e.Value
		case e.Kind == history.Return && e.Op == "enter" && e.Err == nil:
			all = append(all, stay{client: e.Client, object: e.Object, path: e.Path, need: need[e.Object], round: e.Value,
				enters: i, leaves: never, out: never, ends: end(h, e)})
		case e.Kind == history.Invoke && e.Op == "leave":
			of(e.Object).leaves = i
		case e.Kind == history.Return && e.Op == "leave" && e.Err == nil:
			of(e.Object).out = i
		}
	}
	return all
}

// end returns where the session ended that a client entered with: where the
// servers deleted its znode, if that was recorded. If it was not, a client that was
// told of a loss, or crashed, is excused altogether.
func end(h *history.History, entered *history.Event) int {
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case h.Txns && e.Kind == history.Deleted && e.Client == 0 && e.Path == entered.Path:
			return i
		case !h.Txns && (e.Kind == history.Lost && e.Object == entered.Object || e.Kind == history.Crashed && e.Client == entered.Client):
			return -1
		}
	}
	return len(h.Events)
}
