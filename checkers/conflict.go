package checkers

import "zksim/model/history"

// Conflict says that an update of a configuration is refused, which is a legal
// error of "update", only if another was made at the same time. One that has not
// ended, or with an error that leaves its outcome open, may be made at any later
// time.
type Conflict struct{}

// Name implements [Checker].
func (Conflict) Name() string { return "conflict" }

// Doc implements [Checker].
func (Conflict) Doc() string { return "an update is refused only while another is made" }

// Check implements [Checker].
func (c Conflict) Check(h *history.History) Verdict {
	type update struct {
		begin, end int
		refused    bool
	}
	var all []update
	latest := map[int32]int{} // object -> index in all
	for i := range h.Events {
		e := &h.Events[i]
		switch k, begun := latest[e.Object]; {
		case e.Op != "update":
		case e.Kind == history.Invoke:
			latest[e.Object] = len(all)
			all = append(all, update{begin: i, end: len(h.Events)})
		case e.Kind == history.Return && begun && (e.Err == nil || e.OK):
			all[k].end, all[k].refused = i, e.Err != nil
		}
	}
	for k, u := range all {
		if !u.refused {
			continue
		}
		excused := false
		for m, other := range all {
			excused = excused || m != k && other.begin < u.end && other.end > u.begin
		}
		if !excused {
			return violated(c, u.end, "the update of c%d was refused although no other was being made", h.Events[u.end].Client)
		}
	}
	return Verdict{}
}
