package prove

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"zksim/model"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// halfway leaves a checkpoint of a search that was interrupted, and returns its file.
func halfway(t *testing.T, sc Scope) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "checkpoint")
	r, err := Prove(t.Context(), sc, Options{Reductions: Every, Checkpoint: file, States: 5000})
	if err != nil || r.Outcome != Inconclusive {
		t.Fatalf("%+v, %v", r.Certificate, err)
	}
	return file
}

// refused reports whether a search with that checkpoint fails, and says why.
func refused(t *testing.T, sc Scope, file, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := Prove(ctx, sc, Options{Reductions: Every, Checkpoint: file})
	if err == nil || !strings.HasPrefix(err.Error(), "checkpoint: ") || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

func TestDamagedCheckpointsAreRefused(t *testing.T) {
	sc := about(t, "queue/claims", "disconnect=1", -1)
	file := halfway(t, sc)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 40 {
		bad := bytes.Clone(good)
		switch i % 3 {
		case 0:
			bad = bad[:random.IntN(len(bad))]
		case 1:
			bad[random.IntN(len(bad))] ^= 1 << random.IntN(8)
		case 2:
			bad = append(bad, byte(i))
		}
		write(t, file, bad)
		refused(t, sc, file, "is not a complete zksim checkpoint 14")
	}
	refused(t, sc, filepath.Dir(file), "is not a complete")
	refused(t, sc, filepath.Join(file, "below"), "not a directory")
}

func write(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// The checksum fits, what is said does not.
func TestCheckpointsWhosePartsDoNotFitAreRefused(t *testing.T) {
	sc := about(t, "queue/claims", "disconnect=1", -1)
	file := halfway(t, sc)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		want   string
		change func(c *checkpoint)
	}{
		{"is not a complete", func(c *checkpoint) { c.Format = "zksim checkpoint 0" }},
		{"is of another search", func(c *checkpoint) { c.Claim.Clients = 3 }},
		{"is of other code", func(c *checkpoint) { c.Code += 2 }},
		{"damaged: 63 shards", func(c *checkpoint) { c.Known = c.Known[:63] }},
		{"damaged: shard 0", func(c *checkpoint) { // of another shard
			c.Known[0] = append(c.Known[0], fingerprint{1 << 63})
		}},
		{"damaged: shard 5", func(c *checkpoint) {
			c.Known[5] = append(c.Known[5], fingerprint{5<<58 | 7}, fingerprint{5<<58 | 7})
		}},
		{"damaged: shard 1", func(c *checkpoint) { // with what belongs in another one
			i := 2 + slices.IndexFunc(c.Known[2:], func(all []fingerprint) bool { return len(all) > 0 })
			c.Known[1], c.Known[i] = c.Known[i], c.Known[1]
		}},
		{"damaged: point 0", func(c *checkpoint) { c.Points[0].Parent = 0 }},
		{"damaged: point 1", func(c *checkpoint) { c.Points[1].Parent = len(c.Points) }},
		{"damaged: point 1", func(c *checkpoint) { c.Points[1].Parent = -2 }},
		{"damaged: point 2", func(c *checkpoint) { c.Points[2].By = sim.Transition{Kind: sim.Serve, Client: 9} }},
		{"damaged: point 2", func(c *checkpoint) { c.Points[2].By.Kind = 200 }},
		{"damaged: edge 0", func(c *checkpoint) { c.Edges[0].From = len(c.Points) }},
		{"damaged: edge 0", func(c *checkpoint) { c.Edges[0].From = -2 }},
		{"damaged: edge 0", func(c *checkpoint) { c.Edges[0].By.Kind = 31 }},
	} {
		var c checkpoint
		if err := gob.NewDecoder(bytes.NewReader(good)).Decode(&c); err != nil {
			t.Fatal(err)
		}
		x.change(&c)
		var out bytes.Buffer
		if err := gob.NewEncoder(&out).Encode(&c); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(out.Bytes())
		write(t, file, append(out.Bytes(), sum[:]...))
		refused(t, sc, file, x.want)
	}
}

// A colleague or another job may go on from it.
func TestTheUmaskDecidesWhoMayReadACheckpoint(t *testing.T) {
	file := halfway(t, about(t, "queue/claims", "disconnect=1", -1))
	write(t, file+".usual", nil)
	is, err := os.Stat(file)
	usual, other := os.Stat(file + ".usual")
	if err := errors.Join(err, other); err != nil {
		t.Fatal(err)
	}
	if is.Mode() != usual.Mode() {
		t.Errorf("the checkpoint has mode %v, other files have %v", is.Mode(), usual.Mode())
	}
}

func TestACheckpointIsOfOneScopeAndOneProgram(t *testing.T) {
	sc := about(t, "queue/claims", "disconnect=1", -1)
	file := halfway(t, sc)
	other := sc
	other.Order++
	refused(t, other, file, "is of another search, queue/claims with 2 clients, ")
	refused(t, other, file, ", order 2, all reductions, checkers lost-item,")
	other = sc
	changed := *sc.Scenario
	changed.Program = func(p *engine.Process) { p.Step(); sc.Scenario.Program(p) }
	other.Scenario = &changed
	refused(t, other, file, "is of other code")
}

// TestTheCodeOfACheckpointIsThatWhichRan builds the program again while a search goes on.
func TestTheCodeOfACheckpointIsThatWhichRan(t *testing.T) {
	defer func(was func() uint64) { program = was }(program)
	var file atomic.Uint64 // a hash of the executable
	starts := func() { program = sync.OnceValue(file.Load) }
	sc := tiny{name: "built-again", program: func(p *engine.Process) {
		file.Store(2)
		p.Conn.Get("/d")
	}}.scope(t)
	o := Options{Reductions: Every, Checkpoint: filepath.Join(t.TempDir(), "checkpoint"), States: 3}
	file.Store(1)
	starts()
	if r := certify(t, sc, o); !r.Limited {
		t.Fatalf("%v, expected a limit", &r.Certificate)
	}
	starts()
	refused(t, sc, o.Checkpoint, "is of other code")
}

func TestCertificatesComeBackAsTheyWereWritten(t *testing.T) {
	keeper := about(t, "lock/single-node", "disconnect=1", -1)
	keeper.Scenario.Like = model.Keeper
	for _, sc := range []Scope{about(t, "lock/lock", "", 0), about(t, "lock/plain-create", "lose-reply=1", -1), keeper} {
		want := certify(t, sc, Options{Reductions: Every}).Certificate
		var b bytes.Buffer
		if err := want.Write(&b); err != nil {
			t.Fatal(err)
		}
		got, err := ReadCertificate(bytes.NewReader(b.Bytes()))
		if err != nil || got.String() != want.String() || want.Differs(&got) != "" {
			t.Errorf("%v\n%v\n%v", err, &got, &want)
		}
		back, err := got.Scope(catalog.All)
		if err != nil {
			t.Fatal(err)
		}
		if again := certify(t, back, Options{Reductions: want.Reductions,
			Reverse: true}); want.Differs(&again.Certificate) != "" {
			t.Error(want.Differs(&again.Certificate))
		}
		for _, change := range []func(c *Certificate){
			func(c *Certificate) { c.Levels = nil; c.Struck++ },
			func(c *Certificate) { c.Levels = append(c.Levels, Level{}) },
			func(c *Certificate) { c.Levels = []Level{{States: 1}} },
			func(c *Certificate) { c.Outcome = Inconclusive },
			func(c *Certificate) { c.Clients++ },
			func(c *Certificate) { c.Why = "a random run" },
			func(c *Certificate) { c.Idle = append(slices.Clone(c.Idle), "tree has nothing to judge here") },
			func(c *Certificate) { c.Like += "?" },
		} {
			other := want
			if change(&other); want.Differs(&other) == "" {
				t.Errorf("no difference to %+v", other)
			}
		}
	}
}

// A search that runs all paths again goes on from a checkpoint, whoever has written that. So does one with clients that
// dial again.
func TestASearchThatRunsAllPathsGoesOnFromACheckpoint(t *testing.T) {
	for n := range 4 {
		dials, rerun := n/2, n%2 == 0
		sc := tiny{name: "dials", faults: "disconnect=1", program: func(p *engine.Process) {
			p.Conn.Set("/d", nil, -1)
			if dials > 0 && p.ID == 1 {
				p, _ = p.Dial()
			}
			p.Conn.Get("/d")
		}}.scope(t)
		sc.Scenario.Dials = dials
		want := certify(t, sc, Options{Reductions: Every}).Certificate
		o := Options{Reductions: Every, Checkpoint: filepath.Join(t.TempDir(), "checkpoint"), States: 20}
		r, err := Prove(t.Context(), sc, o)
		for o.Rerun = rerun; err == nil && r.Limited; o.States += 20 {
			r, err = Prove(t.Context(), sc, o)
		}
		if err != nil || o.States < 60 {
			t.Fatalf("dials %d, rerun %t, up to %d states: %v", dials, rerun, o.States, err)
		}
		if why := want.Differs(&r.Certificate); why != "" {
			t.Errorf("dials %d, rerun %t: %s", dials, rerun, why)
		}
	}
}

// Nothing is left to go on with from the checkpoint of a search that is finished, whatever it came to.
func TestAFinishedSearchRemovesItsCheckpoint(t *testing.T) {
	sc := about(t, "lock/lock", "expire=1", -1) // which can strike nowhere
	o := Options{Reductions: Every, Checkpoint: filepath.Join(t.TempDir(), "checkpoint"), States: 100}
	certify(t, sc, o)
	if _, err := os.Stat(o.Checkpoint); err != nil {
		t.Fatal(err)
	}
	o.States = 0
	r := certify(t, sc, o)
	if _, err := os.Stat(o.Checkpoint); r.Limited || !strings.HasPrefix(r.Why, neverStrikes) || !os.IsNotExist(err) {
		t.Errorf("%v, %v", &r.Certificate, err)
	}
}

// A search that reaches a limit has closed levels before, which a certificate must bear out.
func TestALimitedSearchContradictsACertificateByItsLevels(t *testing.T) {
	sc := about(t, "lock/lock", "disconnect=1", -1)
	want := certify(t, sc, Options{Reductions: Every}).Certificate
	short := certify(t, sc, Options{Reductions: Every, States: 1000})
	if why, decided := short.Contradicts(&want); why != "" || decided || !short.Limited || len(short.Levels) != 1 {
		t.Errorf("%s, %v, %+v", why, decided, short)
	}
	other := want
	other.Levels = slices.Clone(want.Levels)
	other.Levels[0].States++
	if why, _ := short.Contradicts(&other); !strings.HasPrefix(why, "the levels differ") {
		t.Errorf("%q, expected that the level without faults differs", why)
	}
}

// What a reader of the file takes for the scope is what is verified.
func TestACertificateSaysEachThingOnce(t *testing.T) {
	c := certify(t, about(t, "lock/lock", "", 0), Options{Reductions: Every}).Certificate
	var b bytes.Buffer
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadCertificate(strings.NewReader(strings.ReplaceAll(b.String(), "\n", "\r\n\t"))); err != nil {
		t.Error(err)
	}
	for was, is := range map[string]string{
		`"most": 0`:     `"most": 3, "Most": 0`,
		`"scenario": "`: `"scenario": "queue/queue", "scenario": "`,
		`"servers": 1`:  `"servers": 1, "Servers": 1`,
		`"ticks": 0`:    `"ticks": null`,
		`"offline":`:    `"Offline":`,
	} {
		text := strings.Replace(b.String(), was, is, 1)
		if _, err := ReadCertificate(strings.NewReader(text)); text == b.String() || err == nil ||
			!strings.Contains(err.Error(), "has each field once") {
			t.Errorf("%s: %v", is, err)
		}
	}
}

func TestHostileCertificates(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"", "a certificate is a JSON object"},
		{"{", "a certificate is a JSON object"},
		{"[]", "a certificate is a JSON object"},
		{"\x7fELF", "a certificate is a JSON object"},
		{`{"format": "zksim certificate 10", "more": 1}`, "unknown field"},
		{`{"format": "zksim certificate 11"}`, `the format of a certificate is "zksim certificate 10", not "zksim ` +
			`certificate 11"`},
		{`{"format": "zksim certificate 10"}{}`, "there is more behind it"},
		{`{"format": "` + strings.Repeat("x", maxCertificate), "a certificate is a JSON object"},
	} {
		if _, err := ReadCertificate(strings.NewReader(x.text)); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%.60q: %v", x.text, err)
		}
	}
	for _, x := range []struct {
		c    Claim
		want string
	}{
		{Claim{Scenario: strings.Repeat("no", 999)}, "there is no scenario "},
		{Claim{Scenario: "lock/lock", Clients: -1}, "the number of clients is from 2 to 64, not -1"},
		{Claim{Scenario: "lock/lock", Clients: 2, Rounds: -7}, "the number of rounds is from 1 to 1000, not -7"},
		{Claim{Scenario: "lock/lock", Checkers: []string{"none"}}, "lock/lock has not all of the checkers [none]"},
		{Claim{Scenario: "lock/lock"}, "names no checkers, so it promises nothing"},
		{Claim{Scenario: "lock/lock", Checkers: []string{"steps"}, Faults: "plague=1"}, "no such fault"},
		{Claim{Scenario: "lock/lock", Checkers: []string{"steps"}, Like: "etcd"},
			`the server is zookeeper, keeper, zookeeper-3.9 or zookeeper-3.6, not "etcd"`},
	} {
		if _, err := x.c.Scope(catalog.All); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v", x.c, err)
		}
	}
}

