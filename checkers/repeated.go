package checkers

import (
	"fmt"

	"zksim/model/history"
)

// repeated says which client puts an item whose number another put had before. Checkers of queues tell items apart by
// their numbers: they would take the two for one, and blame the queue for that, or not miss the second. It returns ""
// if there is none.
func repeated(h *history.History) string {
	first := map[int64]int32{} // who put it
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Invoke || e.Op != "put" {
			continue
		}
		if c, again := first[e.Value]; again {
			return fmt.Sprintf("c%d puts the item %d, which c%d has put before, so nobody can tell them apart; each put needs "+
				"a number of its own as its Value, see Object.Record", e.Client, e.Value, c)
		}
		first[e.Value] = e.Client
	}
	return ""
}
