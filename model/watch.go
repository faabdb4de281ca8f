package model

import (
	"strings"

	"github.com/go-zookeeper/zk"
)

// trigger is an event that a successful txn will fire.
type trigger struct {
	typ     zk.EventType
	path    string
	acl     *acl // of the znode itself
	parent  *acl
	session int64 // the owner, if an ephemeral was created or deleted
	data    []byte
}

// fire fires the watches of one committed change, in the server's order (DataTree.createNode, deleteNode, setData):
// the znode's watches in the data table, its watches in the child table except for connections just told of the
// deletion, then the parent's watches in the child table.
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

// tell fires the watches on path in one table, and the recursive watches above it, which hear everything except child
// changes. It skips connections marked by the trigger skip, but consumes their one-shot watches.
func (s *Server) tell(t *watchTable, path string, typ zk.EventType, a *acl, skip uint64) {
	if len(t.paths) == 0 {
		return
	}
	s.told = t.take(path, typ, s.told[:0])
	for _, c := range s.told {
		s.send(c, typ, path, a, skip)
	}
	if t.recursive == 0 || typ == zk.EventNodeChildrenChanged {
		return
	}
	for p := path; p != "/"; {
		if p = ParentPath(p); p == "" {
			p = "/"
		}
		x := t.paths[p]
		for w := range x.all() {
			if w.mode == recursive {
				s.send(w.conn, typ, path, a, skip)
			}
		}
	}
}

// send delivers an event once per connection and trigger, and only to connections that may read the znode
// (CVE-2024-23944), except like [ZooKeeper36]. For others the watch is consumed silently.
func (s *Server) send(c *Conn, typ zk.EventType, path string, a *acl, skip uint64) {
	if c.mark == s.marks || skip != 0 && c.mark == skip {
		return
	}
	c.mark = s.marks
	if s.Like == ZooKeeper36 || a.allows(zk.PermRead, c.Auth) {
		s.OnEvent(c, Event{Type: typ, Path: path, Zxid: s.zxid})
	}
}

// setWatches arms the watches of a reconnected client, and sends at once what they have missed. Persistent watches
// are only armed: events in the gap are lost (DataTree.setWatches). Catch-up events are not filtered by READ.
// [Keeper] has the same event for a change of a znode and of its children (KeeperStorage::setWatches). setWatches
// fails at the first path that is null, after it has handled those before it.
func (s *Server) setWatches(c *Conn, l *WatchLists) Code {
	missed := func(typ zk.EventType, path string) {
		s.OnEvent(c, Event{Type: typ, Path: path, Zxid: s.zxid, Caught: true})
	}
	children := zk.EventType(zk.EventNodeChildrenChanged)
	if s.Like == Keeper {
		children = zk.EventNodeDataChanged
	}
	for _, p := range l.Data {
		if n := s.lookup(p); p == Null {
			return MarshallingError
		} else if n == nil {
			missed(zk.EventNodeDeleted, p)
		} else if n.mzxid > l.RelativeZxid {
			missed(zk.EventNodeDataChanged, p)
		} else {
			s.data.add(c, p, oneShot)
		}
	}
	for _, p := range l.Exist {
		if p == Null {
			return MarshallingError
		} else if s.lookup(p) != nil {
			missed(zk.EventNodeCreated, p)
		} else {
			s.data.add(c, p, oneShot)
		}
	}
	for _, p := range l.Child {
		if n := s.lookup(p); p == Null {
			return MarshallingError
		} else if n == nil {
			missed(zk.EventNodeDeleted, p)
		} else if n.pzxid > l.RelativeZxid {
			missed(children, p)
		} else {
			s.child.add(c, p, oneShot)
		}
	}
	for _, p := range l.Persistent {
		if p == Null {
			return MarshallingError
		}
		s.addWatch(c, p, persistent)
	}
	for _, p := range l.Recursive {
		if p == Null {
			return MarshallingError
		}
		s.addWatch(c, p, recursive)
	}
	return OK
}

func (s *Server) addWatch(c *Conn, path string, m mode) {
	s.data.add(c, path, m)
	s.child.add(c, path, m)
}

// watchesOf answers checkWatches (any connection's watches, as in 3.8.0) and removeWatches (this connection's
// watches). checkWatches walks up the path until it finds a watch, if there are recursive watches; otherwise it looks
// only at the path itself. The walk fails when the rest has no slash, and finds nothing at the empty path
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
			case t.armed(r.Path):
				code = OK
			case r.Path[0] != '/' && t.recursive > 0:
				return MarshallingError
			}
		} else if t.remove(c, r.Path) {
			code = OK
		}
	}
	return code
}
