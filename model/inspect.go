package model

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Watch is a watch that a replica holds for a connection.
type Watch struct {
	Path  string
	Child bool // in the table of children, else in the table of data
}

// Watches returns the watches of a connection, sorted.
func (s *Server) Watches(c *Conn) []Watch {
	var list []Watch
	for _, t := range [...]*watchTable{&s.data, &s.child} {
		for _, path := range slices.Sorted(maps.Keys(t.paths)) {
			if x := t.paths[path]; x.find(c) != nil {
				list = append(list, Watch{path, t == &s.child})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Watch) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// table returns the table that a watch is in.
func (s *Server) table(x Watch) *watchTable {
	if x.Child {
		return &s.child
	}
	return &s.data
}

// Sessions returns the open sessions, sorted.
func (s *Server) Sessions() []int64 {
	return slices.Sorted(maps.Keys(s.sessions))
}

// Changed calls f for each znode, in any order, with the zxids of the last change of its data and of its list of
// children. The root comes twice: as "/" and as "", its alias.
func (s *Server) Changed(f func(path string, data, children int64)) {
	for path, n := range s.nodes { // order-free: the caller's
		f(path, n.mzxid, n.pzxid)
	}
}

// Size is how much a replica holds.
type Size struct {
	Znodes     int // including /zookeeper and, as ZooKeeper counts, the root twice, which is also ""
	Ephemerals int
	Bytes      int64 // of data and paths, one per character of a path
}

// Size counts what the replica holds. It takes time in proportion to that.
func (s *Server) Size() (z Size) {
	for path, n := range s.nodes { // order-free: sums
		z.Znodes++
		if path == "" {
			continue
		}
		z.Bytes += int64(utf8.RuneCountInString(path) + len(n.data))
	}
	for _, x := range s.sessions { // order-free: a sum
		z.Ephemerals += len(x.ephemerals)
	}
	return z
}

// Ephemerals returns the paths of a session's ephemerals, sorted.
func (s *Server) Ephemerals(session int64) (paths []string) {
	if x := s.sessions[session]; x != nil {
		for _, n := range x.ephemerals {
			paths = append(paths, n.path)
		}
	}
	slices.Sort(paths)
	return paths
}

// OwnedEphemerals reports whether the session owns or has owned ephemerals. ZooKeeper goes on listing such a session
// (DataTree.ephemerals).
func (s *Server) OwnedEphemerals(session int64) bool {
	x := s.sessions[session]
	return x != nil && x.buckets > 0
}

// Watched reports whether the connection has set a watch in the table of data, even if it has fired. ZooKeeper goes
// on listing such a connection (WatchManager.watch2Paths).
func (c *Conn) Watched() bool { return c.watched }

// AllWatches calls f for each watch of each connection, in any order. A watch that is in both tables comes twice.
func (s *Server) AllWatches(f func(c *Conn, x Watch)) {
	for _, t := range [...]*watchTable{&s.data, &s.child} {
		for path, x := range t.paths { // order-free: the caller's
			for w := range x.all() {
				f(w.conn, Watch{path, t == &s.child})
			}
		}
	}
}
