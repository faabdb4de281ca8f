package checkers

import (
	"fmt"
	"slices"
	"strings"

	"zksim/internal/edit"
	"zksim/model/history"
)

// Vocabulary is the set of words that a scenario's programs may record: those that its checkers know, and those that it
// declares to be judged by nobody.
type Vocabulary struct {
	open   bool // any word
	known  map[word]bool
	judged map[string]bool // operations on which a verdict depends
	items  bool            // a checker tells the items of a queue apart
}

type word struct {
	op    string
	class Class
}

// VocabularyOf returns the words that at least one of the checkers knows, and free ones of any class. Any word will do
// if a checker does not say what it needs, because it may judge all of them. Any word will also do if no checker knows
// a word, because then nobody judges operations.
func VocabularyOf(all []Checker, free []string) Vocabulary {
	v := Vocabulary{known: map[word]bool{}, judged: map[string]bool{}}
	for _, c := range all {
		x, ok := c.(Declaring)
		if !ok {
			v.open = true
			continue
		}
		for _, w := range x.Needs().Words {
			v.known[word{w.Op, w.Class}] = true
			v.judged[w.Op] = v.judged[w.Op] || w.Class == Operation && !w.Unjudged
			v.items = v.items || w.Op == "put"
		}
	}
	v.open = v.open || len(v.known) == 0
	for _, op := range free {
		for c := range classes {
			v.known[word{op, c}] = true
		}
	}
	return v
}

// Unfit says why the operations of a history cannot be judged. No checker knows the word of one, an object begins one
// while the same goes on there, as when goroutines share it, or ends one that it has not begun, or an item is put whose
// number was put before. Unfit returns "" if they can be judged.
func (v *Vocabulary) Unfit(h *history.History) string {
	if why := v.unknown(h); why != "" {
		return fmt.Sprintf("no checker knows %s; a word that nobody is to judge belongs in Scenario.Words", why)
	}
	if why := v.overlap(h); why != "" || !v.items {
		return why
	}
	return repeated(h)
}

// unknown returns the first word of a history that nobody knows, and those that are known: `the operation "tryacquire";
// they know lock, trylock, unlock, ...`. It returns "" if there is none.
func (v *Vocabulary) unknown(h *history.History) string {
	if v.open {
		return ""
	}
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind == history.Told && (e.Op == ToldBroken || e.Op == ToldSometimes || e.Op == ToldRest) {
			continue // of assertions and of rest, which every program may make
		}
		if c, chosen := ClassOf(e.Kind); chosen && !(c == Mode && e.Op == "") && !v.known[word{e.Op, c}] {
			return v.explain(e.Op, c)
		}
	}
	return ""
}

// Lacks returns one of some words that nobody knows in any class, or "" if there is none.
func (v *Vocabulary) Lacks(words []string) string {
	for _, op := range words {
		known := v.open
		for c := range classes {
			known = known || v.known[word{op, c}]
		}
		if !known {
			return op
		}
	}
	return ""
}

// explain says what could have been meant.
func (v *Vocabulary) explain(op string, c Class) string {
	var words []string
	for w := range v.known { // order-free: sorted below
		if w.class == c {
			words = append(words, w.op)
		}
	}
	what := fmt.Sprintf("the %v %.60q", c, op)
	if len(words) == 0 {
		return fmt.Sprintf("%s; they know no %vs", what, c)
	}
	slices.Sort(words)
	nearest := slices.MinFunc(words, func(a, b string) int { return distance(a, op) - distance(b, op) })
	return fmt.Sprintf("%s; they know %s, the nearest being %q", what, strings.Join(words, ", "), nearest)
}

// distance is how far a word is from a known one. Only the beginning of a long word is compared.
func distance(a, b string) int { return edit.Distance(a[:min(len(a), 60)], b[:min(len(b), 60)]) }
