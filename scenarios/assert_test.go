package scenarios_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios"
	proofs "zksim/scenarios/prove"
)

// counting is a scenario in which each client adds 1 to a number; with lost says that it does not look at versions.
func counting(lossy bool, after func(p *scenarios.Process, n string)) scenarios.Scenario {
	return scenarios.Scenario{Name: "mine/count", Clients: 2, Rounds: 1,
		Setup: []scenarios.Request{scenarios.Mkdir("/n")},
		Program: func(p *scenarios.Process) {
			for done := false; !done; {
				data, stat, err := p.Conn.Get(p.Path("/n"))
				if err == nil {
					version := stat.Version
					if lossy {
						version = -1
					}
					_, err = p.Conn.Set(p.Path("/n"), append(data, 'x'), version)
					done = err == nil
				}
				if err != nil && err != zk.ErrBadVersion {
					p.Fail(err)
					return
				}
			}
			p.AtRest()
			data, _, err := p.Conn.Get(p.Path("/n"))
			if err != nil {
				p.Fail(err)
			}
			after(p, string(data))
		}}
}

// allCounted is an oracle in a few lines.
func allCounted(p *scenarios.Process, n string) {
	p.Always("every client is counted", len(n) == p.Clients)
	p.Sometimes("the number is 2", len(n) == 2)
}

func TestAnOracleOfAssertions(t *testing.T) {
	good := check(t, counting(false, allCounted), "1-50", "")
	if good.fatal != "" || !strings.Contains(good.logs, "goals      the number is 2 in 50 runs") {
		t.Errorf("the number that is not lost: %s%s", good.fatal, good.logs)
	}
	bad := check(t, counting(true, allCounted), "1-50", "")
	if !strings.Contains(bad.fatal, `always: "every client is counted" does not hold for c`) {
		t.Errorf("the number that is lost: %s", bad.fatal)
	}
	never := check(t, counting(false, func(p *scenarios.Process, n string) {
		p.Sometimes("a number is lost", len(n) < p.Clients)
	}), "1-500", "")
	if !strings.Contains(never.fatal, "no run had a number is lost") {
		t.Errorf("what never holds: %s", never.fatal)
	}
}

// TestAReportSaysHowACallHasEnded has calls that must end otherwise.
func TestAReportSaysHowACallHasEnded(t *testing.T) {
	s := scenarios.Scenario{Name: "my/calls", Clients: 1}
	for _, x := range []struct {
		path string
		wish error
		want string
	}{
		{"/none", nil, `"Delete succeeds" does not hold for c1, where it ends with "zk: node does not exist"`},
		{"/zookeeper", zk.ErrNoNode, `"Delete ends with \"zk: node does not exist\"" does not hold for c1, where it ` +
			`ends with "invalid arguments"`},
		{"/none", zk.ErrNoNode, ""},
	} {
		s.Program = func(p *scenarios.Process) { p.Ends("Delete", p.Conn.Delete(x.path, -1), x.wish) }
		f := check(t, s, "1-3", "")
		if held := f.fatal == ""; held != (x.want == "") || !held && (!strings.Contains(f.fatal, "always: "+x.want) ||
			!strings.Contains(f.fatal, "c1 sees that it does not hold: Delete ")) {
			t.Errorf("%s: %s", x.path, f.fatal)
		}
	}
}

func TestAnOracleByFinally(t *testing.T) {
	finally := func(h *history.History) error {
		for _, n := range h.Tree {
			if n.Path == "/n" && len(n.Data) != h.Clients {
				return fmt.Errorf("%d of %d clients are counted", len(n.Data), h.Clients)
			}
		}
		return nil
	}
	states := map[bool]int{}
	for i := range 4 {
		lossy, heedful := i%2 == 1, i/2 == 1
		s := counting(lossy, func(*scenarios.Process, string) {})
		if s.Finally = finally; heedful {
			s.Heeds = []string{}
		}
		if f := check(t, s, "1-50", ""); lossy != strings.Contains(f.fatal, "finally: 1 of 2 clients are counted") ||
			lossy != (f.fatal != "") {
			t.Errorf("lossy %t: %s%s", lossy, f.fatal, f.logs)
		}
		r := proveAll(t, s, proofs.Every)
		if lossy != (r.Outcome == proofs.Violated && r.Checker == "finally") || !lossy && r.Outcome != proofs.Holds {
			t.Errorf("lossy %t: %s", lossy, r.Certificate.String())
		}
		if !lossy {
			states[heedful] = r.Levels[0].States
		}
	}
	if states[true] >= states[false]/2 {
		t.Errorf("%d states where nothing is heeded, %d where everything is", states[true], states[false])
	}
}

