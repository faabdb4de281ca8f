package checkers

import "zksim/model/history"

// Fenced is the layer of lock safety that holds whatever happens: a resource
// that checks tokens never accepts a write of an earlier holder after one of a
// later holder. Holders are told apart by the zxid that made their znodes, not
// by the token that they show.
type Fenced struct{}

// Name implements [Checker].
func (Fenced) Name() string { return "fenced" }

// Doc implements [Checker].
func (Fenced) Doc() string {
	return "the guarded resource never accepts a write of an earlier holder after one of a later holder"
}

// Check implements [Checker].
func (f Fenced) Check(h *history.History) Verdict {
	var latest int64
	var writer int32
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Write || !e.OK {
			continue
		}
		z := holder(h, i)
		if z < latest {
			return violated(f, i, "the resource accepted a write of c%d, holder since zxid 0x%x, after one of c%d, holder since 0x%x",
				e.Client, z, writer, latest)
		}
		latest, writer = z, e.Client
	}
	return Verdict{}
}

// holder returns the zxid that created the znode by which the writer of event i
// holds the lock; the token that it was given where that was not recorded.
func holder(h *history.History, i int) int64 {
	object := h.Events[i].Object
	k := i
	for k > 0 && !(h.Events[k].Kind == history.Acquired && h.Events[k].Object == object) {
		k--
	}
	path, token := h.Events[k].Path, h.Events[k].Value
	for ; k >= 0; k-- {
		if e := &h.Events[k]; e.Kind == history.Created && e.Path == path && e.Client == h.Events[i].Client {
			return e.Zxid
		}
	}
	return token
}
