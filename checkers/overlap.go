package checkers

import (
	"fmt"
	"slices"

	"zksim/model/history"
)

// endsOnly are operations that need no beginning: a holder says at the end how long that can have been, and a cached
// reader begins with what it is told first.
var endsOnly = []string{"held", "follow"}

// overlap says which object begins an operation although it has begun the same one and not ended it, as when goroutines
// share the object. Nobody knows then which calls and answers belong together. Nor does anybody know which of two
// watchers of one object tells something. overlap also says which object ends a judged operation that it has not begun:
// checkers would take it for none. It returns "" if there is none.
func (v *Vocabulary) overlap(h *history.History) string {
	var open []*history.Event
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Invoke && e.Kind != history.Return || e.Op == Settle { // a time to settle may begin anew
			continue
		}
		k := slices.IndexFunc(open, func(x *history.Event) bool {
			both := e.Kind == history.Invoke && isWatch(x.Op) && isWatch(e.Op)
			return x.Object == e.Object && (x.Op == e.Op || both)
		})
		switch {
		case k >= 0 && e.Kind == history.Invoke:
			what := "it"
			if open[k].Op != e.Op {
				what = fmt.Sprintf("%q", open[k].Op)
			}
			return fmt.Sprintf("c%d begins the operation %.60q on an object on which %s goes on since step %d; each goroutine "+
				"needs an object of its own, and each Invoke its Return", e.Client, e.Op, what, open[k].Step)
		case k >= 0:
			open[k] = open[len(open)-1]
			open = open[:len(open)-1]
		case e.Kind == history.Invoke:
			open = append(open, e)
		case v.judged[e.Op] && !slices.Contains(endsOnly, e.Op):
			return fmt.Sprintf("c%d ends the operation %.60q on an object that has not begun it, so nobody knows since when it "+
				"went on; each Return needs its Invoke", e.Client, e.Op)
		}
	}
	return ""
}
