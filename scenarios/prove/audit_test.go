package prove

import (
	"context"
	"strings"
	"testing"

	"zksim/checkers"
	"zksim/model"
	"zksim/recipes"
	"zksim/scenarios/engine"
)

// remembering makes a scenario in which one client writes, and the other reads, lets
// time pass, and writes what use makes of it.
func remembering(name string, use func(p *engine.Process) string) *engine.Scenario {
	return &engine.Scenario{Name: "audit/" + name, Clients: 2, Checkers: []checkers.Checker{checkers.Steps{}},
		Setup: []model.Request{{Op: model.OpCreate, Path: "/d", Data: []byte("a"), ACL: world}},
		Program: func(p *engine.Process) {
			if p.ID == 1 {
				p.Conn.Set("/d", []byte("b"), -1)
				return
			}
			what := use(p)
			p.Conn.Exists("/e")
			p.Conn.Create("/"+what, nil, 0, world)
		}}
}

func read(p *engine.Process) string {
	data, _, _ := p.Conn.Get("/d")
	return string(data)
}

type box struct{ first, second string }

// keepers is code that tells the truth of what it keeps, and code that does not: of a result,
// of a loop, of an object, of what a goroutine was given.
var keepers = []struct {
	name string
	lies bool
	use  func(p *engine.Process) string
}{
	{"result", false, func(p *engine.Process) (what string) {
		defer recipes.Forget(p.Env)(&what)
		return read(p)
	}},
	{"no-result", true, func(p *engine.Process) (what string) {
		defer recipes.Forget(p.Env)()
		return read(p)
	}},
	{"length", false, func(p *engine.Process) string {
		n := 0
		func() {
			defer recipes.Forget(p.Env)(&n)
			n = len(read(p))
		}()
		return strings.Repeat("x", n)
	}},
	{"field", false, func(p *engine.Process) string {
		b := &box{}
		func() {
			defer recipes.Forget(p.Env)(b)
			b.second = read(p)
		}()
		return b.second
	}},
	{"other-field", true, func(p *engine.Process) string {
		b := &box{}
		func() {
			defer recipes.Forget(p.Env)(&b.first)
			b.second = read(p)
		}()
		return b.second
	}},
	{"loop", false, func(p *engine.Process) (what string) {
		defer recipes.Forget(p.Env)(&what)
		for range 2 {
			recipes.Keep(p.Env, &what)
			what += read(p)
		}
		return what
	}},
	{"loop-without-its-past", true, func(p *engine.Process) (what string) {
		defer recipes.Forget(p.Env)(&what)
		for range 2 {
			recipes.Keep(p.Env)
			what += read(p)
		}
		return what
	}},
	{"goroutine", false, func(p *engine.Process) string {
		defer recipes.Forget(p.Env)()
		what := read(p)
		tell := recipes.Forget(p.Env)
		p.Env.Go("writer", func() {
			p.Conn.Exists("/e")
			p.Conn.Create("/by-"+what, nil, 0, world)
		})
		tell(&what)
		return "x"
	}},
	{"goroutine-that-knows-more", true, func(p *engine.Process) string {
		defer recipes.Forget(p.Env)()
		what := read(p)
		p.Env.Go("writer", func() {
			p.Conn.Exists("/e")
			p.Conn.Create("/by-"+what, nil, 0, world)
		})
		return "x"
	}},
	{"channel-that-another-fills", false, func(p *engine.Process) string { return hear(p, true) }},
	{"channel-that-is-not-kept", true, func(p *engine.Process) string { return hear(p, false) }},
}

// hear looks three times whether a goroutine has told of a change; an honest one keeps whether that has told.
func hear(p *engine.Process, honest bool) (what string) {
	heard := make(chan bool, 1)
	p.Env.Go("teller", func() {
		if _, _, changed, err := p.Conn.GetW("/d"); err == nil {
			p.Env.Await(context.Background(), changed)
			heard <- true
		}
	})
	defer recipes.Forget(p.Env)(&what)
	for i := range 3 {
		if honest {
			recipes.Keep(p.Env, &i, &heard)
		} else {
			recipes.Keep(p.Env, &i)
		}
		p.Conn.Exists("/d")
		select {
		case <-heard:
			what = "x"
		default:
			what = "y"
		}
		p.Conn.Exists("/d")
	}
	return what
}

func TestAnAuditFindsWhoKeepsMoreThanItSays(t *testing.T) {
	for _, x := range keepers {
		sc := Scope{Scenario: remembering(x.name, x.use), Servers: 1, Order: 1, Most: -1}
		_, err := Prove(t.Context(), sc, Options{Reductions: Every, Audit: true, Workers: 1})
		if x.lies != (err != nil) {
			t.Errorf("%s: %v", x.name, err)
		}
		if err != nil && !strings.Contains(err.Error(), "serve c1, ") {
			t.Errorf("%s: no schedule: %v", x.name, err)
		}
		full := Every
		full.Forget = false
		with, err := Prove(t.Context(), sc, Options{Reductions: Every})
		without, err2 := Prove(t.Context(), sc, Options{Reductions: full})
		if err != nil || err2 != nil || with.Last.States > without.Last.States || x.name == "length" &&
			with.Last.States == without.Last.States {
			t.Errorf("%s: %d states, with all that was seen %d; %v, %v", x.name, with.Last.States, without.Last.States, err,
				err2)
		}
	}
}

// TestRecipesKeepNoMoreThanTheySay audits every scenario with as many faults as a few seconds
// allow.
func TestRecipesKeepNoMoreThanTheySay(t *testing.T) {
	closed, least := 0, budget(15, 20, 40)
	for i, s := range examined(t) {
		limit := budget(1_000, 2_000, 5_000)
		if s.Broken() {
			limit = 1_000
		}
		servers := smallest(s)
		if i%4 == 0 {
			servers = 3
		}
		r, err := Prove(t.Context(), Scope{Scenario: s, Servers: servers, Order: 1, Faults: plan(t, "disconnect=2 expire=1"),
			Most: -1, SlowWakes: i%4 == 2},
			Options{Reductions: Every, Audit: true, States: limit})
		if err != nil {
			t.Error(err)
		}
		closed += len(r.Levels)
	}
	if closed < least {
		t.Errorf("only %d searches were closed", closed)
	}
	t.Logf("%d searches", closed)
}

func TestAuditsThatMakeNoSenseAreRefused(t *testing.T) {
	for want, x := range map[string]struct {
		interleave bool
		o          Options
	}{
		"cannot be saved":       {false, Options{Reductions: Every, Audit: true, Checkpoint: "checkpoint"}},
		"without that":          {false, Options{Audit: true}},
		"when code interleaves": {true, Options{Reductions: Every, Audit: true}},
	} {
		sc := Scope{Scenario: remembering("nonsense", read), Servers: 1, Most: -1, Interleave: x.interleave}
		if _, err := Prove(t.Context(), sc, x.o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
}
