package faults_test

import (
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"zksim/faults"
	"zksim/sim"
)

// drawPlan draws a plan that can be written down: paths hold no blanks and
// commas.
func drawPlan(t *rapid.T) faults.Plan {
	var p faults.Plan
	for range rapid.IntRange(0, 5).Draw(t, "rules") {
		f := rapid.SampledFrom(faults.Table).Draw(t, "fault")
		r := faults.Rule{Fault: f.Name, Budget: rapid.IntRange(0, 1<<31-1).Draw(t, "budget")}
		path := "/" + rapid.StringMatching(`[a-zA-Z0-9_=@./é-]{0,12}`).Draw(t, "path")
		switch f.Name {
		case "sequence":
			r.Aim.Path = path
		case "lose-request", "lose-reply", "late-commit", "deliver-close":
			r.Aim.Path = rapid.SampledFrom([]string{"", path}).Draw(t, "aimed path")
			r.Aim.Op = rapid.SampledFrom(append([]string{""}, faults.Ops...)).Draw(t, "op")
			r.Aim.Nth = rapid.IntRange(0, 9).Draw(t, "nth")
			fallthrough
		default:
			r.Aim.Client = rapid.IntRange(0, 65535).Draw(t, "client")
		}
		p = append(p, r)
	}
	return p
}

func TestAPlanIsReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		q, err := faults.Parse(p.String())
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		if !reflect.DeepEqual(p, q) {
			t.Fatalf("%s was read as %s", p, q)
		}
	})
}

func TestPlansHaveShortForms(t *testing.T) {
	for text, want := range map[string]string{
		"": "none", " none ": "none", "crash": "crash=1", "crash=0\tpause ": "crash=0 pause=1",
		"contract":                          faults.Contract().String(),
		" contract crash=3 ":                faults.Contract().String() + " crash=3",
		"sequence@path=/a contract":         "sequence=1@path=/a " + faults.Contract().String(),
		"lose-reply@nth=2,op=create":        "lose-reply=1@op=create,nth=2",
		"pause=3@client=c2 pause@client=c2": "pause=3@client=c2 pause=1@client=c2",
	} {
		p, err := faults.Parse(text)
		if err != nil || p.String() != want {
			t.Errorf("%q is %s, %v; want %s", text, p, err, want)
		}
	}
	if faults.Plan(nil).String() != "none" {
		t.Error("the empty plan is not none")
	}
}

func TestAMalformedPlanSaysWhatWasExpected(t *testing.T) {
	const number = "the budget must be a number from 0 to 2147483647, not "
	for text, want := range map[string]string{
		"lose":                           `fault plan: "lose": no such fault; there are lose-request, `,
		"lose-replies":                   `, none and contract; did you mean lose-reply?`,
		"none crash":                     `fault plan: "none": it is a plan of its own, expected no other rule beside it`,
		"crash contract=2":               `fault plan: "contract=2": contract has neither a budget nor an aim: add another `,
		"crash=":                         `fault plan: "crash=": ` + number + `""`,
		"crash=-1":                       `fault plan: "crash=-1": ` + number + `"-1"`,
		"crash=2147483648":               `fault plan: "crash=2147483648": ` + number + `"2147483648"`,
		"crash=x":                        number + `"x"`,
		"crash@":                         `or nth=N, and on a real ensemble leader, follower, all, s1, s2, s3, not ""`,
		"crash@client":                   `client must be c1, c2, ..., not ""`,
		"crash@client=1":                 `client must be c1, c2, ..., not "1"`,
		"crash@client=c0":                `client must be c1, c2, ..., not "c0"`,
		"crash@client=c65536":            `client must be c1, c2, ..., not "c65536"`,
		"crash@client=c1,client=c2":      "client is given twice",
		"crash@op=create":                "crash strikes no request, so it can be aimed by client only",
		"pause@nth=1":                    "pause strikes no request, so it can be aimed by client only",
		"lose-reply@op=":                 `op must be one of create, `,
		"lose-reply@op=craete":           `, not "craete"`,
		"lose-reply@path=x":              `path must start with /, not "x"`,
		"lose-reply@nth=0":               `nth must be 1 or more, not "0"`,
		"lose-reply@nth=two":             `nth must be 1 or more, not "two"`,
		"lose-reply@op=create@op=create": `, not "create@op=create"`,
		"lose-reply@,":                   `not ""`,
		"lose-reply@end=rst":             "end=rst is for real connections (simrun serve, zktest.Start)",
		"lose-reply@end=x":               `end must be one of fin, rst, torn, not "x"`,
		"sequence":                       "sequence needs exactly one aim, path=ZNODE",
		"sequence@path=/a,client=c1":     "sequence needs exactly one aim, path=ZNODE",
	} {
		p, err := faults.Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %s, %v; want an error with %q", text, p, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"none", "contract", "crash=2@client=c1", "lose-reply=3@op=create,path=/lock,nth=2",
		"sequence=9@path=/q", "a@=,"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := faults.Parse(s)
		if err != nil {
			return
		}
		q, err := faults.Parse(p.String())
		if err != nil || !slices.Equal(p, q) {
			t.Fatalf("%q is %s, which is read as %s, %v", s, p, q, err)
		}
		in := &faults.Injector{}
		in.Reset(p)
	})
}

