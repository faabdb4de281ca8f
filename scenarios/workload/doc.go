// Package workload is what clients do to a recipe so that its promises can be judged: programs, the checkers and goals
// that fit them, and whole scenarios for any user's recipe ([Locks], [Queues] and so on), which package scenarios
// re-exports. It knows interfaces and the errors of package recipes, but neither recipes nor mutants. Their scenarios
// are in scenarios/catalog, and use the same programs.
package workload

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"zksim/faults"
	"zksim/scenarios/engine"
)

// WithDefaults returns s with defaults for the numbers of clients and servers.
func WithDefaults(s engine.Scenario, clients int) engine.Scenario {
	if s.Clients == 0 {
		s.Clients = clients
	}
	if s.Servers == nil {
		s.Servers = []int{1, 3}
	}
	return s
}

// IgnoreCanceled returns nil for the error of a cancelled context, and any other error as it is.
func IgnoreCanceled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// preset returns what all presets have in common: a name, and every fault of the contract except some.
func preset(name, doc string, rounds int, without ...string) engine.Scenario {
	return engine.Scenario{Name: name, Doc: doc, Rounds: rounds, Faults: faults.Contract().Except(without...)}
}

// Rounds calls once for each round of a client, numbered from 0, until it fails.
func Rounds(p *engine.Process, once func(r int) error) {
	for r := range p.Rounds {
		if err := once(r); err != nil {
			p.Fail(err)
			return
		}
	}
}

// has reports whether values of type T have the methods of interface I.
func has[T, I any]() bool { return reflect.TypeFor[T]().Implements(reflect.TypeFor[I]()) }

// unless adds names to a list of checkers to leave out, unless these checkers can judge.
func unless(can bool, list []string, names ...string) []string {
	if can {
		return list
	}
	return slices.Concat(list, names)
}