// TestProgramsThatAreNotDeterministicAreReported has one that does something else in every
// other run, also where every path is run again. The runs of one search may happen to agree.
func TestProgramsThatAreNotDeterministicAreReported(t *testing.T) {
	all := Options{Reductions: Every}
	rerun, audit := all, all
	rerun.Rerun, audit.Audit = true, true
	for _, o := range []Options{{}, all, rerun, audit} {
		var runs atomic.Int64
		x := tiny{name: "fickle", program: func(p *engine.Process) {
			if runs.Add(1)%3 > 0 {
				p.Conn.Set("/d", nil, -1)
			}
			p.Conn.Get("/d")
		}}
		o.Workers = 1
		var err error
		for n := 0; n < 10 && err == nil; n++ {
			_, err = Prove(t.Context(), x.scope(t), o)
		}
		if err == nil || !strings.Contains(err.Error(), "tiny/fickle: the same steps lead to another state, since the "+
			"program is not deterministic") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// TestClientCodeThatLeavesTheSimulatorEndsASearch has code that does so at once, or only after the strict seeds.
//
//zksim:ignore that its client code leaves the simulator is what is to be found
func TestClientCodeThatLeavesTheSimulatorEndsASearch(t *testing.T) {
	for _, x := range []struct {
		says    string
		program func(p *engine.Process)
	}{
		{"(sleep)", func(p *engine.Process) { time.Sleep(5 * time.Millisecond) }},
		{"c", func(p *engine.Process) { // what is found first depends on who is quicker
			var wg sync.WaitGroup
			wg.Go(func() { p.Conn.Get("/") })
			wg.Wait()
		}},
		{"with a context whose deadline is of real time; use Env.WithTimeout", func(p *engine.Process) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
			defer cancel()
			p.Env.Await(ctx)
		}},
	} {
		for _, after := range []int64{0, 30} { // three strict seeds have two clients each
			var runs atomic.Int64
			s := tiny{name: "leaves", program: func(p *engine.Process) {
				p.Conn.Get("/d")
				if runs.Add(1) > after {
					x.program(p)
				}
				p.Conn.Get("/d")
			}}
			_, err := Prove(t.Context(), s.scope(t), Options{Workers: 1, Rerun: true})
			m := (*sim.Misuse)(nil)
			if !errors.As(err, &m) || !strings.Contains(m.Message, x.says) || !strings.HasPrefix(err.Error(), "tiny/leaves") ||
				!strings.Contains(m.Stack, ".go:") {
				t.Errorf("after %d runs: %v", after, err)
			}
		}
	}
}
