package engine

import (
	"strings"
	"sync/atomic"

	"zksim/checkers"
	"zksim/model/history"
)

// Judged finds out which checkers have had anything to judge in some run. Runs are looked at by many workers; what
// they saw is added by one.
type Judged struct {
	needs []need
	met   []atomic.Bool // Look leaves these out
}

// need is what a checker needs, and which of it there was in any run.
type need struct {
	checker string
	checkers.Needs
	had uint64 // by bit
}

// Idle is a checker that had nothing to judge in any run.
type Idle struct {
	Checker string
	Lacks   string // what it needs, and what the author of the scenario can do
}

// NewJudged returns one for the checkers that say what they need.
func NewJudged(all []checkers.Checker) *Judged {
	j := &Judged{}
	for _, c := range all {
		if d, ok := c.(checkers.Declaring); ok {
			j.needs = append(j.needs, need{checker: c.Name(), Needs: d.Needs()})
		}
	}
	j.met = make([]atomic.Bool, len(j.needs))
	for i := range j.needs {
		j.met[i].Store(len(j.needs[i].Seen) == 0)
	}
	return j
}

// Look returns what there is in a run of each need, by bit; nil if all needs were met before.
func (j *Judged) Look(h *history.History) (had []uint64) {
	for i := range j.needs {
		if j.met[i].Load() {
			continue
		}
		if had == nil {
			had = make([]uint64, len(j.needs))
		}
		for k, n := range j.needs[i].Seen {
			if n.In(h) {
				had[i] |= 1 << k
			}
		}
	}
	return had
}

// Add takes into account what Look has returned of a run.
func (j *Judged) Add(had []uint64) {
	for i, bits := range had {
		if bits == 1<<len(j.needs[i].Seen)-1 {
			j.met[i].Store(true)
		}
		j.needs[i].had |= bits
	}
}

// Idle returns the checkers that had nothing to judge. One that needs nothing is not among them, even without runs.
func (j *Judged) Idle() (list []Idle) {
	for i := range j.needs {
		if !j.met[i].Load() {
			list = append(list, j.needs[i].idle())
		}
	}
	return list
}

// idle says what no run had, the first of it, or else what no run had together.
func (n *need) idle() Idle {
	var all []string
	for k, seen := range n.Seen {
		if n.had>>k&1 == 0 {
			return Idle{n.checker, missing(seen)}
		}
		all = append(all, seen.What)
	}
	return Idle{n.checker, "it needs, in one run, " + strings.Join(all, " and ")}
}
