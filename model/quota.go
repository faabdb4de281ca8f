package model

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	quotaRoot  = "/zookeeper/quota"
	quotaLimit = "zookeeper_limits"
	quotaStats = "zookeeper_stats"
)

// quotas is the set of paths that have a limits znode.
type quotas struct{ paths map[string]bool }

// prefix returns the longest quota path that covers path, or "". A quota on the
// root counts nothing (DataTree.getMaxPrefixWithQuota).
func (q *quotas) prefix(path string) string {
	for p := path; len(q.paths) > 0 && p != "" && p != "/"; p = ParentPath(p) {
		if q.paths[p] {
			return p
		}
	}
	return ""
}

// quotaNode accounts for a znode that came (sign 1) or went (-1).
func (s *Server) quotaNode(n *node, sign int64) {
	if path, ok := strings.CutPrefix(n.path, quotaRoot); ok && path != "" {
		covered, file := ParentPath(path), BaseName(path)
		if file == quotaLimit {
			if s.quotas.paths == nil {
				s.quotas.paths = map[string]bool{}
			}
			s.quotas.paths[covered] = sign > 0
		}
		if file == quotaStats && sign > 0 {
			if top := s.lookup(covered); top != nil {
				count, bytes := usage(top)
				n.data = formatUsage(count, bytes)
			}
		}
	}
	s.quotaUpdate(n.path, sign*int64(len(n.data)), sign)
}

func usage(n *node) (count, bytes int64) {
	count, bytes = 1, int64(len(n.data))
	for _, c := range n.children {
		k, b := usage(c)
		count, bytes = count+k, bytes+b
	}
	return count, bytes
}

// quotaUpdate rewrites the statistics of the quota that covers path, in place:
// neither version nor mzxid of the statistics znode change.
func (s *Server) quotaUpdate(path string, bytes, count int64) {
	prefix := s.quotas.prefix(path)
	if prefix == "" {
		return
	}
	n := s.lookup(quotaRoot + prefix + "/" + quotaStats)
	if n == nil {
		return
	}
	now := parseQuota(n.data)
	n.data = formatUsage(now["count"]+count, now["bytes"]+bytes)
}

// quotaAllows checks the hard limits; soft ones are only logged.
func (s *Server) quotaAllows(path string, bytes, count int64) bool {
	if !s.EnforceQuota {
		return true
	}
	prefix := s.quotas.prefix(path)
	limits, stats := s.lookup(quotaRoot+prefix+"/"+quotaLimit), s.lookup(quotaRoot+prefix+"/"+quotaStats)
	if prefix == "" || limits == nil || stats == nil {
		return true
	}
	limit, now := parseQuota(limits.data), parseQuota(stats.data)
	for key, next := range map[string]int64{ // order-free: any exceeded limit refuses
		"countHardLimit": now["count"] + count,
		"byteHardLimit":  now["bytes"] + bytes,
	} {
		if hard, ok := limit[key]; ok && hard > -1 && next > hard {
			return false
		}
	}
	return true
}

// parseQuota reads "count=2,bytes=5=;byteHardLimit=5;countHardLimit=2"
// (StatsTrack): pairs separated by commas and semicolons, where the second
// pair carries a stray equals sign so that old servers read it as well.
func parseQuota(data []byte) map[string]int64 {
	out := map[string]int64{}
	for _, pair := range strings.FieldsFunc(string(data), func(r rune) bool { return r == ',' || r == ';' }) {
		key, value, _ := strings.Cut(pair, "=")
		if n, err := strconv.ParseInt(strings.TrimRight(value, "="), 10, 64); err == nil {
			out[key] = n
		}
	}
	return out
}

func formatUsage(count, bytes int64) []byte {
	return fmt.Appendf(nil, "count=%d,bytes=%d", count, bytes)
}
