package explain_test

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/internal/explain"
	"zksim/model/history"
	"zksim/reports"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

func recorded(t *testing.T) *history.History {
	t.Helper()
	text, err := os.ReadFile("testdata/history.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	h, err := reports.ReadHistory(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func plan(t *testing.T, text string) faults.Plan {
	t.Helper()
	p, err := faults.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The history is one of a real server; the run that is found is replayed and violates the same property.
func TestAHistoryOfARealServerIsFoundInTheSimulator(t *testing.T) {
	s := catalog.Named("lock/plain-create")
	p := engine.Schedule{Scenario: s.Name, Servers: 1, Faults: plan(t, "lose-reply=1")}
	x, err := explain.Search(t.Context(), s, p, recorded(t), 1000)
	if err != nil || !x.Found() {
		t.Fatalf("%+v, %v", x, err)
	}
	r := engine.NewRunner()
	defer r.Close()
	res, err := r.Replay(s, x.Schedule)
	if err != nil || res.Verdict.Checker != "quiescence" {
		t.Errorf("%v, %v", res.Verdict, err)
	}
}

// Histories of the simulator itself are found as well, whatever names were drawn in them.
func TestHistoriesOfSimulatedRunsAreFound(t *testing.T) {
	r := engine.NewRunner()
	defer r.Close()
	found, all := 0, 0
	for _, name := range []string{"lock/lock", "queue/queue", "lock/plain-create"} {
		s := catalog.Named(name)
		for seed := uint64(1); seed <= 6; seed++ {
			run := r.Seed(s, seed)
			r.Names(&run)
			var text bytes.Buffer
			if err := reports.WriteHistory(&text, run.History); err != nil {
				t.Fatal(err)
			}
			h, err := reports.ReadHistory(&text)
			if err != nil {
				t.Fatal(err)
			}
			p := run.Schedule
			p.Names, p.Order = nil, p.Order+1
			x, err := explain.Search(t.Context(), s, p, h, 50)
			if err != nil {
				t.Fatal(err)
			}
			all++
			if x.Found() {
				found++
			}
		}
	}
	t.Logf("%d of %d", found, all)
	if found < all/3 {
		t.Errorf("only %d of %d histories are found again", found, all)
	}
}

func TestNumbersOfRecipesMayDiffer(t *testing.T) {
	s := &engine.Scenario{Name: "a/count", Clients: 1, Program: func(p *engine.Process) {
		p.Register(nil).Record(history.Event{Kind: history.Return, Op: "add", Value: 1})
	}}
	h := &history.History{Clients: 1, Events: []history.Event{{Kind: history.Return, Client: 1, Op: "add", Value: 2}}}
	x, err := explain.Search(t.Context(), s, engine.Schedule{Scenario: s.Name, Servers: 1}, h, 10)
	if err != nil || !x.Found() {
		t.Errorf("%+v, %v", x, err)
	}
}

// A drawn name is one also where hexadecimal digits come before it; a sequence number behind it is none.
func TestDrawnNamesMayDiffer(t *testing.T) {
	const one, other = "37e85a368377a8d189a493f26030c659", "cf17493f9573f67ba8c009f15bb08115"
	for _, x := range []struct {
		is, want string
		found    bool
	}{
		{"/w1577836800-" + one, "/w1577836800-" + other, true},
		{"/w1577836800-" + one, "/w1577836801-" + other, false},
		{"/node" + one, "/node" + other, true},
		{"/node" + one, "/lode" + other, false},
		{"/" + one + "0000000001", "/" + other + "0000000001", true},
		{"/" + one + "0000000001", "/" + other + "0000000002", false},
		{"/" + one + "-n0000000001/" + one, "/" + other + "-n0000000001/" + other, true},
		{"/37e85a36-8377-a8d1-89a4-93f26030c6590000000001", "/cf17493f-9573-f67b-a8c0-09f15bb081150000000002", false},
		{"/37e85a36-8377-a8d1-89a4-93f26030c659", "/cf17493f-9573-f67b-a8c0-09f15bb08115", true},
	} {
		s := &engine.Scenario{Name: "a/look", Clients: 1, Program: func(p *engine.Process) { p.Conn.Exists(x.is) }}
		h := &history.History{Clients: 1, Events: []history.Event{
			{Kind: history.Call, Client: 1, Op: "exists", Path: x.want}}}
		a, err := explain.Search(t.Context(), s, engine.Schedule{Scenario: s.Name, Servers: 1}, h, 1000)
		if err != nil || a.Found() != x.found {
			t.Errorf("%s in a run, %s in the history: %+v, %v", x.is, x.want, a, err)
		}
	}
}

func TestAHistoryThatNoRunHasIsNotFound(t *testing.T) {
	s := catalog.Named("lock/plain-create")
	p := engine.Schedule{Scenario: s.Name, Servers: 1, Faults: plan(t, "lose-reply=1")}
	h := recorded(t)
	i := slices.IndexFunc(h.Events, func(e history.Event) bool { return e.Kind == history.Reply && e.Op == "create" })
	h.Events[i].Path = strings.Replace(h.Events[i].Path, "0000000001", "0000000009", 1)
	x, err := explain.Search(t.Context(), s, p, h, 100)
	if err != nil || x.Found() || x.Runs != 100 || x.Got == 0 || !strings.Contains(x.Stuck, "c1 reply create ") {
		t.Errorf("%+v, %v", x, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if x, err := explain.Search(ctx, s, p, h, 100); err != nil || x.Found() || x.Runs != 0 || x.Whole {
		t.Errorf("%+v, %v", x, err)
	}
}

// A single client without faults has few runs: all are tried.
func TestThatThereIsNoneIsCertainWhereAllRunsWereTried(t *testing.T) {
	s := &engine.Scenario{Name: "a/look", Clients: 1, Program: func(p *engine.Process) { p.Conn.Exists("/a") }}
	h := &history.History{Clients: 1, Events: []history.Event{{Kind: history.Call, Client: 1, Op: "exists", Path: "/b"}}}
	p := engine.Schedule{Scenario: s.Name, Servers: 1}
	x, err := explain.Search(t.Context(), s, p, h, 10_000)
	if err != nil || x.Found() || !x.Whole {
		t.Errorf("%+v, %v", x, err)
	}
	h.Events[0].Path = "/a"
	if x, err := explain.Search(t.Context(), s, p, h, 10_000); err != nil || !x.Found() {
		t.Errorf("%+v, %v", x, err)
	}
	h.Clients = 2
	if _, err := explain.Search(t.Context(), s, p, h, 1); err == nil ||
		err.Error() != "the history has 2 clients, and the scenario 1" {
		t.Error(err)
	}
	if _, err := explain.Search(t.Context(), s, p, &history.History{}, 1); err == nil ||
		err.Error() != "the history has nothing that a client does or sees" {
		t.Error(err)
	}
}

// The library refuses a call, or has it wait for a connection that never comes: on the wire there is none, and in the
// simulator there is.
func TestACallThatIsNeverSentIsNotOnTheWire(t *testing.T) {
	big := make([]byte, 2_000_000) // more than the library encodes
	for name, x := range map[string]struct {
		faults  string
		program func(p *engine.Process)
		events  []history.Event
	}{
		"closed": {"none", func(p *engine.Process) {
			p.Conn.Close()
			p.Conn.Exists("/a")
		}, nil},
		"too long, and then not": {"none", func(p *engine.Process) {
			p.Conn.Create("/a", big, 0, zk.WorldACL(zk.PermAll))
			p.Conn.Create("/a", nil, 0, zk.WorldACL(zk.PermAll))
		}, []history.Event{{Kind: history.Call, Op: "create", Path: "/a"},
			{Kind: history.Reply, Op: "create", Path: "/a", Zxid: 7}}},
		"waits": {"disconnect=1 expire=1", func(p *engine.Process) {
			for range 2 {
				p.Conn.Exists("/a")
			}
		}, []history.Event{{Kind: history.Call, Op: "exists", Path: "/a"},
			{Kind: history.Fault, Op: "expire c1"}}},
	} {
		s := &engine.Scenario{Name: "a/unsent", Clients: 1, Program: func(p *engine.Process) {
			x.program(p)
			p.Always("it goes on", false)
		}}
		h := &history.History{Clients: 1, Events: append([]history.Event{{Kind: history.Session, Session: 1 << 56}},
			append(x.events, history.Event{Kind: history.Told, Op: "always", Path: "it goes on"})...)}
		for i := range h.Events {
			h.Events[i].Client = 1
		}
		p := engine.Schedule{Scenario: s.Name, Servers: 1, Faults: plan(t, x.faults)}
		if x, err := explain.Search(t.Context(), s, p, h, 1000); err != nil || !x.Found() {
			t.Errorf("%s: %+v, %v", name, x, err)
		}
	}
}