func TestASwarmIsASubsetWithSmallerBudgets(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	full, err := faults.Parse("crash=5 pause=3 disconnect=0 expire=1 sequence=7@path=/q")
	if err != nil {
		t.Fatal(err)
	}
	seen, budgets := map[string]int{}, map[int]bool{}
	for range 1000 {
		next := 0
		for _, r := range full.SwarmInto(nil, 3, rng.Uint64) {
			for full[next].Fault != r.Fault {
				next++ // in the order of the plan
			}
			switch r.Fault {
			case "sequence":
				if r != full[next] {
					t.Fatalf("%v was changed to %v", full[next], r)
				}
			case "crash":
				budgets[r.Budget] = true
				fallthrough
			default:
				if r.Budget < 1 || r.Budget > full[next].Budget {
					t.Fatalf("%v was drawn from %v", r, full[next])
				}
			}
			seen[r.Fault]++
		}
	}
	if seen["disconnect"] != 0 || len(budgets) != 5 {
		t.Errorf("seen %v, budgets of crash %v", seen, budgets)
	}
	for _, name := range []string{"crash", "pause", "expire", "sequence"} {
		if n := seen[name]; n < 400 || n > 600 {
			t.Errorf("%s is in %d of 1000 swarms, want about half", name, n)
		}
	}
	prefix := faults.Plan{{Fault: "zombie", Budget: 1}}
	if got := full.SwarmInto(prefix, 3, rng.Uint64); got[0] != prefix[0] {
		t.Error("SwarmInto drops what was there")
	}
}

// What libraries of other languages do, and clocks that differ, are in no plan but those that name them.
func TestTheContractIsEveryFaultThatIsATransition(t *testing.T) {
	p := append(faults.Contract(), faults.Connections()...)
	if len(p) != len(faults.Table)-3 {
		t.Errorf("%d rules for %d faults", len(p), len(faults.Table))
	}
	for _, r := range p {
		if r.Budget != 2 || r.Aim != (faults.Aim{}) || slices.Contains([]string{"sequence", "lost-early", "skew"}, r.Fault) {
			t.Errorf("rule %v", r)
		}
	}
}

// twice makes two requests at once, from two coroutines.
func twice(s *script, c *sim.Client) {
	c.Env().Go("x", func() {
		_, _, err := c.Conn().Get("/d")
		s.say("x %v", err)
		c.Conn().Set("/d", nil, -1)
	})
	_, _, err := c.Conn().Exists("/d")
	s.say("m %v", err)
	_, _, _, err = c.Conn().ChildrenW("/d")
	s.say("m %v", err)
}

