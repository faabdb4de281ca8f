package checkers

import (
	"fmt"

	"zksim/model/history"
)

// overlap says which object begins an operation although it has begun the same one and not ended it, as when goroutines
// share the object. Nobody knows then which calls and answers belong together. It returns "" if there is none.
func overlap(h *history.History) string {
	var open []*history.Event
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Invoke && e.Kind != history.Return || e.Op == Settle { // a time to settle may begin anew
			continue
		}
		k := 0
		for k < len(open) && (open[k].Object != e.Object || open[k].Op != e.Op) {
			k++
		}
		begun := k < len(open)
		switch {
		case begun && e.Kind == history.Invoke:
			return fmt.Sprintf("c%d begins the operation %.60q on an object on which it goes on since step %d; each goroutine "+
				"needs an object of its own, and each Invoke its Return", e.Client, e.Op, open[k].Step)
		case begun:
			open[k] = open[len(open)-1]
			open = open[:len(open)-1]
		case e.Kind == history.Invoke:
			open = append(open, e)
		}
	}
	return ""
}
