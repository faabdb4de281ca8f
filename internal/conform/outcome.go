package conform

import (
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// Outcome is everything that could be observed of one operation: what the call returned and how it affected sessions.
type Outcome struct {
	Result
	Data     string   `json:"data,omitempty"`  // null, quoted, or a number of bytes
	Found    string   `json:"found,omitempty"` // the bool of exists
	Children []string `json:"children,omitempty"`
	ACL      []string `json:"acl,omitempty"`
	Results  []Result `json:"results,omitempty"` // of a multi

	Session string              `json:"session,omitempty"` // the client's, when it may have changed
	States  map[string][]string `json:"states,omitempty"`  // session events by client
	Events  map[string][]string `json:"events,omitempty"`  // watch events by client, in order: "changed /a"
	Fired   []string            `json:"fired,omitempty"`   // watch channels, with what they got

	armed watchKind // kind of the watch that a read has set
	fired []firing
}

// Result is what a call or a part of a multi returned.
type Result struct {
	Err  string `json:"err,omitempty"`
	Path string `json:"path,omitempty"`
	Stat *Stat  `json:"stat,omitempty"`
}

// Stat is a zk.Stat that names its owner.
type Stat struct {
	Czxid    int64  `json:"cz"`
	Mzxid    int64  `json:"mz"`
	Pzxid    int64  `json:"pz"`
	Ctime    int64  `json:"-"` // compared as a function of Czxid
	Mtime    int64  `json:"-"` // ... and of Mzxid
	Version  int32  `json:"v"`
	Cversion int32  `json:"cv"`
	Aversion int32  `json:"av"`
	Owner    string `json:"eo,omitempty"`
	Length   int32  `json:"len"`
	Children int32  `json:"nc"`
}

// firing is a watch channel with the event that it got.
type firing struct {
	watch *watch
	event zk.Event
}

// watch is a watch channel that the client library handed out.
type watch struct {
	step    int // of the operation
	client  int
	kind    watchKind
	channel <-chan zk.Event
}

// watchKind says which of go-zookeeper's three tables a watch is in. existWatch is a watch on a znode that did not
// exist.
type watchKind string

const (
	dataWatch  watchKind = "data"
	existWatch watchKind = "exist"
	childWatch watchKind = "child"
)

// call executes a call of the client library. The returned watch is nil if none was set. owner names sessions by their
// id.
func call(c recipes.Conn, o *Op, root string, owner func(int64) string) (out Outcome, w *watch) {
	path := o.in(root)
	var stat *zk.Stat
	var err error
	var ch <-chan zk.Event
	var kind watchKind
	switch o.Kind {
	case Create:
		out.Path, err = c.Create(path, o.data(), o.Flags, acls[o.ACL])
	case CreateContainer:
		out.Path, err = c.CreateContainer(path, o.data(), o.Flags, acls[o.ACL])
	case CreateTTL:
		out.Path, err = c.CreateTTL(path, o.data(), o.Flags, acls[o.ACL], o.ttl())
	case Delete:
		err = c.Delete(path, o.version())
	case Set:
		stat, err = c.Set(path, o.data(), o.version())
	case SetACL:
		stat, err = c.SetACL(path, acls[o.ACL], o.version())
	case GetACL:
		var list []zk.ACL
		list, stat, err = c.GetACL(path)
		for _, e := range list {
			out.ACL = append(out.ACL, fmt.Sprintf("%s:%s:%d", e.Scheme, e.ID, e.Perms))
		}
	case AddAuth:
		err = c.AddAuth(o.Scheme, []byte(o.Auth))
	case Sync:
		out.Path, err = c.Sync(path)
	case Multi:
		out.Results, err = multi(c, o, root, owner)
	default:
		stat, ch, kind, err = out.read(c, o, path)
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		// The server may close the connection while the library is still writing a packet that is too long. The library then
		// returns the error of the write; otherwise it returns ErrConnectionClosed.
		stat, err = nil, zk.ErrConnectionClosed
	}
	out.Err = errorText(err)
	out.Stat = statOf(stat, owner)
	if ch != nil {
		w = &watch{client: o.Session, kind: kind, channel: ch}
		out.armed = kind
	}
	return out, w
}

// read executes get, exists and children, with and without a watch.
func (out *Outcome) read(c recipes.Conn, o *Op, path string) (stat *zk.Stat, ch <-chan zk.Event, kind watchKind,
	err error) {
	var data []byte
	var found bool
	switch {
	case o.Kind == Get && o.Watch:
		kind = dataWatch
		data, stat, ch, err = c.GetW(path)
	case o.Kind == Get:
		data, stat, err = c.Get(path)
	case o.Kind == Exists && o.Watch:
		kind = existWatch
		if found, stat, ch, err = c.ExistsW(path); found {
			kind = dataWatch
		}
	case o.Kind == Exists:
		found, stat, err = c.Exists(path)
	case o.Kind == Children && o.Watch:
		kind = childWatch
		out.Children, stat, ch, err = c.ChildrenW(path)
	case o.Kind == Children:
		out.Children, stat, err = c.Children(path)
	default:
		panic("conform: not a call: " + string(o.Kind))
	}
	switch o.Kind {
	case Get:
		out.Data = dataText(data)
	case Exists:
		out.Found = fmt.Sprint(found)
	case Children:
		slices.Sort(out.Children)
	}
	return stat, ch, kind, err
}

func multi(c recipes.Conn, o *Op, root string, owner func(int64) string) ([]Result, error) {
	reqs := make([]any, len(o.Ops))
	for i := range o.Ops {
		reqs[i] = o.Ops[i].request(root)
	}
	responses, err := c.Multi(reqs...)
	var results []Result
	for _, r := range responses {
		results = append(results, Result{Err: errorText(r.Error), Path: r.String, Stat: statOf(r.Stat, owner)})
	}
	return results, err
}

func statOf(s *zk.Stat, owner func(int64) string) *Stat {
	if s == nil {
		return nil
	}
	return &Stat{
		Czxid: s.Czxid, Mzxid: s.Mzxid, Pzxid: s.Pzxid, Ctime: s.Ctime, Mtime: s.Mtime,
		Version: s.Version, Cversion: s.Cversion, Aversion: s.Aversion, Owner: owner(s.EphemeralOwner),
		Length: s.DataLength, Children: s.NumChildren,
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// maxShownData is the longest data that an outcome quotes.
const maxShownData = 64

func dataText(b []byte) string {
	switch {
	case b == nil:
		return "null"
	case len(b) > maxShownData:
		return fmt.Sprintf("%d bytes", len(b))
	}
	return fmt.Sprintf("%q", b)
}
