package recipes

import (
	"math"
	"slices"
)

// repeats reports whether a sequence number is from the end of the numbers. There
// the server's counter stays at 2147483647 (and creates in flight at that moment
// get negative numbers), so numbers repeat and say nothing about order.
func repeats(n int64) bool { return n < 0 || n == math.MaxInt32 }

// ordered returns the contenders among names in the order of the queue: by
// sequence number, or, once numbers repeat, by the zxid of their creation, at
// the price of reading each.
func (l *Lock) ordered(names []string) ([]string, error) {
	var queue []string
	rank := map[string]int64{}
	exact := !slices.ContainsFunc(names, func(name string) bool {
		n, ok := sequence(name)
		return ok && repeats(n)
	})
	for _, name := range names {
		n, ok := sequence(name)
		if !ok {
			continue
		}
		if !exact {
			exists, stat, err := l.conn.Exists(l.dir + "/" + name)
			if err != nil {
				return nil, err
			}
			if !exists {
				continue // has left; it cannot be ahead of anyone
			}
			n = stat.Czxid
		}
		queue = append(queue, name)
		rank[name] = n
	}
	slices.SortFunc(queue, func(a, b string) int { return int(min(max(rank[a]-rank[b], -1), 1)) })
	return queue, nil
}