func TestRulesStrikeOnlyWhatTheyAreAimedAt(t *testing.T) {
	first := []string{"run c1", "run c1/x", "connect c1 s1"} // exists, then get
	second := append(slices.Clone(first), "serve c1", "serve c1", "deliver c1", "deliver c1", "serve c1")
	for _, x := range []struct {
		plan     string
		lines    []string
		possible bool
	}{
		{"lose-request@op=exists", first, true},
		{"lose-request@op=existsW", first, false},
		{"lose-request@op=get", first, false}, // not the oldest
		{"lose-request@client=c1", first, true},
		{"lose-request@client=c2", first, false},
		{"lose-request@path=/d", first, true},
		{"lose-request@path=/", first, true},
		{"lose-request@path=/d/x", first, false},
		{"lose-request@nth=1", first, true},
		{"lose-request@nth=2", first, false}, // that is the get behind it
		{"lose-request@op=get,nth=1", append(slices.Clone(first), "serve c1"), true},
		{"lose-request@nth=2", append(slices.Clone(first), "serve c1"), true},
		{"lose-request@nth=3", append(slices.Clone(first), "serve c1", "serve c1", "deliver c1"), true},
		{"lose-reply@op=children", second, true},
		{"lose-reply@op=childrenW", second, true},
		{"lose-reply@op=set", append(slices.Clone(second), "deliver c1", "serve c1"), true},
		{"lose-reply@op=set,nth=1", append(slices.Clone(second), "deliver c1"), true}, // it would be served first
		{"lose-request=0", first, false},
		{"lose-request=0 lose-request@client=c1", first, true},
	} {
		name := strings.FieldsFunc(x.plan, func(r rune) bool { return r == '@' || r == '=' })[0] + " c1"
		sign := map[bool]string{true: "+ ", false: "- "}[x.possible]
		t.Run(x.plan, func(t *testing.T) { play(t, 1, x.plan, append(slices.Clone(x.lines), sign+name), twice, nothing) })
	}
}

func TestARequestThatIsGivenUpIsStillTheNth(t *testing.T) {
	program := func(s *script, c *sim.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		c.OnInterrupt(ctx, cancel)
		c.Env().Within(ctx, func() { c.Conn().Set("/d", nil, -1) })
		c.Conn().Get("/d")
	}
	lines := []string{"run c1", "connect c1 s1", "cancel c1", "run c1", "+ lose-request c1", "lose-request c1",
		"- lose-request c1"}
	play(t, 1, "lose-request=2@op=set,nth=1 cancel", lines, program, nothing)
}

func TestTheRequestsOfTheLibraryAreCountedToo(t *testing.T) {
	program := func(s *script, c *sim.Client) {
		c.Conn().GetW("/d")
		c.Conn().Exists("/d")
	}
	again := []string{"disconnect c1", "round c1", "connect c1 s1"}
	lines := slices.Concat([]string{"run c1", "connect c1 s1", "serve c1", "deliver c1"}, again,
		[]string{"- lose-request c1"}, again, []string{"+ lose-request c1", "lose-request c1"})
	play(t, 1, "lose-request=1@op=setWatches,nth=2 disconnect=2", lines, program, nothing)
}

func TestABudgetIsSpentRuleByRule(t *testing.T) {
	again := []string{"+ disconnect c1", "+ disconnect c2", "disconnect c1", "round c1", "connect c1 s1"}
	lines := append([]string{"connect c1 s1", "connect c2 s1"}, again...)
	lines = append(append(lines, again...), again...)
	lines = append(lines, "- disconnect c1", "- disconnect c2")
	program := func(s *script, c *sim.Client) { c.Env().Sleep(t.Context(), time.Hour) }
	play(t, 1, "disconnect=2@client=c1 disconnect", lines, program, program)
}

