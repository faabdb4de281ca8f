package engine_test

import (
	"testing"

	"zksim/checkers"
	"zksim/recipes"
	"zksim/scenarios/engine"
)

// around is an environment of a program's own.
type around struct{ recipes.Env }

func TestAProgramMayPutAnEnvAroundItsOwn(t *testing.T) {
	s := engine.Scenario{Name: "around", Clients: 2, Rounds: 1, Servers: []int{1},
		Checkers: []checkers.Checker{checkers.Tree{}},
		Program: func(p *engine.Process) {
			q := *p
			q.Env = around{p.Env}
			q.Register(nil)
			q.Step()
			q.AtRest()
		}}
	if rep := run(t, s, engine.Options{Seeds: engine.Range{First: 1, Last: 20}}); rep.Status != engine.Held {
		t.Errorf("%+v", rep)
	}
}
