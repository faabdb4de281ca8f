package catalog

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"zksim/faults"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// requireSpin makes a missing spin an error.
const requireSpin = "ZKSIM_REQUIRE_SPIN"

// promelaModel is one of the models of docs/promela, and what it is a model of.
type promelaModel struct {
	name    string          // of the file, and with dashes of the recipe
	correct engine.Scenario // what the model without a flaw does; the faults are spin's to bound
	flaws   []promelaFlaw
}

// promelaFlaw is a flaw of a model: the macro, which is the name of the mutant, and
// the bounds within which spin finds it.
type promelaFlaw struct {
	macro, bounds string
	seedsOnly     bool // our exhaustive search needs more time than a test has
}

var promelaModels = []promelaModel{
	{"lock", lockScenario(engine.Scenario{Program: func(p *engine.Process) {
		l := newLock(p)
		if err := workload.LockOnce(p, p.Register(l.Znodes), l, 2, false); err != nil {
			p.Fail(err)
		}
	}}), []promelaFlaw{
		{macro: "PLAIN_CREATE", bounds: "-DN=2 -DLOSSES=1"},
		{macro: "NO_OWN_CHECK", bounds: "-DN=2 -DLOSSES=1 -DEXPIRIES=1"},
		{macro: "IGNORE_EXISTS", bounds: "-DN=2"},
	}},
	{"double_barrier", workload.BaseDoubleBarrier(engine.Scenario{Rounds: 1,
		Setup: doubleBarrierMutant(0, engine.Scenario{}, workload.Meeting{}).Setup},
		workload.Meeting{Stay: 1, Enter: workload.Limited, Leave: workload.Unlimited,
			NewBarrier: newDoubleBarrier(recipes.LeaveLowest)}),
		[]promelaFlaw{
			{macro: "COUNT_READY", bounds: "-DN=2"},
			{macro: "COUNT_ONLY", bounds: "-DN=2"},
			{macro: "LEAVE_ONCE", bounds: "-DN=3"},
			{macro: "WAIT_GONE", bounds: "-DN=2 -DLATE=1", seedsOnly: true},
		}},
	{"queue", queueScenario(engine.Scenario{Rounds: 1,
		Program: workload.Exchange(0, false, newQueue(recipes.QueueOptions{}))}), []promelaFlaw{
		{macro: "DELETE_LOST", bounds: "-DN=2 -DLOSSES=1"},
		{macro: "PUT_TWICE", bounds: "-DN=2 -DLOSSES=1"},
		{macro: "BLIND_WAIT", bounds: "-DN=2"},
	}},
}

// promelaBounds are the bounds within which the correct models hold, with the fault
// plan that says the same to the simulator.
var promelaBounds = []struct {
	flags   string
	clients int
	plan    string
}{
	{"-DN=2 -DLOSSES=1 -DEXPIRIES=1", 2, "lose-request=1 lose-reply=1 expire=1"},
	{"-DN=2 -DLATE=1", 2, "learn-late=1"},
}

// OurSearch is a way in which this module judges a scenario: it returns the names of
// the checkers that found something, none if the scenario holds.
type OurSearch struct {
	Name  string
	Judge func(t *testing.T, s *engine.Scenario, seeds uint64) []string
	// Bounded is set if mutants are to be searched within the bounds of spin.
	Bounded bool
}

// OurSearches are those by seeds and, from a test of another package, by exhaustion.
var OurSearches = []OurSearch{
	{Name: "seeds", Judge: func(t *testing.T, s *engine.Scenario, seeds uint64) []string {
		rep, err := engine.Run(t.Context(), s, engine.Options{Seeds: engine.Range{First: 1, Last: seeds},
			Strategy: engine.Portfolio})
		switch {
		case err != nil:
			t.Fatal(err)
		case rep.Status == engine.Caught || rep.Status == engine.Violation:
			return []string{rep.Failure.Verdict.Checker}
		case !unharmed(rep) && rep.Status != engine.Escaped:
			t.Fatalf("%s: %s", s.Name, rep.Why)
		}
		return nil
	}},
}

