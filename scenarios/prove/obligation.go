package prove

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"zksim/model/history"
	"zksim/scenarios/engine"
)

// Obligation is a claim that must be proved. It does not depend on others.
type Obligation struct {
	// Kind, one of [Kinds], says how the scope is wider than the usual one. The number of clients does not count.
	Kind string `json:"kind"`
	Claim
	// Of the last search to end; zero if there was none.
	Seconds float64 `json:"seconds,omitempty"`
	Outcome Outcome `json:"outcome,omitempty"`
}

// Kinds are the ways in which scopes are wider than the usual one.
var Kinds = []string{"usual", "whole plan", "numbers end", "slow wakes", "early timers", "two rounds", "other order",
	"three servers", "elections"}

// elections is a plan for three servers: one leader is deposed and one connection lost.
const elections = "depose=1 disconnect=1"

// Obligations returns what must be proved about a scenario that must hold: the usual scope, those of [Beyond], each of
// which is wider in one way, and one with elections if its plan deposes leaders. There are none for a mutant, nor for
// code that this package does not run.
func Obligations(s *engine.Scenario) (list []Obligation, err error) {
	if s.Broken() || s.Outside != nil {
		return nil, nil
	}
	bounds := append([]Bounds{{}}, Beyond(s)...)
	if plan := s.Faults.String(); strings.Contains(plan, "depose=") && slices.Contains(s.Servers, 3) {
		bounds = append(bounds, Bounds{Clients: min(2, s.Clients), Servers: 3, Faults: elections, Most: 2})
	}
	for _, b := range bounds {
		sc, err := b.Of(s)
		if err != nil {
			return nil, err
		}
		o := Obligation{Kind: b.kind(s), Claim: sc.claim(Every)}
		if !slices.ContainsFunc(list, func(x Obligation) bool { return x.Same(&o) }) {
			list = append(list, o)
		}
	}
	return list, nil
}

// kind says how the bounds are wider than the usual ones.
func (b Bounds) kind(s *engine.Scenario) string {
	ordinary, _ := split(s.Faults)
	switch {
	case b.Faults == elections:
		return "elections"
	case b.Servers == 3:
		return "three servers"
	case b.SlowWakes:
		return "slow wakes"
	case b.Ticks > 0:
		return "early timers"
	case b.Rounds > 1:
		return "two rounds"
	case b.Order > 1:
		return "other order"
	case b.Faults != "" && b.Faults == ordinary.String():
		return "whole plan"
	case b.Faults != "":
		return "numbers end"
	}
	return Kinds[0]
}

// Same reports whether two obligations make the same claim.
func (o *Obligation) Same(x *Obligation) bool { return reflect.DeepEqual(o.Claim, x.Claim) }

// Scope returns the scope of the claim. It fails if a search there would result in another claim, for example because
// the claim has more faults than its plan.
func (o *Obligation) Scope(all []engine.Scenario) (Scope, error) {
	sc, err := o.Claim.Scope(all)
	if err != nil {
		return sc, err
	}
	if claim := sc.claim(o.Reductions); !reflect.DeepEqual(claim, o.Claim) {
		return sc, fmt.Errorf("%v is no claim of a search, %+v, expected %+v", o, o.Claim, claim)
	}
	return sc, nil
}

// String names the obligation: the scenario, and what is unusual.
func (o *Obligation) String() string {
	return fmt.Sprintf("%s, %s, %s, at most %d of %s", o.Scenario, o.Kind, history.Counted(o.Clients, "client"), o.Most,
		o.Faults)
}

// Longest sorts obligations: first those that were never tried, then the others by the time that they last took,
// longest first. So the tasks that begin last are short.
func Longest(list []Obligation) {
	slices.SortStableFunc(list, func(a, b Obligation) int {
		if tried := a.Outcome != ""; tried != (b.Outcome != "") {
			if tried {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Scenario, b.Scenario))
	})
}
