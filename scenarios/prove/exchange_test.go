package prove_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// exchangeEvery is of how many programs one is searched with clients that are alike.
const exchangeEvery = 8

// nameful are operations, or their operands, whose results tell who a client is.
var nameful = []string{"uuid", "lookalike", "session", "protected", "e", "es"}

// twins returns the program with the first client twice, and nil if it tells who a client is.
func (p *program) twins() *program {
	q := *p
	list := p.clients[0]
	tells := func(s *stmt) bool {
		return slices.ContainsFunc(s.words, func(w string) bool {
			return slices.Contains(nameful, w) || strings.HasSuffix(w, ":e") || strings.HasSuffix(w, ":es")
		})
	}
	if anyOf(list, tells) || anyOf(list, func(s *stmt) bool { return s.op() == "dial" }) {
		return nil
	}
	q.faults = slices.Clone(p.faults)
	for i := range q.faults {
		q.faults[i].Aim.Client = 0
	}
	q.clients = [][]stmt{list, list}
	return &q
}

// exchanged compares what a search comes to that takes clients for the same with what a plain one does, but for which
// client is which.
func exchanged(p *program, l limits) *finding {
	q := p.twins()
	if q == nil {
		return nil
	}
	want := search(q, plainly(l), "")
	c := &collector{told: q.flags.told, set: map[string]bool{}}
	sc := scopeOf(q, c)
	alike := sc.Scenario.Symmetric(func(id, _ int) int { return 1 })
	sc.Scenario = &alike
	o := reduced(l, never)
	o.Reductions.Symmetry = true
	got := find(sc, o, c.set)
	if f := cmp.Or(failed(" of like clients", got), failed(" of the plain search", want)); f != nil {
		return f
	}
	if !want.closed || want.refuted != nil || got.refuted != nil {
		return nil
	}
	a, b := either(got.set), either(want.set)
	for what, text := range map[string]string{"lost": missing(b, a), "new": missing(a, b)} {
		if text != "" {
			return &finding{what + " by symmetry", fmt.Sprintf("%d and %d outcomes; %s by symmetry:\n%s\n%s", len(b), len(a),
				what, text, scheduleOf(q, plainly(limits{}), text))}
		}
	}
	return nil
}

var clientText = regexp.MustCompile(`(?m)^c([12])([:/])`)

// either returns outcomes, of each the one or the one with clients exchanged that comes first.
func either(set map[string]bool) map[string]bool {
	all := map[string]bool{}
	for text := range set {
		other := clientText.ReplaceAllStringFunc(text, func(w string) string {
			return map[byte]string{'1': "c2", '2': "c1"}[w[1]] + w[2:]
		})
		all[min(ordered(text), ordered(other))] = true
	}
	return all
}

// ordered returns an outcome with what concerns the first client before what concerns the other.
func ordered(text string) string {
	at := clientText.FindAllStringIndex(text, -1)
	if len(at) == 0 {
		return text
	}
	parts := []string{}
	for i, x := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		parts = append(parts, text[x[0]:end])
	}
	slices.Sort(parts)
	return text[:at[0][0]] + strings.Join(parts, "")
}