// The same protocols, written anew for another checker: what holds there holds
// here, and what is broken there is caught here, for the same reason.
func TestSpinAndOurSearchesAgree(t *testing.T) {
	spin := newSpin(t)
	for _, m := range promelaModels {
		for _, b := range promelaBounds {
			t.Run(m.name+strings.ReplaceAll(b.flags, " ", ""), func(t *testing.T) {
				if found := spin.verify(t, m.name, b.flags); len(found) > 0 {
					t.Errorf("spin finds %v violated", found)
				}
				s := m.correct
				s.Name, s.Clients, s.Servers, s.Faults = "promela/"+m.name, b.clients, []int{1}, faults.MustParse(b.plan)
				for _, search := range OurSearches {
					if found := search.Judge(t, &s, 500); len(found) > 0 {
						t.Errorf("%s: %v violated, and spin says that it holds", search.Name, found)
					}
				}
			})
		}
		for _, f := range m.flaws {
			t.Run(m.name+"/"+f.macro, func(t *testing.T) {
				s := Named(strings.ReplaceAll(m.name, "_", "-") + "/" + strings.ToLower(strings.ReplaceAll(f.macro, "_", "-")))
				found := spin.verify(t, m.name, f.bounds+" -D"+f.macro)
				for _, search := range OurSearches {
					if search.Bounded && f.seedsOnly {
						continue
					}
					if search.Bounded {
						s = within(t, s, f.bounds)
					}
					ours := search.Judge(t, s, 2000)
					if !slices.ContainsFunc(ours, func(c string) bool { return slices.Contains(found, c) }) {
						t.Errorf("%s of %s: %v violated, and spin finds %v", search.Name, s.Name, ours, found)
					}
				}
				documentsFlaw(t, m.name, f.macro, s.Notes().Number)
			})
		}
	}
}

// within returns a mutant's scenario in the bounds of a model.
func within(t *testing.T, s *engine.Scenario, bounds string) *engine.Scenario {
	t.Helper()
	macro := map[string]int{}
	for _, match := range regexp.MustCompile(`-D(\w+)=(\d+)`).FindAllStringSubmatch(bounds, -1) {
		macro[match[1]], _ = strconv.Atoi(match[2])
	}
	x, err := s.Sized(macro["N"], min(s.Rounds, 1))
	if err != nil {
		t.Fatal(err)
	}
	x.Faults = faults.MustParse(fmt.Sprintf("disconnect=%d expire=%d learn-late=%d", macro["LOSSES"], macro["EXPIRIES"],
		macro["LATE"]))
	return &x
}

// documentsFlaw makes sure that a model names the museum's number of a flaw.
func documentsFlaw(t *testing.T, model, macro string, row int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(promelaDir, model+".pml"))
	if err != nil {
		t.Fatal(err)
	}
	if want := regexp.MustCompile(fmt.Sprintf(`(?m)^ \*   %s +%d  `, macro, row)); !want.Match(text) {
		t.Errorf("%s.pml does not say that %s is number %d of the museum", model, macro, row)
	}
}

var promelaDir = filepath.Join("..", "..", "docs", "promela")

// spin is the model checker of that name.
type spin struct{ work string }

func newSpin(t *testing.T) *spin {
	t.Helper()
	for _, tool := range []string{"spin", "gcc"} {
		if _, err := exec.LookPath(tool); err == nil {
			continue
		}
		if os.Getenv(requireSpin) != "" {
			t.Fatalf("no %s in PATH, and %s asks for it", tool, requireSpin)
		}
		t.Skipf("no %s in PATH: the models in docs/promela are not verified; with %s=1 this is an error", tool, requireSpin)
	}
	return &spin{t.TempDir()}
}

var (
	assertion = regexp.MustCompile(`assertion violated (.*) \(at depth`)
	errorsAre = regexp.MustCompile(`errors: ([0-9]+)`)
)

// verify explores all of a model and returns the properties that are violated, by
// the names of our checkers. Anything else than the verdict on a property, such as
// a bound of the model that is too small, fails the test.
func (x *spin) verify(t *testing.T, model, flags string) []string {
	t.Helper()
	dir, err := os.MkdirTemp(x.work, model)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(promelaDir)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	run := func(name string, args ...string) string {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("spin", append(append([]string{"-a"}, strings.Fields(flags)...), model+".pml")...)
	// Unoptimized, it is compiled and run in less time than it takes to optimize.
	run("gcc", "-w", "-O0", "-DSAFETY", "-DCOLLAPSE", "-DMEMLIM=4000", "-o", "pan", "pan.c")
	out := run("./pan", "-E", "-c0", "-m1000000")
	count := errorsAre.FindStringSubmatch(out)
	if count == nil || strings.Contains(out, "Search not completed") ||
		strings.Contains(out, "max search depth too small") {
		t.Fatalf("spin did not explore %s %s to its end:\n%s", model, flags, out)
	}
	var found []string
	for _, match := range assertion.FindAllStringSubmatch(out, -1) {
		property, ok := strings.CutSuffix(match[1], "_holds")
		if !ok {
			t.Fatalf("%s %s: not a property: %s", model, flags, match[0])
		}
		if property = strings.ReplaceAll(property, "_", "-"); !slices.Contains(found, property) {
			found = append(found, property)
		}
	}
	if (count[1] == "0") != (len(found) == 0) {
		t.Fatalf("%s %s: errors: %s, and the properties violated are %v\n%s", model, flags, count[1], found, out)
	}
	t.Logf("%s %s: %v violated; %s", model, flags, found, regexp.MustCompile(`\d+ states, stored`).FindString(out))
	return found
}
