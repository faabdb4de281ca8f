package checkers

import "zksim/model/history"

// Recency says that configurations do not go back, by the zxid of the update: a
// cached reader is told later and later sets, and nobody who asks is given an older
// set than somebody had before he asked. A cached reader is an object of its own.
type Recency struct{}

// Name implements [Checker].
func (Recency) Name() string { return "recency" }

// Doc implements [Checker].
func (Recency) Doc() string {
	return "a cached reader never goes back, and who asks gets no older set than was known before"
}

// Check implements [Checker].
func (r Recency) Check(h *history.History) Verdict {
	var known int64              // to anybody
	atLeast := map[int32]int64{} // object -> what it must be given
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind == history.Invoke && e.Op == "get" {
			atLeast[e.Object] = known
		}
		if !given(e) {
			continue
		}
		if least := atLeast[e.Object]; e.Zxid < least {
			if e.Kind == history.Told {
				return violated(r, i, "the cached reader of c%d goes back from zxid 0x%x to 0x%x", e.Client, least, e.Zxid)
			}
			return violated(r, i, "c%d was given the set of zxid 0x%x although that of 0x%x was known before", e.Client, e.Zxid, least)
		}
		if e.Kind == history.Told {
			atLeast[e.Object] = e.Zxid
		}
		known = max(known, e.Zxid)
	}
	return Verdict{}
}
