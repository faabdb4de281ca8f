package engine

import (
	"fmt"
	"strings"
	"sync/atomic"

	"zksim/checkers"
	"zksim/model/history"
)

// Judged finds out which checkers had something to judge in some run. Many workers look at the runs; one adds what they
// saw.
type Judged struct {
	needs []need
	met   []atomic.Bool // Look leaves these out
}

// need is what a checker needs, and which parts of it any run had.
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

// String returns it as in "tree (it needs an ephemeral znode; ...)".
func (x Idle) String() string { return fmt.Sprintf("%s (%s)", x.Checker, x.Lacks) }

// NewJudged returns a Judged for those checkers that declare their needs.
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

// Look returns which parts of each need a run has, by bit; nil if all needs were met before.
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

// Add counts what Look has returned for a run.
func (j *Judged) Add(had []uint64) {
	for i, bits := range had {
		if bits == 1<<len(j.needs[i].Seen)-1 {
			j.met[i].Store(true)
		}
		j.needs[i].had |= bits
	}
}

// Idle returns the checkers that had nothing to judge, without those that need nothing, even if there were no runs.
func (j *Judged) Idle() (list []Idle) {
	for i := range j.needs {
		if !j.met[i].Load() {
			list = append(list, j.needs[i].idle())
		}
	}
	return list
}

// idle says which part no run had, the first of them, or else which parts no run had together.
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
