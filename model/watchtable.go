package model

import (
	"iter"

	"github.com/go-zookeeper/zk"
)

// Conn is a client's connection to a [Server]: the key of its watches, and the identities against which reads and
// events are checked. Watches belong to the connection and end with it.
type Conn struct {
	Session int64
	Auth    []ID
	Index   int // free for the caller

	armed   []armed // every watch set, some of them fired since
	live    int     // entries of armed that have not fired
	mark    uint64  // the last trigger that reached this connection
	watched bool    // a watch in the table of data was set
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

// watch is one entry of a table. A connection has at most one watch per path and table, with one mode: setting it
// again in another mode replaces it (3.8; since 3.9.0 modes coexist, ZOOKEEPER-4466).
type watch struct {
	conn *Conn
	at   int32 // its place in conn.armed
	mode mode
}

// watchTable maps paths to watches. A server has two: data and child.
type watchTable struct {
	paths     map[string]watchers
	recursive int // how many are recursive; if none, the walk up is skipped
	children  bool
	spare     []*crowd
}

// watchers has the watches on a path. Most paths have one watch, which needs no memory of its own.
type watchers struct {
	one  watch
	more *crowd // the others, nil if there are none
}

// crowd is a set of watches. They are in the order of their arrival as long as none is removed.
type crowd struct {
	list  []watch
	index map[*Conn]int32 // the place of each, once there are many
}

// many is the size from which a crowd is searched by index.
const many = 16

func (x *watchers) find(c *Conn) *watch {
	if x.one.conn == c {
		return &x.one
	}
	if x.more == nil {
		return nil
	}
	if m := x.more; m.index != nil {
		if i, ok := m.index[c]; ok {
			return &m.list[i]
		}
		return nil
	}
	for i := range x.more.list {
		if x.more.list[i].conn == c {
			return &x.more.list[i]
		}
	}
	return nil
}

func (x *watchers) all() iter.Seq[watch] {
	return func(yield func(watch) bool) {
		if x.one.conn == nil || !yield(x.one) || x.more == nil {
			return
		}
		for _, w := range x.more.list {
			if !yield(w) {
				return
			}
		}
	}
}

func (m *crowd) add(w watch) {
	m.list = append(m.list, w)
	switch {
	case m.index != nil:
		m.index[w.conn] = int32(len(m.list) - 1)
	case len(m.list) > many:
		m.index = make(map[*Conn]int32, 2*many)
		for i, x := range m.list {
			m.index[x.conn] = int32(i)
		}
	}
}

// removeAt removes watch i and puts the last one in its place.
func (m *crowd) removeAt(i int) watch {
	w, last := m.list[i], len(m.list)-1
	if m.index != nil {
		m.index[m.list[last].conn] = int32(i)
		delete(m.index, w.conn)
	}
	m.list[i] = m.list[last]
	m.list[last] = watch{}
	m.list = m.list[:last]
	return w
}

// insert adds a watch for a connection that has none on path.
func (t *watchTable) insert(path string, w watch) {
	x := t.paths[path]
	switch {
	case x.one.conn == nil:
		x.one = w
		t.paths[path] = x
	case x.more == nil:
		if k := len(t.spare); k > 0 {
			x.more, t.spare = t.spare[k-1], t.spare[:k-1]
		} else {
			x.more = &crowd{}
		}
		x.more.add(w)
		t.paths[path] = x
	default:
		x.more.add(w)
	}
}

// free keeps the memory of an emptied crowd, unless the crowd was large.
func (t *watchTable) free(m *crowd) {
	if m != nil && m.index == nil {
		clear(m.list)
		m.list = m.list[:0]
		t.spare = append(t.spare, m)
	}
}

func (t *watchTable) armed(path string) bool {
	_, ok := t.paths[path]
	return ok
}

// add arms a watch, or changes the mode of an existing one.
func (t *watchTable) add(c *Conn, path string, m mode) {
	if x, ok := t.paths[path]; ok {
		if w := x.find(c); w != nil {
			t.count(w.mode, -1)
			w.mode = m
			t.count(m, 1)
			t.paths[path] = x
			return
		}
	}
	if len(c.armed) >= 2*c.live+many {
		c.compact()
	}
	c.watched = c.watched || !t.children
	t.insert(path, watch{c, int32(len(c.armed)), m})
	t.count(m, 1)
	c.live++
	c.armed = append(c.armed, armed{t, path})
}

func (t *watchTable) count(m mode, d int) {
	if m == recursive {
		t.recursive += d
	}
}

// remove disarms the watch of c on path and reports whether there was one.
func (t *watchTable) remove(c *Conn, path string) bool {
	x, ok := t.paths[path]
	if !ok {
		return false
	}
	w := x.find(c)
	if w == nil {
		return false
	}
	t.count(w.mode, -1)
	c.live--
	switch {
	case x.more == nil:
		delete(t.paths, path)
		return true
	case w == &x.one:
		x.one = x.more.removeAt(0)
	case x.more.index != nil:
		x.more.removeAt(int(x.more.index[c]))
	default:
		for i := range x.more.list {
			if &x.more.list[i] == w {
				x.more.removeAt(i)
				break
			}
		}
	}
	if len(x.more.list) == 0 {
		t.free(x.more)
		x.more = nil
	}
	t.paths[path] = x
	return true
}

// take appends to list the connections that hear of an event of that type on path, and disarms their one-shot
// watches. A recursive watch does not hear of child changes.
func (t *watchTable) take(path string, typ zk.EventType, list []*Conn) []*Conn {
	x, ok := t.paths[path]
	if !ok {
		return list
	}
	kept := false
	for w := range x.all() {
		kept = kept || w.mode != oneShot
		if w.mode == oneShot {
			w.conn.live--
		}
		if w.mode != recursive || typ != zk.EventNodeChildrenChanged {
			list = append(list, w.conn)
		}
	}
	delete(t.paths, path)
	if kept {
		for w := range x.all() {
			if w.mode != oneShot {
				t.insert(path, w)
			}
		}
	}
	t.free(x.more)
	return list
}

// compact drops entries that have fired, so that a connection's list stays proportional to its live watches.
func (c *Conn) compact() {
	kept := c.armed[:0]
	for i, a := range c.armed {
		x, ok := a.table.paths[a.path]
		if !ok {
			continue
		}
		if w := x.find(c); w != nil && int(w.at) == i {
			w.at = int32(len(kept))
			a.table.paths[a.path] = x
			kept = append(kept, a)
		}
	}
	clear(c.armed[len(kept):])
	c.armed = kept
}

// Disconnect forgets the watches of c. Nothing is sent.
func (s *Server) Disconnect(c *Conn) {
	for _, a := range c.armed {
		a.table.remove(c, a.path)
	}
	c.Reset()
}

// Reset forgets the watches of the connection, but no server is told. It keeps the exported fields, and memory. It is
// for a Conn that comes from another server, or whose server was reset.
func (c *Conn) Reset() {
	clear(c.armed)
	*c = Conn{Session: c.Session, Auth: c.Auth, Index: c.Index, armed: c.armed[:0]}
}
