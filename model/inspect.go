package model

import (
	"maps"
	"slices"
	"strings"
)

// Watch is a watch that a replica holds for a connection.
type Watch struct {
	Path  string
	Child bool // in the table of children, else in that of data
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

// table returns the one that a watch is in.
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

// Changed calls f for each znode with the zxids of the last changes of its data and of its
// list of children, in any order.
func (s *Server) Changed(f func(path string, data, children int64)) {
	for path, n := range s.nodes { // order-free: the caller's
		f(path, n.mzxid, n.pzxid)
	}
}
