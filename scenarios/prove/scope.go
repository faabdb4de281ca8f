package prove

import (
	"fmt"
	"slices"
	"strings"

	"zksim/faults"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// Scope is what a proof is about: every schedule within it.
type Scope struct {
	Scenario *engine.Scenario // with the clients, rounds and checkers that are meant
	Servers  int              // 1, or 3 with lagging followers
	Order    uint64           // as in sim.Config
	Faults   faults.Plan
	Most     int // faults in one run, in all; less than 0: as many as the plan allows

	// Interleave has the steps of client code interleave with everything else,
	// goroutine by goroutine. Without it, code goes on without delay, the oldest
	// goroutine first, from the program's start, which may be at any time, until it
	// waits for a message or lets others move, by Process.Step or Env.Now. That is the
	// grain at which protocols are usually modelled: what a client does on a message is
	// one step.
	Interleave bool
	// SlowWakes has a goroutine that was waiting for a watch, for its session, for the end of its
	// context or for an answer when the connection was lost go on at any time after that, so that its
	// own connection may have come back, or gone again, before it acts.
	SlowWakes bool
	// Offline lets programs begin before their clients have a connection. Otherwise the
	// clients are connected first, one after the other.
	Offline bool
	// Ticks is how often in a run time may pass, so that the earliest timer fires, although
	// something else can happen. When nothing else can, it always may.
	Ticks int
}

// check reports what is wrong with a scope.
func (s *Scope) check() error {
	if s.Servers != 1 && s.Servers != 3 {
		return fmt.Errorf("the number of servers is 1 or 3, not %d", s.Servers)
	}
	if s.Ticks < 0 || s.Ticks > maxTicks {
		return fmt.Errorf("time may pass 0 to %d times although something else can happen, not %d", maxTicks, s.Ticks)
	}
	return s.Scenario.Accepts(s.Faults)
}

// Ordered says which checkers make a search long, since they have no monitor, and what to do about it; "" if there are
// none.
func (s *Scope) Ordered() string {
	var all []string
	for _, c := range s.Scenario.Judges() {
		if !OfState(c) {
			all = append(all, c.Name())
		}
	}
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, ", ") + ": no monitor says what it remembers, so the order of all events is a part of " +
		"every state; see checkers.Monitor, and Scenario.Heeds for a Finally"
}

// lacks says what the rules of the plan need to strike.
func (s *Scope) lacks() string {
	var all []string
	for _, r := range s.Faults {
		if r.Fault != "sequence" {
			all = append(all, r.Lacks(s.Faults, s.Scenario.Clients))
		}
	}
	return strings.Join(all, "; ")
}

// unstruck says of the rules whose faults are not among the feasible ones what they need.
func (s *Scope) unstruck(feasible uint64) (list []string) {
	for _, r := range s.Faults {
		if r.Fault != "sequence" && r.Budget > 0 && feasible>>(faults.KindOf(r.Fault)-sim.FirstFault)&1 == 0 {
			list = append(list, fmt.Sprintf("%s: %s", r, r.Lacks(s.Faults, s.Scenario.Clients)))
		}
	}
	return list
}

// deposes reports whether leaders may be deposed.
func (s *Scope) deposes() bool {
	return s.Servers > 1 && s.most() > 0 &&
		slices.ContainsFunc(s.Faults, func(r faults.Rule) bool { return r.Fault == "depose" && r.Budget > 0 })
}

// maxTicks is far more than what can be explored.
const maxTicks = 1000

// most returns the largest number of faults in one run.
func (s *Scope) most() int {
	n := 0
	for _, r := range s.Faults {
		if r.Fault != "sequence" { // a property of the start
			n += r.Budget
		}
	}
	if s.Most >= 0 {
		n = min(n, s.Most)
	}
	return n
}

// Reductions are ways to explore less than everything; the zero value is plain
// depth-first search over states. Each is sound, by itself and with the others, whatever
// the code does, but for Zxids if code goes by more than the order of zxids, Forget if it does
// not tell the truth, and Symmetry.
type Reductions struct {
	// Zxids has zxids count only the txns that change a znode, as seen by clients and
	// checkers (sim.Detail.DenseZxids). A violation is reported as it is with the usual zxids.
	Zxids bool `json:"zxids"`
	// Monitors has the checkers that can say what they remember of the past do so.
	// Without it, the order of all events is part of the state.
	Monitors bool `json:"monitors"`
	// Forget leaves out of a state what code has seen and says that it does not keep
	// (recipes.Forget), and takes its word for it. Not with Scope.Interleave.
	Forget bool `json:"forget"`
	// Idle has a server to which nobody is connected apply txns only while some client may connect to it, or when
	// nothing else can happen. Only while no fault is left that looks at such servers.
	Idle bool `json:"idle"`
	// Symmetry takes runs for the same that differ only in which of the clients that
	// are alike is which: those are served for the first time in their order. It
	// takes the scenario's word for it (Scenario.Symmetric): code that compares names,
	// which clients do not exchange, may hide a violation.
	Symmetry bool `json:"symmetry"`
}

// Switch is a reduction by its name, which is on or off.
type Switch struct {
	Name string
	On   *bool
}

// Switches returns the switches of r for all reductions but Symmetry.
func (r *Reductions) Switches() []Switch {
	return []Switch{{"zxids", &r.Zxids}, {"monitors", &r.Monitors}, {"forget", &r.Forget}, {"idle", &r.Idle}}
}

// Every is all reductions but Symmetry.
var Every = Reductions{Zxids: true, Monitors: true, Forget: true, Idle: true}

// String says in a few words which reductions are on.
func (r Reductions) String() string {
	most := r
	most.Symmetry = false
	switch {
	case r == Reductions{}:
		return "no reductions"
	case r == Every:
		return "all reductions"
	case most == Every:
		return "all reductions and symmetry"
	}
	text := "reductions"
	for _, x := range append(r.Switches(), Switch{"symmetry", &r.Symmetry}) {
		if *x.On {
			text += " " + x.Name
		}
	}
	return text
}
