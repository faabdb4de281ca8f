package model

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	quotaRoot  = "/zookeeper/quota"
	quotaLimit = "zookeeper_limits"
	quotaStats = "zookeeper_stats"
)

// quotas is what the server knows about quotas besides their znodes.
type quotas struct {
	paths map[string]struct{} // the paths that have a limits znode
	// frozen is the room under each path before the multi in progress. Its operations are checked against the tree
	// before the multi (ZooKeeperServer.checkQuota).
	frozen map[string]room
}

// room is how much may still be added under a quota path.
type room struct{ count, bytes int64 }

// longestPrefix returns the longest path in set that covers path, or "". A quota on the root counts nothing
// (DataTree.getMaxPrefixWithQuota).
func longestPrefix[V any](set map[string]V, path string) string {
	for p := path; len(set) > 0 && p != "" && p != "/"; p = ParentPath(p) {
		if _, ok := set[p]; ok {
			return p
		}
	}
	return ""
}

// quotaFile splits the path of a znode that describes a quota into the path that the quota covers and the last part.
func quotaFile(path string) (covered, file string) {
	if !strings.HasPrefix(path, quotaRoot+"/") {
		return "", ""
	}
	return ParentPath(path)[len(quotaRoot):], BaseName(path)
}

// quotaTrack notes that a znode, which may describe a quota, was created or deleted.
func (s *Server) quotaTrack(n *node, present bool) {
	covered, file := quotaFile(n.path)
	if file != quotaLimit || covered == "" { // with no covered path 3.8.0 would crash
		return
	}
	if !present {
		delete(s.quotas.paths, covered)
		return
	}
	if s.quotas.paths == nil {
		s.quotas.paths = map[string]struct{}{}
	}
	s.quotas.paths[covered] = struct{}{}
}

// quotaCount accounts for a znode that was created (sign 1) or deleted (-1).
func (s *Server) quotaCount(n *node, sign int64) {
	bytes := int64(len(n.data))
	if covered, file := quotaFile(n.path); file == quotaStats && sign > 0 {
		count, bytes := usage(s.lookup(covered))
		n.data = statsTrack{"count": count, "bytes": bytes}.format()
	}
	s.quotaUpdate(n.path, sign*bytes, sign)
}

func usage(n *node) (count, bytes int64) {
	if n == nil {
		return 0, 0
	}
	count, bytes = 1, int64(len(n.data))
	for _, c := range n.children {
		k, b := usage(c)
		count, bytes = count+k, bytes+b
	}
	return count, bytes
}

// quotaUpdate rewrites the statistics of the quota that covers path in place: neither the version nor the mzxid of
// the statistics znode changes.
func (s *Server) quotaUpdate(path string, bytes, count int64) {
	prefix := longestPrefix(s.quotas.paths, path)
	if prefix == "" {
		return
	}
	n := s.lookup(quotaRoot + prefix + "/" + quotaStats)
	if n == nil {
		return
	}
	s.remember(undoChange, n)
	now := parseStats(n.data)
	now["count"], now["bytes"] = now.get("count")+count, now.get("bytes")+bytes
	n.data = now.format()
}

// freezeQuotas prepares the checks of a multi.
func (s *Server) freezeQuotas() {
	if !s.EnforceQuota || len(s.quotas.paths) == 0 {
		return
	}
	s.quotas.frozen = map[string]room{}
	for path := range s.quotas.paths { // order-free: each on its own
		s.quotas.frozen[path] = s.room(path)
	}
}

// quotaAllows checks the hard limits; a server only logs soft ones. Where a limit is already exceeded, adding nothing
// is allowed, but taking a little away is not.
func (s *Server) quotaAllows(path string, bytes, count int64) bool {
	if !s.EnforceQuota {
		return true
	}
	r, limited := s.roomFor(path)
	return !limited || (count == 0 || count <= r.count) && (bytes == 0 || bytes <= r.bytes)
}

func (s *Server) roomFor(path string) (r room, limited bool) {
	if s.inMulti {
		r, limited = s.quotas.frozen[longestPrefix(s.quotas.frozen, path)]
		return r, limited
	}
	prefix := longestPrefix(s.quotas.paths, path)
	return s.room(prefix), prefix != ""
}

// room returns what the hard limits of a quota still leave.
func (s *Server) room(prefix string) room {
	r := room{math.MaxInt64, math.MaxInt64}
	limits, stats := s.lookup(quotaRoot+prefix+"/"+quotaLimit), s.lookup(quotaRoot+prefix+"/"+quotaStats)
	if limits == nil || stats == nil {
		return r
	}
	limit, now := parseStats(limits.data), parseStats(stats.data)
	if hard := limit.get("countHardLimit"); hard > -1 {
		r.count = hard - now.get("count")
	}
	if hard := limit.get("byteHardLimit"); hard > -1 {
		r.bytes = hard - now.get("bytes")
	}
	return r
}

// statsTrack is the content of a limits or statistics znode (StatsTrack).
type statsTrack map[string]int64

// get returns the value of key, or -1.
func (t statsTrack) get(key string) int64 {
	if v, ok := t[key]; ok {
		return v
	}
	return -1
}

// parseStats parses "count=2,bytes=5=;byteHardLimit=5;countHardLimit=2": pairs separated by commas and semicolons.
// The second pair may have a stray equals sign, so that old servers can read it. What follows such a sign is ignored,
// and nothing before it is -1. A pair without a valid number is ignored; a real server ends when it counts with one.
func parseStats(data []byte) statsTrack {
	t := statsTrack{}
	for _, pair := range strings.FieldsFunc(string(data), func(r rune) bool { return r == ',' || r == ';' }) {
		key, value, _ := strings.Cut(pair, "=")
		value, _, more := strings.Cut(value, "=")
		if more && value == "" {
			value = "-1"
		}
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			t[key] = n
		}
	}
	return t
}

func (t statsTrack) format() []byte {
	b := fmt.Appendf(nil, "count=%d,bytes=%d", t.get("count"), t.get("bytes"))
	separator := "=;"
	for _, key := range slices.Sorted(maps.Keys(t)) {
		if key != "count" && key != "bytes" {
			b = fmt.Appendf(b, "%s%s=%d", separator, key, t[key])
			separator = ";"
		}
	}
	return b
}
