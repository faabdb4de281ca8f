package faults

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"zksim/model/history"
)

// Strike is what became of a rule in a run.
type Strike struct {
	Times    int  // how often it struck
	Possible bool // the state permitted it at some moment
}

// Struck appends what became of each rule of p, the plan of the run with history h. A fault that several rules allow
// counts for the first of them that can spare it. Initial faults have struck when what they prepare has happened.
func (in *Injector) Struck(list []Strike, p Plan, h *history.History) []Strike {
	k := 0
	for _, r := range p {
		if Table[find(r.Fault)].initial {
			n := r.ended(h)
			list = append(list, Strike{n, n > 0})
			continue
		}
		x := &in.rules[k]
		list = append(list, Strike{x.Budget - in.spare(k), x.open})
		k++
	}
	return list
}

// Enough returns in how many runs a rule must have been in the plan without ever being possible before one may
// conclude that it never will be: 100, or 2000 for faults that need what few runs have.
func (r Rule) Enough() int {
	if Table[find(r.Fault)].rare {
		return 2000
	}
	return 100
}

// lastNumber ends the names of sequential znodes when the counter is at its end.
var lastNumber = strconv.Itoa(math.MaxInt32)

// ended returns how many znodes were created with the last number, below the parent in the aim.
func (r *Rule) ended(h *history.History) (n int) {
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Created || !strings.HasSuffix(e.Path, lastNumber) {
			continue
		}
		if parent := e.Path[:strings.LastIndexByte(e.Path, '/')]; cmp.Or(parent, "/") == r.Aim.Path {
			n++
		}
	}
	return n
}

// Lacks says why the rule, one of plan p, may never have struck in runs with that many clients: what it needs, and
// what can be done about it.
func (r Rule) Lacks(p Plan, clients int) string {
	f := &Table[find(r.Fault)]
	switch {
	case r.Aim.Client > clients:
		return fmt.Sprintf("there is no client c%d, only %d", r.Aim.Client, clients)
	case r.Aim != (Aim{}) && !f.initial:
		return fmt.Sprintf("%s needs %s, and its aim must fit before the faults are over", r.Fault, f.Needs)
	}
	why := fmt.Sprintf("%s needs %s", r.Fault, f.Needs)
	name, _, _ := strings.Cut(f.Add, "=")
	if f.Add != "" && !slices.ContainsFunc(p, func(x Rule) bool { return x.Fault == name }) {
		why += "; add " + f.Add
	}
	return why
}

// Except returns the plan without the rules of some faults.
func (p Plan) Except(names ...string) Plan {
	return slices.DeleteFunc(slices.Clone(p), func(r Rule) bool { return slices.Contains(names, r.Fault) })
}
