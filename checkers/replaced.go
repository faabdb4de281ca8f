package checkers

import (
	"slices"
	"strings"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Replaced says that a set of a configuration does not come back once another has replaced it, and that sets of one
// date are one set. [Recency] goes by the dates of the sets that readers are given, and would accept the old set under
// the date of the new one. Sets are told apart by the number of their update, as in [Torn]; the empty set is of none.
type Replaced struct{}

// Name implements [Checker].
func (Replaced) Name() string { return "replaced" }

// Doc implements [Checker].
func (Replaced) Doc() string {
	return "nobody is given a set that another has replaced under a later date, or two sets of one date"
}

// Needs implements [Declaring].
func (Replaced) Needs() Needs {
	return Needs{
		Words: configWords(slices.Concat(judged("answered by the set in Path of Zxid; values as Torn has them", "get"),
			tells("a cached reader is told the set in Path of Zxid", "config"))...),
		Seen: []Need{sets},
	}
}

// Check implements [Checker].
func (r Replaced) Check(h *history.History) Verdict { return check(h, r.Monitor()) }

// Monitor implements [Monitored].
func (Replaced) Monitor() Monitor { return &datedSets{} }

// datedSets is the monitor of Replaced.
type datedSets struct {
	recipeEvents
	Replaced
	changes
	all []datedSet
}

// datedSet is a set that somebody was given.
type datedSet struct {
	number      string
	first, last int64 // the zxids under which it was given
}

func (m *datedSets) Reset() { m.changes, m.all = m.changes[:0], m.all[:0] }

func (m *datedSets) Hash() uint64 {
	sum := hash.Hash(0) // in any order
	for _, s := range m.all {
		sum += hash.Hash(0).String(s.number).Uint64(m.rank(s.first)).Uint64(m.rank(s.last))
	}
	return uint64(sum)
}

func (m *datedSets) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	m.note(e)
	if !given(e) {
		return Verdict{}
	}
	first, _, _ := strings.Cut(e.Path, " ")
	_, number, _ := strings.Cut(first, "=")
	if number == "" {
		return Verdict{}
	}
	now := datedSet{number, e.Zxid, e.Zxid} // what is between first and last is of this set as well
	k := slices.IndexFunc(m.all, func(s datedSet) bool { return s.number == number })
	if k >= 0 {
		now.first, now.last = min(m.all[k].first, e.Zxid), max(m.all[k].last, e.Zxid)
	}
	for _, s := range m.all {
		switch {
		case s.number == number:
		case s.first == e.Zxid || s.last == e.Zxid:
			return violated(m, i, "c%d was given the set of update %s under zxid 0x%x, and somebody that of update %s", e.Client,
				number, e.Zxid, s.number)
		case e.Zxid < s.first && s.first < now.last:
			return violated(m, i, "c%d was given the set of update %s under zxid 0x%x, and somebody under 0x%x, although that "+
				"of update %s had replaced it at zxid 0x%x", e.Client, number, e.Zxid, now.last, s.number, s.first)
		case now.first < s.first && s.first < now.last:
			return violated(m, i, "c%d was given the set of update %s under zxid 0x%x, although that of update %s had "+
				"replaced it at zxid 0x%x", e.Client, number, e.Zxid, s.number, s.first)
		case s.first < now.first && now.first < s.last:
			return violated(m, i, "c%d was given the set of update %s under zxid 0x%x, and somebody that of update %s under "+
				"0x%x and 0x%x", e.Client, number, e.Zxid, s.number, s.first, s.last)
		}
	}
	if k < 0 {
		m.all = append(m.all, now)
	} else {
		m.all[k] = now
	}
	return Verdict{}
}
