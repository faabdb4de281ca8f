package prove

import (
	"testing"

	"zksim/recipes"
	"zksim/scenarios/engine"
)

// TestKeepCountsOnlyInAPieceThatForgets has a loop that says what it keeps, with and without a Forget before it, in
// the program and in a goroutine.
func TestKeepCountsOnlyInAPieceThatForgets(t *testing.T) {
	states := func(program func(p *engine.Process)) int {
		c := brief(t, tiny{name: "keep", faults: "disconnect=1", program: program}.scope(t), Every)
		if c.Outcome != Holds {
			t.Fatal(&c)
		}
		return c.Levels[len(c.Levels)-1].States
	}
	loop := func(p *engine.Process, keep func(env recipes.Env, kept ...any)) {
		for i := range 3 {
			p.Conn.Get("/d")
			keep(p.Env, i)
		}
	}
	nothing := func(recipes.Env, ...any) {}
	plain := states(func(p *engine.Process) { loop(p, nothing) })
	alone := states(func(p *engine.Process) { loop(p, recipes.Keep) })
	inside := states(func(p *engine.Process) {
		defer recipes.Forget(p.Env)()
		loop(p, recipes.Keep)
	})
	if alone != plain || inside >= plain {
		t.Errorf("%d states without Keep, %d with it alone, and %d behind Forget", plain, alone, inside)
	}
	goroutine := func(forget, keep func(env recipes.Env, kept ...any)) int {
		return states(func(p *engine.Process) {
			forget(p.Env)
			p.Env.Go("loop", func() { loop(p, keep) })
		})
	}
	forget := func(env recipes.Env, _ ...any) { recipes.Forget(env)() }
	if plain, alone := goroutine(nothing, nothing), goroutine(nothing, recipes.Keep); alone != plain {
		t.Errorf("%d states of a goroutine without Keep, %d with it alone", plain, alone)
	}
	if plain, kept := goroutine(forget, nothing), goroutine(forget, recipes.Keep); kept >= plain {
		t.Errorf("%d states of a goroutine started after Forget, %d if it says what it keeps", plain, kept)
	}
}
