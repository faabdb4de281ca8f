package model

import (
	"strings"

	"github.com/go-zookeeper/zk"
)

// Conn is one connection of a client to a [Server]: the key of its watches, and
// the identities that reads and events are checked against. Watches belong to
// the connection and end with it.
type Conn struct {
	Session int64
	Auth    []ID
	Index   int // free for the caller

	armed []armed // every watch set, some of them fired since
	live  int     // of these
	mark  uint64  // last trigger that reached this connection
}

type armed struct {
	table *watchTable
	path  string
}

type mode uint8

const (
	oneShot mode = iota
	persistent
	recursive
)

// watch is one entry of a table. A connection has at most one per path and
// table, and it has one mode: setting it again in another mode replaces it
// (3.8; since 3.9.0 modes coexist, ZOOKEEPER-4466).
type watch struct {
	conn *Conn
	mode mode
}

// watchTable maps paths to watches. A server has two: data and child.
type watchTable struct {
	paths     map[string][]watch
	recursive int // entries of that mode, to skip the walk up when there are none
	spare     [][]watch
}

func (t *watchTable) find(c *Conn, path string) int {
	for i, w := range t.paths[path] {
		if w.conn == c {
			return i
		}
	}
	return -1
}

func (t *watchTable) add(c *Conn, path string, m mode) {
	list, ok := t.paths[path]
	if i := t.find(c, path); i >= 0 {
		t.count(list[i].mode, -1)
		list[i].mode = m
		t.count(m, 1)
		return
	}
	if n := len(t.spare); !ok && n > 0 {
		list, t.spare = t.spare[n-1], t.spare[:n-1]
	}
	t.paths[path] = append(list, watch{c, m})
	t.count(m, 1)
	c.live++
	if len(c.armed) >= 2*c.live+16 {
		c.compact()
	}
	c.armed = append(c.armed, armed{t, path})
}

func (t *watchTable) count(m mode, d int) {
	if m == recursive {
		t.recursive += d
	}
}

// remove deletes entry i of path.
func (t *watchTable) remove(path string, i int) {
	list := t.paths[path]
	w := list[i]
	copy(list[i:], list[i+1:])
	list[len(list)-1] = watch{}
	list = list[:len(list)-1]
	t.count(w.mode, -1)
	w.conn.live--
	if len(list) > 0 {
		t.paths[path] = list
		return
	}
	delete(t.paths, path)
	t.spare = append(t.spare, list)
}

// compact forgets the entries that have fired, so that a connection's list
// stays proportional to its live watches.
func (c *Conn) compact() {
	kept := c.armed[:0]
	for i, a := range c.armed {
		if a.table.find(c, a.path) >= 0 && !duplicateArmed(c.armed[i+1:], a) {
			kept = append(kept, a)
		}
	}
	clear(c.armed[len(kept):])
	c.armed = kept
}

func duplicateArmed(rest []armed, a armed) bool {
	for _, b := range rest {
		if a == b {
			return true
		}
	}
	return false
}

// Disconnect forgets the watches of c. Nothing is sent.
func (s *Server) Disconnect(c *Conn) {
	for _, a := range c.armed {
		if i := a.table.find(c, a.path); i >= 0 {
			a.table.remove(a.path, i)
		}
	}
	c.Reset()
}

// Reset forgets everything about the connection, keeping memory: for a Conn that
// comes from another server, or whose server was reset.
func (c *Conn) Reset() {
	clear(c.armed)
	*c = Conn{Session: c.Session, Auth: c.Auth, Index: c.Index, armed: c.armed[:0]}
}

// trigger is an event that a successful txn will fire.
type trigger struct {
	typ     zk.EventType
	path    string
	acl     *acl // of the znode itself
	parent  *acl
	session int64 // that owns the znode, if it is ephemeral
}

// fire tells the watches of one committed change, in the server's order
// (DataTree.createNode, deleteNode, setData): the znode's data table, its child
// table for connections not just told of the deletion, then the parent's
// child table.
func (s *Server) fire(t trigger) {
	s.marks++
	data := s.marks
	s.tell(&s.data, t.path, t.typ, t.acl, 0)
	if t.typ == zk.EventNodeDataChanged {
		return
	}
	s.marks++
	if t.typ == zk.EventNodeDeleted {
		s.tell(&s.child, t.path, t.typ, t.acl, data)
		s.marks++
	}
	parent := ParentPath(t.path)
	if parent == "" {
		parent = "/"
	}
	s.tell(&s.child, parent, zk.EventNodeChildrenChanged, t.parent, 0)
}

