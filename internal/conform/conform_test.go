package conform

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"zksim/model"
	"zksim/sim"
)

// paired is a bench on which the simulator is compared with itself, in another
// world and with other choices where ZooKeeper leaves one. The first is seen
// through wrap.
func paired(t testing.TB, servers int, wrap func(side) side) *bench {
	a, b := sim.NewWorld(), sim.NewWorld()
	t.Cleanup(a.Close)
	t.Cleanup(b.Close)
	return &bench{world: b, name: "/conform", sides: func(root string) (side, side, error) {
		return wrap(newSimSide(a, servers, model.ZooKeeper, root)), newSimSide(b, servers, model.ZooKeeper, root), nil
	}}
}

func honest(s side) side { return s }

func run(t *testing.T, b *bench, s script) *Sequence {
	t.Helper()
	q, err := b.run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func sequenceOf(seed uint64, servers int) *generated {
	return &generated{newGenerator(newDice(seed), servers, true), sequenceOps}
}

func TestTheSimulatorAgreesWithItselfAndSequencesReachTheTable(t *testing.T) {
	for _, servers := range []int{1, 3} {
		b := paired(t, servers, honest)
		c := Coverage{}
		steps, succeeded := 0, 0
		const sequences = 340 // 20,000 operations
		for seed := range uint64(sequences) {
			q := run(t, b, sequenceOf(seed, servers))
			for _, d := range q.Differences {
				t.Errorf("%d servers, seed %d: %v: %v", servers, seed, q.Steps[d.Step].Op, d)
			}
			for _, s := range q.Steps {
				if steps++; s.Real.Err == "" {
					succeeded++
				}
			}
			c.sequence(q)
		}
		if rate := 100 * succeeded / steps; rate < 70 || rate > 92 {
			t.Errorf("%d%% of the operations succeed, want about 80", rate)
		}
		const wanted = 95
		if reached, all := c.reached(); 100*reached < wanted*all || len(c.surprises()) > 0 {
			var table strings.Builder
			c.Write(&table)
			t.Errorf("%d servers: want %d%% of the table and no surprises:\n%s", servers, wanted, table.String())
		}
	}
}

func TestASequenceIsAFunctionOfItsSeed(t *testing.T) {
	b := paired(t, 1, honest)
	text := func(seed uint64) string {
		q := run(t, b, sequenceOf(seed, 1))
		var w bytes.Buffer
		if err := q.Write(&w, seed, 1); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(w.String(), q.Root) {
			t.Errorf("the name of the root, which changes, is in the transcript")
		}
		return w.String()
	}
	if text(5) != text(5) {
		t.Error("two sequences of one seed differ")
	}
	if text(5) == text(6) {
		t.Error("the sequences of two seeds are the same")
	}
}

// zeros always makes the first choice, ones that are shrunk to nothing by rapid.
type zeros struct{}

func (zeros) IntN(int) int { return 0 }

// last always makes the last choice.
type last struct{}

func (last) IntN(n int) int { return n - 1 }

func TestTheGeneratorEndsWhateverTheChoices(t *testing.T) {
	for _, source := range []Source{zeros{}, last{}} {
		q := run(t, paired(t, 1, honest), &generated{newGenerator(source, 1, false), 3 * sequenceOps})
		if len(q.Steps) != 3*sequenceOps || len(q.Differences) > 0 {
			t.Errorf("%T: %d steps, %v", source, len(q.Steps), q.Differences)
		}
	}
}

func TestWithoutAKnownAddressNoACLDependsOnIt(t *testing.T) {
	b := paired(t, 1, honest)
	for seed := range uint64(50) {
		q := run(t, b, &generated{newGenerator(newDice(seed), 1, false), sequenceOps})
		for _, s := range q.Steps {
			for _, o := range append(s.Op.Ops, s.Op) {
				if slices.Contains(addressACLs, o.ACL) {
					t.Fatalf("seed %d: %v", seed, o)
				}
			}
		}
	}
}

// liar changes the outcomes of a side.
type liar struct {
	side
	lie func(o *Op, out *Outcome)
}

func (l liar) do(ctx context.Context, step int, o *Op) (Outcome, error) {
	out, err := l.side.do(ctx, step, o)
	l.lie(o, &out)
	return out, err
}

func TestADifferenceIsFoundShrunkAndWritten(t *testing.T) {
	// Wrong is the second version of data that its reader watches for.
	b := paired(t, 1, func(s side) side {
		return liar{s, func(o *Op, out *Outcome) {
			if o.Kind == Set && out.Stat != nil && out.Stat.Version == 2 && len(out.Fired) > 0 {
				out.Stat.Version = 7
			}
		}}
	})
	for seed := range uint64(200) {
		q := run(t, b, sequenceOf(seed, 1))
		if len(q.Differences) == 0 {
			continue
		}
		f, err := b.minimize(t.Context(), q, seed)
		if err != nil {
			t.Fatal(err)
		}
		if !f.Repeated || f.Original != len(q.Steps) {
			t.Errorf("%+v", f)
		}
		// One client, perhaps another that watches, a znode, two versions, a
		// watch: the last of these differs.
		if len(f.Steps) > 7 || f.Steps[len(f.Steps)-1].Op.Kind != Set {
			t.Errorf("not minimal: %v", f.ops())
		}
		want := Difference{len(f.Steps) - 1, "stat.version", "7", "2"}
		if len(f.Differences) != 1 || f.Differences[0] != want {
			t.Errorf("got %v, want %v", f.Differences, want)
		}
		checkTranscript(t, f)
		return
	}
	t.Fatal("no difference found")
}

// checkTranscript reads a written failure as somebody else would.
func checkTranscript(t *testing.T, f Failure) {
	t.Helper()
	var w bytes.Buffer
	if err := f.Write(&w, f.Seed, 1); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(w.String()), "\n")
	if len(lines) != 1+len(f.Steps) {
		t.Fatalf("%d lines for %d steps", len(lines), len(f.Steps))
	}
	type outcome struct{ Stat struct{ V int } }
	var last struct {
		I                    int
		S, Op                string
		ZooKeeper, Simulator outcome
		Differ               []string
	}
	for _, line := range lines {
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	if last.I != len(f.Steps)-1 || last.Op != "set" || last.S == "" || last.ZooKeeper.Stat.V != 7 ||
		last.Simulator.Stat.V != 2 ||
		!slices.Equal(last.Differ, []string{"stat.version"}) {
		t.Errorf("last line: %s", lines[len(lines)-1])
	}
}

func TestADifferenceThatDoesNotComeBackIsSaidToBeOne(t *testing.T) {
	lies := 1
	b := paired(t, 1, func(s side) side {
		return liar{s, func(o *Op, out *Outcome) {
			if o.Kind == Create && lies > 0 {
				lies--
				out.Err = "a blue moon"
			}
		}}
	})
	q := run(t, b, sequenceOf(1, 1))
	f, err := b.minimize(t.Context(), q, 1)
	if err != nil || len(q.Differences) == 0 || f.Repeated || len(f.Steps) != len(q.Steps) {
		t.Errorf("%v, %+v", err, f)
	}
}

func TestShrinkingKeepsWhatIsNeeded(t *testing.T) {
	var ops []Op
	for i := range 60 {
		ops = append(ops, Op{Session: 1 + i%maxClients, Server: i, Kind: Sync})
	}
	ops[30] = Op{Session: 7, Server: 30, Kind: Multi, Ops: []Op{{Kind: Set}, {Kind: Delete}, {Kind: Check}}}
	tries := 0
	fails := func(list []Op) bool {
		tries++
		has := map[int]bool{}
		for _, o := range list {
			has[o.Server] = true
			if o.Kind == Multi && !slices.ContainsFunc(o.Ops, func(o Op) bool { return o.Kind == Delete }) {
				return false
			}
		}
		return has[3] && has[30] && has[59]
	}
	short := shrink(ops, 200, fails)
	if len(short) != 3 || len(short[1].Ops) != 1 || short[1].Ops[0].Kind != Delete || !fails(short) {
		t.Errorf("got %v", short)
	}
	for _, o := range short {
		if o.Session != 1 {
			t.Errorf("client %d is not needed", o.Session)
		}
	}
	if len(ops[30].Ops) != 3 || ops[30].Session != 7 {
		t.Error("the original was changed")
	}
	tries = 0
	if short := shrink(ops, 5, fails); tries != 5 || !fails(short) {
		t.Errorf("%d tries, want 5; got %v", tries, short)
	}
	if short := shrink(nil, 5, fails); len(short) != 0 {
		t.Errorf("got %v", short)
	}
}

func TestOperationsThatMakeNoSenseAreLeftOut(t *testing.T) {
	ops := []Op{
		{Session: 1, Kind: Get, Path: "/"}, {Session: 1, Kind: Reconnect}, {Session: 0, Kind: Open},
		{Session: 99, Kind: Open},
		{Session: 1, Kind: Open}, {Session: 1, Kind: Open}, {Session: 1, Kind: Cut}, {Session: 1, Kind: Get, Path: "/"},
		{Session: 1, Kind: Close}, {Session: 1, Kind: Reconnect}, {Session: 1, Kind: Get, Path: "/"},
		{Session: 1, Kind: Expire},
		{Session: 1, Kind: Expire},
	}
	q := run(t, paired(t, 1, honest), &fixed{ops: ops})
	var got []Kind
	for _, s := range q.Steps {
		got = append(got, s.Op.Kind)
	}
	want := []Kind{Open, Cut, Close, Get, Expire}
	if !slices.Equal(got, want) || len(q.Differences) > 0 {
		t.Errorf("got %v, want %v; %v", got, want, q.Differences)
	}
}