// proveAll explores all schedules of a scenario without faults.
func proveAll(t *testing.T, s scenarios.Scenario, r proofs.Reductions) proofs.Result {
	t.Helper()
	sc, err := scenarios.Bounds{Faults: "disconnect=1", Most: 1}.Of(&s)
	if err != nil {
		t.Fatal(err)
	}
	sc.Faults = faults.MustParse("none")
	res, err := proofs.Prove(context.Background(), sc, proofs.Options{Reductions: r, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestAssertionsAreProved(t *testing.T) {
	for _, r := range []proofs.Reductions{{}, proofs.Every} {
		if x := proveAll(t, counting(false, allCounted), r); x.Outcome != proofs.Holds || len(x.Never) > 0 {
			t.Errorf("%v: the number that is not lost: never %q\n%s", r, x.Never, x.Certificate.String())
		}
		x := proveAll(t, counting(true, allCounted), r)
		if x.Outcome != proofs.Violated || x.Checker != "always" || !strings.Contains(x.Message, "every client is counted") {
			t.Errorf("%v: the number that is lost:\n%s", r, x.Certificate.String())
		}
		x = proveAll(t, counting(false, func(p *scenarios.Process, n string) {
			p.Sometimes("a number is lost", len(n) < p.Clients)
			p.Sometimes("a number is found", true)
		}), r)
		if x.Outcome != proofs.Holds || fmt.Sprint(x.Never) != "[a number is lost]" {
			t.Errorf("%v: what never holds is %q\n%s", r, x.Never, x.Certificate.String())
		}
	}
	f := prove(t, "", counting(false, func(p *scenarios.Process, n string) { p.Sometimes("a number is lost", false) }))
	if !strings.Contains(f.fatal, "no schedule within these bounds reaches: a number is lost") {
		t.Errorf("the test says %q", f.fatal)
	}
}

// TestAtRestIsAfterTimersAndFaults: who waits for rest goes on after all that others do, sleeps included, and after the
// end of the faults.
func TestAtRestIsAfterTimersAndFaults(t *testing.T) {
	s := scenarios.Scenario{Name: "mine/rest", Clients: 3, Servers: []int{1, 3},
		Faults: faults.Contract().Except("watch-delay", "cancel"),
		Program: func(p *scenarios.Process) {
			if p.ID > 1 {
				for range 5 {
					p.Env.Sleep(context.Background(), 1e12)
					p.Conn.Create(p.Path(fmt.Sprintf("/a%d", p.ID)), nil, zk.FlagSequence, zk.WorldACL(zk.PermAll))
				}
				return
			}
			p.AtRest()
			before, _, err := p.Conn.Children("/")
			p.AtRest()
			after, _, _ := p.Conn.Children("/")
			p.Always("nothing changes at rest", err != nil || len(before) == len(after))
			p.Sometimes("others have ended before", len(before) == 11) // and /zookeeper
		},
		Finally: func(h *history.History) error {
			calm := false
			for _, e := range h.Events {
				calm = calm || e.Kind == history.Calm
				if !calm && e.Kind == history.Call && e.Op == "children" {
					return fmt.Errorf("a client goes on before the faults are over")
				}
			}
			return nil
		}}
	if f := check(t, s, "1-300", ""); f.fatal != "" {
		t.Error(f.fatal)
	}
}

// Of a mutant an assertion counts if it is named in Caught, and is nobody's business else.
func TestAssertionsOfAMutant(t *testing.T) {
	s := counting(true, allCounted)
	s.Caught = []string{"always"}
	if f := check(t, s, "1-50", ""); f.fatal != "" || !strings.Contains(f.logs, "caught by always") {
		t.Errorf("%s%s", f.fatal, f.logs)
	}
	if r := proveAll(t, s, proofs.Every); r.Outcome != proofs.Violated || r.Checker != "always" {
		t.Error(r.Certificate.String())
	}
	s.Caught = []string{"finally"}
	s.Finally = func(h *history.History) error {
		if slices.ContainsFunc(h.Tree, func(n history.Node) bool { return n.Path == "/n" && len(n.Data) == 1 }) {
			return errors.New("one is lost")
		}
		return nil
	}
	if r := proveAll(t, s, proofs.Every); r.Outcome != proofs.Violated || r.Checker != "finally" {
		t.Error(r.Certificate.String())
	}
}

func TestPresetsAreProved(t *testing.T) {
	lock := scenarios.Lock("mine/lock", func(p *scenarios.Process) *recipes.Lock {
		return recipes.NewLock(p.Conn, p.Env, p.Path("/mine"), recipes.LockOptions{})
	})
	if f := prove(t, "", lock, scenarios.Bounds{Most: -1}); f.fatal != "" ||
		!strings.HasPrefix(f.logs, "holds: mine/lock") {
		t.Errorf("%s%s", f.fatal, f.logs)
	}
}
