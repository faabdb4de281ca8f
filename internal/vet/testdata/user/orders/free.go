package orders

import (
	"bytes"
	"maps"
	"slices"
	"sort"
	"strings"
)

func (t *table) free(data map[string][]byte) map[string][]byte {
	out := make(map[string][]byte)
	for k, v := range data {
		out[k] = bytes.Clone(v)
	}
	for k, v := range data {
		t.other[k] = len(v)
		t.m[k] += len(v)
		t.m[k]++
	}
	for k, v := range data {
		out[k] = append(out[k], v...)
		if t.other[k] > len(t.names) {
			t.n++
		}
	}
	seen := map[int]bool{}
	set := map[int]struct{}{}
	for _, v := range t.m {
		seen[v] = true
		set[v] = struct{}{}
	}
	for k := range t.m {
		delete(t.other, strings.ToUpper(k))
		delete(out, k)
	}
	for k, v := range t.m {
		if v == 0 {
			delete(t.m, k)
		}
	}
	return out
}

func (t *table) sums() int {
	n, bits, most, least, all := 0, 0, 0, 0, true
	for k, v := range t.m {
		n += v
		n++
		bits |= v
		most = max(most, v, len(k))
		if v < least {
			least = v
		}
		all = all && v > 0 && len(k) > 2
	}
	for _, v := range t.m {
		doubled := v * 2
		switch {
		case doubled > 3:
			n -= doubled
		case doubled == 1:
			break
		default:
			continue
		}
		for i := 0; i < v; i++ {
			n++
		}
	}
	found := false
	for _, v := range t.m {
		if v == 7 {
			found = true
			break
		}
	}
	if !all || found {
		return 0
	}
	return n + most + least + bits
}

func (t *table) has(name string) bool {
	for k := range t.m {
		if strings.HasPrefix(k, name) {
			return true
		}
	}
	return false
}

func (t *table) sorted() []string {
	var keys, others []string
	for k := range t.m {
		keys = append(keys, k)
		if strings.HasPrefix(k, "x") {
			others = append(others, k+"/y")
		}
	}
	sort.Strings(keys)
	sort.Sort(sort.Reverse(sort.StringSlice(others)))

	t.names = t.names[:0]
	for k := range t.m {
		t.names = append(t.names, k)
	}
	slices.Sort(t.names)

	for _, list := range t.groups {
		sort.Strings(list)
	}
	for range t.m {
		t.conn.SessionID()
	}
	return keys
}

func (t *table) sortedIterators() []string {
	for _, k := range slices.Sorted(maps.Keys(t.m)) {
		t.conn.Delete(k, -1)
	}
	_ = slices.SortedFunc(maps.Values(t.m), func(a, b int) int { return a - b })
	_ = maps.Collect(maps.All(t.m))
	for k, v := range maps.All(t.m) {
		t.other[k] = v
	}
	for range maps.Keys(t.m) {
		t.n++
	}
	keys := slices.Collect(maps.Keys(t.m))
	slices.Sort(keys)
	return slices.Sorted[string](maps.Keys(t.m))
}
