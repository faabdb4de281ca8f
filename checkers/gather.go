package checkers

import "zksim/model/history"

// Gather is the progress of a double barrier whose users give up after a while:
// nobody has to give up while there are enough of them. When the faults are over,
// time passes only when nothing else can happen. So if n were waiting to enter when
// one of them became impatient, and the same n were when it gave up, some time
// later, they were waiting for nothing.
//
// The operations are as for [Entry]; a client that is about to give up tells so
// (impatient). Nothing is said of real runs, in which nobody can tell when nothing
// else can happen.
type Gather struct{}

// Name implements [Checker].
func (Gather) Name() string { return "gather" }

// Doc implements [Checker].
func (Gather) Doc() string {
	return "with the faults over, nobody gives up while enough are waiting to enter"
}

// waiter is an Enter that has not returned.
type waiter struct {
	client, object int32
	need           int64
	enough         bool // were waiting when it became impatient, and still are
}

// Check implements [Checker].
func (c Gather) Check(h *history.History) Verdict {
	var waiting []waiter
	calm := false
	for i := range h.Events {
		e := &h.Events[i]
		entering := e.Op == "enter" && (e.Kind == history.Invoke || e.Kind == history.Return)
		switch {
		case e.Kind == history.Calm:
			calm = true
		case e.Kind == history.Told && e.Op == "impatient" && calm:
			for k := range waiting {
				if x := &waiting[k]; x.object == e.Object {
					x.enough = int64(len(waiting)) >= x.need
				}
			}
		case e.Kind == history.Crashed:
			waiting = drop(waiting, func(x waiter) bool { return x.client == e.Client })
		case entering:
			for _, x := range waiting {
				if x.object == e.Object && x.enough && e.Err != nil {
					return violated(c, i, "c%d gave up entering, although it was one of %d who were waiting and %d are enough", e.Client, len(waiting), x.need)
				}
			}
			waiting = drop(waiting, func(x waiter) bool { return x.object == e.Object })
			for k := range waiting {
				waiting[k].enough = false
			}
			if e.Kind == history.Invoke {
				waiting = append(waiting, waiter{client: e.Client, object: e.Object, need: e.Value})
			}
		}
	}
	return Verdict{}
}
