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

// ahead returns the last of the contenders ahead of own that keep it waiting (with herd, the first), "" if there are
// too few of them, or errGone.
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

// before is ahead for a queue in order.
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

// inWay reports whether name, if it is ahead, keeps this place waiting: its word blocks, and it is not an own znode.
func (p *place) inWay(name, word string) bool {
	return p.blocks(word) && !slices.Contains(p.nodes, name)
}

// blocker returns last, the contender to wait for, or "" if fewer are in the way than there are leases.
func (p *place) blocker(count int, last string) string {
	if count < max(p.leases, 1) {
		return ""
	}
	return last
}

// competes reports whether a contender with that word is in this queue.
func (p *place) competes(word string) bool {
	return word != "" && (word == p.word || p.blocks(word))
}

// contender returns the word in a contender's name and the number that the server has appended. The word is empty if
// the name is not a contender's.
func contender(name string) (word string, n int64) {
	const digits = 10 // at least; a negative number also has a sign
	if i := len(name) - digits - 1; i > 0 && name[i] == '-' && name[i-1] != '-' {
		if n, ok := natural(name[i+1:]); ok { // the fast path: each contender parses all names
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

// natural parses a sequence number that is not negative.
func natural(s string) (n int64, ok bool) {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n, n <= math.MaxInt32
}

// owner returns the part of a contender's name that partners share, or the whole name if it has no such part.
func owner(name string) string {
	word, _ := contender(name)
	if i := strings.LastIndex(name, "-"+word+"-"); i >= 0 {
		return name[:i]
	}
	return name
}

// repeats reports whether a sequence number is from the end of the numbers. There the server's counter stays at
// 2147483647 (and creates in flight at that moment, or later in one multi, get negative numbers), so numbers repeat
// and do not tell the order.
func repeats(n int64) bool { return n < 0 || n == math.MaxInt32 }

// ordered returns the contenders among names in the order of the queue.
func (p *place) ordered(ctx context.Context, names []string) ([]string, error) {
	return p.inOrder(ctx, p.dir, names, p.competes)
}

// inOrder returns the names, of children of dir, whose word counts, in the order of their creation: by sequence
// number or, once numbers repeat, by czxid, which costs a read of each child.
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
		return cmp.Or(cmp.Compare(rank[a], rank[b]), strings.Compare(a, b)) // equal zxids: partners, created by one multi
	})
	return queue, nil
}
