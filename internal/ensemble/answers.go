package ensemble

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/internal/txnlog"
	"zksim/internal/wire"
	"zksim/model"
	"zksim/model/history"
)

// The zxid in the head of an answer to a read says how far its server was when it read, because servers execute reads
// and txns one after the other. So the log says what the answer must have been.

// reads are the requests that fail if there is no znode.
var reads = []string{"exists", "existsW", "get", "getW", "children", "childrenW", "getACL"}

// untrue describes an answer to a client that contradicts the txns about whether a znode exists; "" if there is none.
func (p *past) untrue(h *history.History) string {
	for i := range h.Events {
		e := &h.Events[i]
		missing := errors.Is(e.Err, zk.ErrNoNode)
		if e.Kind != history.Reply || e.Err != nil && !missing || !slices.Contains(reads, e.Op) || servers(e.Path) {
			continue
		}
		if exists := p.at(e.Path, e.Zxid) != nil; exists == missing {
			says := "exists"
			if missing {
				says = "does not exist"
			}
			return fmt.Sprintf("c%d was told at zxid 0x%x that %s %s, and %s", e.Client, e.Zxid, e.Path, says,
				p.existence(e.Path, e.Zxid))
		}
	}
	return ""
}

// look is what a server said about a znode.
type look struct {
	client int32 // who was told; 0: the audit at the end
	path   string
	zxid   int64    // how far the server was
	stat   *zk.Stat // nil: the znode does not exist
	read   bool     // the data was read too
	data   []byte
	names  []string // names of its children
	listed int64    // how far the server was when it named them; 0: it did not
}

// reads returns a function that keeps the answers to a client about existing znodes.
func (h *liveHost) reads(client int32) func(path string, res *model.Response) {
	return func(path string, res *model.Response) {
		if servers(path) || path == "/" {
			return
		}
		x := look{client: client, path: path, zxid: res.Zxid}
		switch res.Op {
		case model.OpGetChildren, model.OpGetChildren2:
			x.names, x.listed = slices.Clone(res.Children), res.Zxid
		case model.OpGetData:
			x.read, x.data = true, slices.Clone(res.Data)
		}
		if res.Op != model.OpGetChildren {
			stat := res.Stat
			x.stat = &stat
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if !h.over {
			h.told = append(h.told, x)
		}
	}
}

// mistold describes what a server said about a znode that differs from what the txns have made; "" if nothing does.
func (p *past) mistold(looks []look) string {
	for i := range looks {
		x := &looks[i]
		switch why := p.wrong(x); {
		case why == "":
		case x.client == 0:
			return "in the end a server " + why
		default:
			return fmt.Sprintf("c%d was told at zxid 0x%x by a server that it %s", x.client, x.zxid, why)
		}
	}
	return ""
}

// wrong says how a server's answer differs from what the txns have made; "" if it does not.
func (p *past) wrong(x *look) (why string) {
	if x.stat != nil || x.listed == 0 { // else the answer only named the children
		why = p.otherwise(x)
	}
	if x.listed > 0 {
		why = cmp.Or(why, p.unlisted(x))
	}
	return why
}

// otherwise says how a znode differs from what the txns have made; "" if it does not.
func (p *past) otherwise(x *look) string {
	l := p.at(x.path, x.zxid)
	switch {
	case x.stat == nil && l == nil:
		return ""
	case x.stat == nil:
		return fmt.Sprintf("has no %s, and %s", x.path, p.existence(x.path, x.zxid))
	case l == nil:
		return fmt.Sprintf("has %s, made at zxid 0x%x, and %s", x.path, x.stat.Czxid, p.existence(x.path, x.zxid))
	case x.stat.Czxid != l.made:
		return fmt.Sprintf("has %s, made at zxid 0x%x, and txn 0x%x has made it", x.path, x.stat.Czxid, l.made)
	case x.stat.Mzxid != l.mzxid(x.zxid):
		return fmt.Sprintf("has %s, changed last at zxid 0x%x, and txn 0x%x has changed it last", x.path, x.stat.Mzxid,
			l.mzxid(x.zxid))
	case int(x.stat.Version) != l.version(x.zxid):
		return fmt.Sprintf("has %s with version %d, and the txns have made it %d", x.path, x.stat.Version, l.version(x.zxid))
	case x.stat.EphemeralOwner != l.owner:
		return fmt.Sprintf("has %s of session 0x%x, and txn 0x%x has made it for 0x%x", x.path,
			uint64(x.stat.EphemeralOwner), l.made, uint64(l.owner))
	case x.read && string(x.data) != l.data[l.version(x.zxid)]:
		return fmt.Sprintf("has %s with %q, and the txns have made it %q", x.path, x.data, l.data[l.version(x.zxid)])
	}
	return l.miscounted(x)
}

// miscounted says how the rest of the stat of a znode differs from what the txns have made. The txns say nothing about
// its ACL.
func (l *life) miscounted(x *look) string {
	n, f := l.version(x.zxid), l.after(x.zxid)
	for _, field := range []struct {
		name     string
		is, made int64
	}{
		{"Ctime", x.stat.Ctime, l.times[0]},
		{"Mtime", x.stat.Mtime, l.times[n]},
		{"Pzxid", x.stat.Pzxid, f.zxid},
		{"Cversion", int64(x.stat.Cversion), int64(2*f.ever - f.there)},
		{"NumChildren", int64(x.stat.NumChildren), int64(f.there)},
		{"DataLength", int64(x.stat.DataLength), int64(len(l.data[n]))},
	} {
		if field.is != field.made {
			return fmt.Sprintf("has %s with %s %d, and the txns have made it %d", x.path, field.name, field.is, field.made)
		}
	}
	return ""
}

// unlisted names a child of a znode that is in the answer and not in the txns, or the other way round.
func (p *past) unlisted(x *look) string {
	made := p.names(x.path, x.listed)
	for _, name := range slices.Concat(made, x.names) {
		has, there := "has no", slices.Contains(x.names, name)
		if there {
			has = "has"
		}
		if child := x.path + "/" + name; there != slices.Contains(made, name) {
			return fmt.Sprintf("%s %s, and %s", has, child, p.existence(child, x.listed))
		}
	}
	return ""
}

// untold describes a watch that a client was not told of, or a notification without a watch; "" if there is none. Since
// 3.8.4 and 3.9.2 servers do not tell of znodes that the client may not read. If there may be any, nothing can be said.
func untold(h *history.History, groups []group, log []txnlog.Txn, root string) string {
	shut := func(c txnlog.Change) bool { return c.Shut }
	for i := range log {
		if log[i].Op == model.OpSetACL || slices.ContainsFunc(log[i].Changes, shut) {
			return ""
		}
	}
	changes := changesOf(groups)
	return cmp.Or(wire.Untold(h, changes), wire.Unfounded(h, changes, root))
}