// tell fires the watches that path has in one table, and the recursive ones
// above it, which hear everything except child changes. Connections marked by
// the trigger named skip are passed over, but their one-shot watch is consumed.
func (s *Server) tell(t *watchTable, path string, typ zk.EventType, a *acl, skip uint64) {
	if len(t.paths) == 0 {
		return
	}
	for i := 0; i < len(t.paths[path]); {
		w := t.paths[path][i]
		if w.mode == recursive && typ == zk.EventNodeChildrenChanged {
			i++
			continue
		}
		if w.mode == oneShot {
			t.remove(path, i)
		} else {
			i++
		}
		s.send(w.conn, typ, path, a, skip)
	}
	if t.recursive == 0 || typ == zk.EventNodeChildrenChanged {
		return
	}
	for p := path; p != "/"; {
		if p = ParentPath(p); p == "" {
			p = "/"
		}
		for _, w := range t.paths[p] {
			if w.mode == recursive {
				s.send(w.conn, typ, path, a, skip)
			}
		}
	}
}

// send delivers an event once per connection and trigger, and only to
// connections that may read the znode (CVE-2024-23944); for others the watch is
// consumed silently.
func (s *Server) send(c *Conn, typ zk.EventType, path string, a *acl, skip uint64) {
	if c.mark == s.marks || skip != 0 && c.mark == skip {
		return
	}
	c.mark = s.marks
	if a.allows(zk.PermRead, c.Auth) {
		s.OnEvent(c, Event{Type: typ, Path: path, Zxid: s.zxid})
	}
}

// setWatches arms the watches of a reconnected client, and sends at once what
// it has missed. Persistent watches are armed only: events in the gap are lost
// (DataTree.setWatches). Catch-up events are not filtered by READ.
func (s *Server) setWatches(c *Conn, l *WatchLists) {
	missed := func(typ zk.EventType, path string) {
		s.OnEvent(c, Event{Type: typ, Path: path, Zxid: s.zxid, Caught: true})
	}
	for _, p := range l.Data {
		if n := s.lookup(p); n == nil {
			missed(zk.EventNodeDeleted, p)
		} else if n.mzxid > l.RelativeZxid {
			missed(zk.EventNodeDataChanged, p)
		} else {
			s.data.add(c, p, oneShot)
		}
	}
	for _, p := range l.Exist {
		if s.lookup(p) != nil {
			missed(zk.EventNodeCreated, p)
		} else {
			s.data.add(c, p, oneShot)
		}
	}
	for _, p := range l.Child {
		if n := s.lookup(p); n == nil {
			missed(zk.EventNodeDeleted, p)
		} else if n.pzxid > l.RelativeZxid {
			missed(zk.EventNodeChildrenChanged, p)
		} else {
			s.child.add(c, p, oneShot)
		}
	}
	for _, p := range l.Persistent {
		s.addWatch(c, p, persistent)
	}
	for _, p := range l.Recursive {
		s.addWatch(c, p, recursive)
	}
}

func (s *Server) addWatch(c *Conn, path string, m mode) {
	s.data.add(c, path, m)
	s.child.add(c, path, m)
}

// watchesOf answers checkWatches (any connection's, as 3.8.0 does) and
// removeWatches (this connection's). The former walks up the path, which fails
// on one without a slash, and it finds nothing at the empty one
// (PathParentIterator).
func (s *Server) watchesOf(c *Conn, r *Request) Code {
	var tables []*watchTable
	switch r.Mode {
	case 1:
		tables = []*watchTable{&s.child}
	case 2:
		tables = []*watchTable{&s.data}
	case 3:
		tables = []*watchTable{&s.child, &s.data}
	default:
		return MarshallingError
	}
	code := NoWatcher
	for _, t := range tables {
		if r.Op == OpCheckWatches {
			switch {
			case r.Path == "":
			case !strings.Contains(r.Path, "/"):
				return MarshallingError
			case len(t.paths[r.Path]) > 0:
				code = OK
			}
		} else if i := t.find(c, r.Path); i >= 0 {
			t.remove(r.Path, i)
			code = OK
		}
	}
	return code
}
