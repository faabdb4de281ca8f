package recipes

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"
)

// ahead returns the last of those ahead of own that keep it waiting (with herd,
// the first), "" if there are too few of them, or errGone.
func (p *place) ahead(ctx context.Context, own string) (ahead string, err error) {
	defer Forget(p.env)(&ahead, &err)
	names, _, err := p.on(ctx).Children(p.dir)
	if err == zk.ErrNoNode {
		return "", errGone
	}
	if err != nil {
		return "", err
	}
	return p.aheadOf(ctx, own, names)
}

// aheadOf is ahead in a listing.
func (p *place) aheadOf(ctx context.Context, own string, names []string) (string, error) {
	_, mine := contender(own)
	best, ahead, listed, count := int64(0), "", false, 0
	for _, name := range names {
		word, n := contender(name)
		if !p.competes(word) {
			continue
		}
		if repeats(n) {
			queue, err := p.ordered(ctx, names)
			if err != nil {
				return "", err
			}
			return p.before(queue, own)
		}
		listed = listed || name == own
		nearer := ahead == "" || (n > best) != p.herd
		if n < mine && (nearer || p.leases > 1) && p.inWay(name, word) {
			count++
			if nearer {
				best, ahead = n, name
			}
		}
	}
	if !listed {
		return "", errGone
	}
	return p.blocker(count, ahead), nil
}

// before is ahead for a queue that is in order.
func (p *place) before(queue []string, own string) (ahead string, err error) {
	count := 0
	for _, name := range queue {
		if name == own {
			return p.blocker(count, ahead), nil
		}
		if word, _ := contender(name); p.inWay(name, word) {
			count++
			if ahead != "" && p.herd {
				continue
			}
			ahead = name
		}
	}
	return "", errGone
}

// inWay reports whether name, when it is ahead, keeps this place waiting: it has such a
// word and is no partner.
func (p *place) inWay(name, word string) bool {
	return p.blocks(word) && !slices.Contains(p.nodes, name)
}

// blocker returns who is to be waited for, the last of those in the way, or "" if
// there are fewer of them than leases.
func (p *place) blocker(count int, last string) string {
	if count < max(p.leases, 1) {
		return ""
	}
	return last
}

// competes reports whether a contender with that word is of this queue.
func (p *place) competes(word string) bool {
	return word != "" && (word == p.word || p.blocks(word))
}

// contender returns the word in a contender's name and the number that the
// server appended to it; the word is empty if the name is not a contender's.
func contender(name string) (word string, n int64) {
	const digits = 10 // at least; a negative number has a sign as well
	if i := len(name) - digits - 1; i > 0 && name[i] == '-' && name[i-1] != '-' {
		if n, ok := natural(name[i+1:]); ok { // nearly always; whoever queues reads all names
			return name[strings.LastIndexByte(name[:i], '-')+1 : i], n
		}
	}
	i := strings.LastIndexByte(name, '-')
	if i > 0 && name[i-1] == '-' { // "lock--2147483648"
		i--
	}
	if i < 0 || len(name)-i-1 < digits {
		return "", 0
	}
	n, err := strconv.ParseInt(name[i+1:], 10, 32)
	if err != nil {
		return "", 0
	}
	return name[strings.LastIndexByte(name[:i], '-')+1 : i], n
}

// natural reads a number of a few digits that a server could have given.
func natural(s string) (n int64, ok bool) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n, n <= math.MaxInt32
}

// owner returns the part of a contender's name that partners share; all of it if it is the only one.
func owner(name string) string {
	word, _ := contender(name)
	if i := strings.LastIndex(name, "-"+word+"-"); i >= 0 {
		return name[:i]
	}
	return name
}

// repeats reports whether a sequence number is from the end of the numbers. There
// the server's counter stays at 2147483647 (and creates in flight at that moment
// get negative numbers), so numbers repeat and say nothing about order.
func repeats(n int64) bool { return n < 0 || n == math.MaxInt32 }

// ordered returns the contenders among names in the order of the queue.
func (p *place) ordered(ctx context.Context, names []string) ([]string, error) {
	return p.inOrder(ctx, p.dir, names, p.competes)
}

// inOrder returns those children of dir among names whose word counts in the
// order in which they were created: by sequence number, or, once numbers repeat,
// by the zxid of their creation, at the price of reading each.
func (s session) inOrder(
	ctx context.Context, dir string, names []string, counts func(word string) bool,
) ([]string, error) {
	var queue []string
	rank := map[string]int64{}
	exact := !slices.ContainsFunc(names, func(name string) bool {
		word, n := contender(name)
		return counts(word) && repeats(n)
	})
	for _, name := range names {
		word, n := contender(name)
		if !counts(word) {
			continue
		}
		if !exact {
			exists, stat, err := s.on(ctx).Exists(dir + "/" + name)
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
	slices.SortFunc(queue, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank[a], rank[b]), strings.Compare(a, b)) // of one multi: partners
	})
	return queue, nil
}
