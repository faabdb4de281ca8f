package prove

import (
	"fmt"
	"slices"
	"strings"

	"zksim/faults"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// Scope is what a proof covers: every schedule within it.
type Scope struct {
	Scenario *engine.Scenario // with the intended clients, rounds and checkers
	Servers  int              // 1, or 3 with lagging followers
	Order    uint64           // as in sim.Config, below sim.FirstDrawn
	Faults   faults.Plan
	Most     int // total faults in one run; less than 0: as many as the plan allows

	// Interleave makes the steps of client code interleave with everything else, goroutine by goroutine. Without it, code
	// runs without delay, the oldest goroutine first, until it waits for a message or lets others move, by
	// Process.Step, Env.Now or a sleep of no time. The program may start at any time. This is the usual grain of protocol
	// models: what a client does on a message is one step.
	Interleave bool
	// SlowWakes lets a goroutine go on at any later time after it was waiting for a watch, for its session, for the end of
	// its context, or for an answer when the connection was lost. So its own connection may have come back, or gone again,
	// before it acts.
	SlowWakes bool
	// Offline lets programs begin before their clients have a connection. Otherwise the clients are connected first, one
	// after the other.
	Offline bool
	// Ticks is how often in a run time may pass, so that the earliest timer fires, although something else can happen.
	// When nothing else can happen, time may always pass.
	Ticks int
}

// check reports what is wrong with the scope.
func (s *Scope) check() error {
	if s.Servers != 1 && s.Servers != 3 {
		return fmt.Errorf("the number of servers is 1 or 3, not %d", s.Servers)
	}
	if s.Order >= sim.FirstDrawn { // then it matters in what order watches were set, which is in no state
		return fmt.Errorf("the order is a number from 1 to %d, not %d", sim.FirstDrawn-1, s.Order)
	}
	if s.Ticks < 0 || s.Ticks > maxTicks {
		return fmt.Errorf("time may pass 0 to %d times although something else can happen, not %d", maxTicks, s.Ticks)
	}
	return s.Scenario.Accepts(s.Faults)
}

// Ordered names the checkers that make a search long because they have no monitor, and what to do about it; "" if there
// are none.
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

// unstruck returns the rules whose faults are not feasible, and what they need.
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

// maxTicks is far more than can be explored.
const maxTicks = 1000

// most returns the largest number of faults in one run.
func (s *Scope) most() int {
	n := 0
	for _, r := range s.Faults {
		if r.Fault != "sequence" { // a property of the initial state
			n += r.Budget
		}
	}
	if s.Most >= 0 {
		n = min(n, s.Most)
	}
	return n
}

// Reductions are ways to explore less than everything; the zero value is plain depth-first search over states. Each is
// sound, by itself and with the others, whatever the code does, with three exceptions: Zxids if code depends on more
// than the order of zxids, Forget if the code does not tell the truth, and Symmetry.
type Reductions struct {
	// Zxids makes zxids, as clients and checkers see them, count only the txns that change a znode
	// (sim.Detail.DenseZxids). A violation is reported as it is with the usual zxids.
	Zxids bool `json:"zxids"`
	// Monitors makes checkers with a monitor say what they remember of the past. Without it, the order of all events is
	// part of the state.
	Monitors bool `json:"monitors"`
	// Forget leaves out of a state what code has seen and says that it does not keep (recipes.Forget). It trusts the code.
	// Not with Scope.Interleave.
	Forget bool `json:"forget"`
	// Idle makes a server without connections apply txns only while some client may connect to it, or when nothing else
	// can happen. It applies only while no fault is left that looks at such servers.
	Idle bool `json:"idle"`
	// Symmetry treats runs as the same that differ only in which of several identical clients is which: those are served
	// for the first time in their order. It trusts the scenario (Scenario.Symmetric). Code that compares names, which are
	// not exchanged with the clients, may hide a violation.
	Symmetry bool `json:"symmetry"`
}

// Switch turns a reduction, given by its name, on or off.
type Switch struct {
	Name string
	On   *bool
}

// Switches returns the switches of r for all reductions except Symmetry.
func (r *Reductions) Switches() []Switch {
	return []Switch{{"zxids", &r.Zxids}, {"monitors", &r.Monitors}, {"forget", &r.Forget}, {"idle", &r.Idle}}
}

// Every is all reductions except Symmetry.
var Every = Reductions{Zxids: true, Monitors: true, Forget: true, Idle: true}

// String lists the reductions that are on.
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
