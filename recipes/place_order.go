package recipes

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"
)

// ahead returns the last of those ahead of own that keep it waiting, "" if there
// is none, or errGone.
func (p *place) ahead(own string) (string, error) {
	names, _, err := p.conn.Children(p.dir)
	if err == zk.ErrNoNode {
		return "", errGone
	}
	if err != nil {
		return "", err
	}
	_, mine := contender(own)
	best, ahead, listed := int64(-1), "", false
	for _, name := range names {
		word, n := contender(name)
		if !p.competes(word) {
			continue
		}
		if repeats(n) {
			if names, err = p.ordered(names); err != nil {
				return "", err
			}
			return p.before(names, own)
		}
		listed = listed || name == own
		if n < mine && n > best && p.blocks(word) {
			best, ahead = n, name
		}
	}
	if !listed {
		return "", errGone
	}
	return ahead, nil
}

// before is ahead for a queue that is in order.
func (p *place) before(queue []string, own string) (ahead string, err error) {
	for _, name := range queue {
		if name == own {
			return ahead, nil
		}
		if word, _ := contender(name); p.blocks(word) {
			ahead = name
		}
	}
	return "", errGone
}

// competes reports whether a contender with that word is of this queue.
func (p *place) competes(word string) bool {
	return word != "" && (word == p.word || p.blocks(word))
}

// contender returns the word in a contender's name and the number that the
// server appended to it; the word is empty if the name is not a contender's.
func contender(name string) (word string, n int64) {
	const digits = 10 // at least; a negative number has a sign as well
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

// repeats reports whether a sequence number is from the end of the numbers. There
// the server's counter stays at 2147483647 (and creates in flight at that moment
// get negative numbers), so numbers repeat and say nothing about order.
func repeats(n int64) bool { return n < 0 || n == math.MaxInt32 }

// ordered returns the contenders among names in the order of the queue: by
// sequence number, or, once numbers repeat, by the zxid of their creation, at
// the price of reading each.
func (p *place) ordered(names []string) ([]string, error) {
	var queue []string
	rank := map[string]int64{}
	exact := !slices.ContainsFunc(names, func(name string) bool {
		word, n := contender(name)
		return p.competes(word) && repeats(n)
	})
	for _, name := range names {
		word, n := contender(name)
		if !p.competes(word) {
			continue
		}
		if !exact {
			exists, stat, err := p.conn.Exists(p.dir + "/" + name)
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