// TestRulesShareWhatSeveralAllow has faults that can all happen only if the first counts for the second rule.
func TestRulesShareWhatSeveralAllow(t *testing.T) {
	sleep := func(s *script, c *sim.Client) { c.Env().Sleep(t.Context(), time.Hour) }
	play(t, 1, "disconnect disconnect@client=c1", []string{"connect c1 s1", "connect c2 s1", "disconnect c1", "round c1",
		"connect c1 s1", "+ disconnect c1", "+ disconnect c2", "disconnect c2", "round c2", "connect c2 s1",
		"- disconnect c1", "- disconnect c2"}, sleep, sleep)
	ask := func(s *script, c *sim.Client) {
		c.Conn().Exists("/d")
		c.Conn().Get("/d")
		c.Conn().Get("/d")
	}
	again := []string{"+ lose-request c1", "lose-request c1", "round c1", "run c1", "connect c1 s1"}
	lines := slices.Concat([]string{"run c1", "connect c1 s1"}, again, again, []string{"- lose-request c1"})
	for _, plan := range []string{"lose-request lose-request@op=exists", "lose-request@client=c1 lose-request@op=exists",
		"lose-request@op=exists lose-request@path=/d"} {
		t.Run(plan, func(t *testing.T) { play(t, 1, plan, lines, ask) })
	}
}

// TestARuleIsPossibleWhileAnotherAllowsTheSame has a second rule that is never needed.
func TestARuleIsPossibleWhileAnotherAllowsTheSame(t *testing.T) {
	p := faults.MustParse("disconnect=2 disconnect@client=c1 disconnect@client=c2")
	w, in := sim.NewWorld(), &faults.Injector{}
	t.Cleanup(w.Close)
	in.Reset(p)
	w.Reset(sim.Config{Clients: 2, Servers: 1}, in, func(c *sim.Client) { c.Env().Sleep(t.Context(), time.Hour) })
	err := w.Run(&script{t: t, lines: []string{"connect c1 s1", "connect c2 s1", "disconnect c1"}})
	want := []faults.Strike{{Times: 1, Possible: true}, {Possible: true}, {Possible: true}}
	if got := in.Struck(nil, p, w.History); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, expected %v", got, err, want)
	}
}

func TestAFaultCountsOnlyForARuleThatEndsTheConnectionInItsWay(t *testing.T) {
	p, err := faults.ParseServed("disconnect=1@end=rst disconnect=1@end=fin")
	if err != nil {
		t.Fatal(err)
	}
	w, in := sim.NewWorld(), &faults.Injector{}
	t.Cleanup(w.Close)
	in.Reset(p)
	w.Reset(sim.Config{Clients: 2, Servers: 1}, in, func(c *sim.Client) { c.Env().Sleep(t.Context(), time.Hour) })
	var ends []string
	again := func(t sim.Transition) { ends = append(ends, in.Ending(w, t)) }
	s := &script{t: t, lines: []string{"connect c1 s1", "connect c2 s1", "disconnect c1", "disconnect c2"}}
	if err := w.Run(watched{s, again}); err != nil || !slices.Equal(ends, []string{faults.EndByReset, faults.EndInOrder}) {
		t.Errorf("%v, %v", ends, err)
	}
}

// watched is a script whose faults something is called with before they happen.
type watched struct {
	*script
	before func(sim.Transition)
}

// Choose implements [sim.Chooser].
func (x watched) Choose(w *sim.World) (sim.Transition, bool, error) {
	t, ok, err := x.script.Choose(w)
	if ok && t.Kind >= sim.FirstFault {
		x.before(t)
	}
	return t, ok, err
}

func TestAPlanForRealConnectionsSaysHowTheyEnd(t *testing.T) {
	const text = "lose-reply=1@client=c2,op=addWatch,nth=3,end=torn disconnect=1@end=rst"
	p, err := faults.ParseServed(text)
	if err != nil || p[0].Aim.End != faults.EndTorn || p.String() != text {
		t.Errorf("%s, %v", p, err)
	}
}
