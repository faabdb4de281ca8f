package main

import (
	"testing"
	"time"

	"zksim/recipes"
	"zksim/scenarios"
)

type recipe struct{ conn recipes.Conn }

func (r recipe) run() { time.Sleep(1) } // want `time.Sleep`

func TestRecipe(t *testing.T) {
	begin := time.Now()
	scenarios.Check(t, scenarios.Scenario{
		Name: "user/recipe",
		Program: func(p *scenarios.Process) {
			go recipe{p.Conn}.run() // want `a go statement`
		},
	})
	t.Log(time.Since(begin))
}
