package checkers

import "zksim/model/history"

// Fenced is the layer of lock safety that holds whatever happens: a resource
// that checks tokens never accepts a write of an earlier holder after one of a
// later holder. Holders are told apart by the zxid that made their znodes, not
// by the token that they show. Where readers share the lock, the resource lets no
// earlier holder read after a write of a later one, or write after it has read.
type Fenced struct{}

// Name implements [Checker].
func (Fenced) Name() string { return "fenced" }

// Doc implements [Checker].
func (Fenced) Doc() string {
	return "the guarded resource never accepts a write of an earlier holder after one of a later holder"
}

// Check implements [Checker].
func (f Fenced) Check(h *history.History) Verdict {
	type access struct {
		client int32
		since  int64
	}
	var written, read access // by the latest holder each
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Write || !e.OK {
			continue
		}
		x := access{e.Client, holder(h, i)}
		switch {
		case e.Op == "read" && x.since < written.since:
			return violated(f, i, "the resource accepted a read of c%d, holder since zxid 0x%x, after a write of c%d, holder since 0x%x",
				x.client, x.since, written.client, written.since)
		case x.since < written.since:
			return violated(f, i, "the resource accepted a write of c%d, holder since zxid 0x%x, after one of c%d, holder since 0x%x",
				x.client, x.since, written.client, written.since)
		case e.Op != "read" && x.since < read.since:
			return violated(f, i, "the resource accepted a write of c%d, holder since zxid 0x%x, after a read of c%d, holder since 0x%x",
				x.client, x.since, read.client, read.since)
		case e.Op != "read":
			written = x
		case x.since > read.since:
			read = x
		}
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
