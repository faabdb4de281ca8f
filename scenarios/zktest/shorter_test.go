package zktest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/scenarios"
	"zksim/scenarios/engine"
	"zksim/scenarios/zktest"
)

// answersInOrder has three clients make znodes, and says in which order they had an answer if a create has failed.
func answersInOrder(c *zktest.Cluster) {
	type answer struct {
		name string
		err  error
	}
	answers := make(chan answer)
	for _, name := range []string{"ann", "ben", "eve"} {
		conn := c.Connect()
		go func() {
			_, err := conn.Create("/"+name, nil, 0, open)
			answers <- answer{name, err}
		}()
	}
	failed := false
	var order []string
	for range 3 {
		x := <-answers
		failed, order = failed || x.err != nil, append(order, x.name)
	}
	if failed {
		c.Errorf("a create has failed, and the order was %s", strings.Join(order, " "))
	}
}

// shrinkEach makes the failures of the first seeds shorter, and hands on each.
func shrinkEach(
	t *testing.T, code func(c *zktest.Cluster), seeds uint64, each func(seed uint64, small *engine.Shrunk),
	options ...zktest.Option,
) {
	zktest.JudgedCode(t, code, func(_ scenarios.T, s scenarios.Scenario) {
		r := engine.NewRunner()
		defer r.Close()
		shrunk := 0
		for seed := uint64(1); seed <= seeds; seed++ {
			one := r.Seed(&s, seed)
			if one.Verdict.Checker == "" {
				continue
			}
			r.Names(&one)
			small, err := r.Shrink(t.Context(), &s, one.Schedule, engine.ShrinkOptions{})
			if err != nil {
				t.Fatal(err)
			}
			shrunk++
			each(seed, &small)
		}
		if shrunk == 0 {
			t.Error("no seed fails")
		}
	}, options...)
}

// TestWhomAnErrorNamesDoesNotMatterForAShorterRun has all failures come to the same few steps, whoever they are about.
func TestWhomAnErrorNamesDoesNotMatterForAShorterRun(t *testing.T) {
	const most = 3 // a connection, the request, and the fault
	shrinkEach(t, answersInOrder, 8, func(seed uint64, small *engine.Shrunk) {
		if n := len(small.Schedule.Names); n > most {
			t.Errorf("seed %d: %d steps, expected %d at most: %s, as %s", seed, n, most, small.Schedule.Names,
				small.Verdict.Message)
		}
	}, zktest.Faults("lose-request=2@op=create lose-reply=2@op=create"), zktest.Servers(1))
}

// remembers has a client believe for good what it has once read, unless it hears of a change.
func remembers(c *zktest.Cluster) {
	a, b := c.Connect(), c.Connect()
	again := func(f func() error) {
		for err := f(); err != nil && err != zk.ErrNodeExists; err = f() {
			time.Sleep(time.Second)
		}
	}
	again(func() error { _, err := a.Create("/x", nil, 0, open); return err })
	known, changed := int32(0), make(<-chan zk.Event)
	again(func() (err error) {
		var stat *zk.Stat
		if _, stat, changed, err = b.GetW("/x"); err == nil {
			known = stat.Version
		}
		return err
	})
	again(func() error { _, err := a.Set("/x", nil, -1); return err })
	c.AtRest()
	if len(changed) > 0 && (<-changed).Err == nil {
		known++
	}
	if known == 0 {
		c.Errorf("the client does not hear of the change")
	}
}

// TestTheEndOfASessionIsTriedInPlaceOfAllFaults has a watch that ends with its session, whatever has led to that.
func TestTheEndOfASessionIsTriedInPlaceOfAllFaults(t *testing.T) {
	shrinkEach(t, remembers, 100, func(seed uint64, small *engine.Shrunk) {
		if p := small.Schedule; len(p.Names) > 6 && len(p.Faults) > 1 {
			t.Errorf("seed %d: %d steps with %s", seed, len(p.Names), p.Faults)
		}
	}, zktest.Servers(1))
}

func TestHiddenLong(t *testing.T) {
	once(t, func(c *zktest.Cluster) { c.Errorf("%s", strings.Repeat("ä", 100_000)) })
}

func TestHiddenLongPanic(t *testing.T) {
	once(t, func(c *zktest.Cluster) {
		go func() { panic(strings.Repeat("ä", 100_000)) }()
		time.Sleep(time.Second)
	})
}

func TestALongErrorIsCut(t *testing.T) {
	for _, name := range []string{"Long", "LongPanic"} {
		out := runHidden(t, t.TempDir(), "TestHidden"+name, "-zksim.seeds", "1")
		expect(t, out, "ää... (2000", "ää… (2000", " bytes)")
		for line := range strings.Lines(out) {
			if len(line) > 5000 {
				t.Errorf("%s: a line of %d bytes", name, len(line))
			}
		}
	}
}

func TestHiddenManyLines(t *testing.T) {
	hidden(t)
	zktest.Run(t, func(c *zktest.Cluster) {
		c.Connect().Exists("/x")
		c.Errorf("\n%s", "\tError:      \tNot equal:\n\t            \texpected: 3\n\t            \tactual  : 2\n")
	})
}

// TestAnErrorOfManyLinesIsToldInOne has an error such as assertion libraries make.
func TestAnErrorOfManyLinesIsToldInOne(t *testing.T) {
	expect(t, runHidden(t, t.TempDir(), "TestHiddenManyLines"), "always: Error: Not equal: expected: 3 actual : 2\n")
}
