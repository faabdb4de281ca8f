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

// Sessions returns the open sessions, sorted.
func (s *Server) Sessions() []int64 {
	return slices.Sorted(maps.Keys(s.sessions))
}

// Newer reports whether the znode path has data, and children, newer than a zxid; neither if
// there is no such znode.
func (s *Server) Newer(path string, zxid int64) (data, children bool) {
	n := s.lookup(path)
	return n != nil && n.mzxid > zxid, n != nil && n.pzxid > zxid
}
