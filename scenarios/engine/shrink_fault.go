package engine

import (
	"slices"
	"strings"

	"zksim/faults"
	"zksim/sim"
)

// plainFaults are those that a reader knows best, and that also do what many others do: they end a connection, or a
// session.
var plainFaults = []string{"lose-reply", "lose-request", "disconnect", "learn-late"}

// The limits of oneFault. It leaves schedules up to the first length as they are, and tries the fault after at most
// that many steps, and at no more than that many places where it does the same.
const (
	shortSchedule = 6
	faultSteps    = 64
	faultPlaces   = 8
)

// oneFault tries whether a single plain fault of the scenario's plan does the same as the whole schedule, in fewer
// steps. It strikes after one of the first steps of the schedule or of a fair run. Faults drawn by a seed, such as two
// elections and the end of a connection, may have no part that can be left out, although a lost reply does the same.
// For simulated code, a schedule with a single fault is plain enough.
func (x *shrinker) oneFault() bool {
	was := x.best
	if len(was.Names) <= shortSchedule || x.over() || x.scenario.Outside == nil && x.strikes() < 2 {
		return false
	}
	p := was
	p.Names, p.Faults = nil, nil
	x.violated(p, &sim.Replay{})
	fair, places := slices.Clone(x.names()), 0
	clients := clientsOf(append(fair, was.Names...))
	for _, list := range [][]string{was.Names, fair} {
		list = slices.DeleteFunc(slices.Clone(list), func(name string) bool { return name == calm })
		for k := range min(len(list), faultSteps) {
			for _, r := range x.plain() {
				for _, c := range clients {
					p.Names, p.Faults = append(slices.Clone(list[:k+1]), r.Fault+" "+c), faults.Plan{r}
					if places == faultPlaces || !x.try(p) {
						continue
					}
					x.leaveOut()
					if len(x.best.Names) < len(was.Names) {
						return true
					}
					x.best = was
					places++
				}
			}
		}
	}
	return false
}

// strikes returns how many faults the schedule has.
func (x *shrinker) strikes() (n int) {
	for _, name := range x.best.Names {
		if f, _ := faultOf(name); f != nil {
			n++
		}
	}
	return n
}

// plain returns the rules of the scenario's plan for plain faults, each of which may strike once.
func (x *shrinker) plain() (list faults.Plan) {
	for _, name := range plainFaults {
		for _, r := range x.scenario.Faults {
			if r.Fault == name {
				r.Budget = 1
				list = append(list, r)
			}
		}
	}
	return list
}

// clientsOf returns the clients in the names of transitions.
func clientsOf(names []string) (list []string) {
	for _, name := range names {
		_, who, _ := strings.Cut(name, " ")
		who, _, _ = strings.Cut(who, " ")
		if strings.HasPrefix(who, "c") && !slices.Contains(list, who) {
			list = append(list, who)
		}
	}
	slices.Sort(list)
	return list
}
