package ensemble

import (
	"fmt"
	"path"

	"github.com/go-zookeeper/zk"

	"zksim/model"
)

// A refused write also takes a zxid, and the leader decides it by what all earlier txns have made. So the log says
// whether the refusal was right. For a write that was carried out, it says whether the znode had the requested version.

// write is a create, delete or set outside of multis, with a server's answer.
type write struct {
	client  int32
	op      model.Op
	path    string // as requested
	flags   int32
	version int32
	zxid    int64
	err     model.Code
}

// writes returns a function that keeps the answers to a client's writes.
func (h *liveHost) writes(client int32) func(q *model.Request, zxid int64, err model.Code) {
	return func(q *model.Request, zxid int64, err model.Code) {
		if servers(q.Path) {
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if !h.over {
			h.wrote = append(h.wrote, write{client, q.Op, q.Path, q.Flags, q.Version, zxid, err})
		}
	}
}

// misjudged describes a write that was refused although it was possible, or carried out although it was not; "" if
// there is none.
func (p *past) misjudged(writes []write) string {
	for i := range writes {
		w := &writes[i]
		if why := p.unjust(w); why != "" {
			how := "was done"
			if w.err != model.OK {
				how = fmt.Sprintf("was refused with %v", w.err)
			}
			return fmt.Sprintf("c%d's %v of %s %s at zxid 0x%x, and %s", w.client, w.op, w.path, how, w.zxid, why)
		}
	}
	return ""
}

// unjust says what in the txns before a write contradicts its answer; "" if nothing does.
func (p *past) unjust(w *write) string {
	before := w.zxid - 1
	l, parent := p.at(w.path, before), path.Dir(w.path)
	isCreate := w.op != model.OpDelete && w.op != model.OpSetData
	switch w.err {
	case model.NoNode:
		of := w.path
		if isCreate {
			of = parent
		}
		if p.at(of, before) != nil {
			return p.existence(of, before)
		}
	case model.NodeExists:
		if l == nil && w.flags&zk.FlagSequence == 0 { // else its number is unknown
			return p.existence(w.path, before)
		}
	case model.NoChildrenForEphemerals:
		if of := p.at(parent, before); of == nil || of.owner == 0 {
			return parent + " is no ephemeral"
		}
	case model.NotEmpty:
		if len(p.names(w.path, before)) == 0 {
			return "it has no children then"
		}
	case model.BadVersion, model.OK:
		if isCreate {
			return ""
		}
		if l == nil {
			return p.existence(w.path, before)
		}
		if is := l.version(before); (w.version == -1 || is == int(w.version)) != (w.err == model.OK) {
			return fmt.Sprintf("it was for version %d, and the txns have made it %d", w.version, is)
		}
	}
	return ""
}
