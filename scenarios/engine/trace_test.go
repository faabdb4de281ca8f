package engine_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// rebuilt applies the rows of all steps.
func rebuilt(t *history.Trace) [history.Tables]map[string][]string {
	var tables [history.Tables]map[string][]string
	for i := range tables {
		tables[i] = map[string][]string{}
	}
	apply := func(rows []history.Row) {
		for _, r := range rows {
			if r.Cells == nil {
				delete(tables[r.Table], r.Key)
			} else {
				tables[r.Table][r.Key] = r.Cells
			}
		}
	}
	apply(t.Rows)
	for i := range t.Steps {
		apply(t.Steps[i].Rows)
	}
	return tables
}

// TestATraceEndsWhereTheRunEnds: tracing changes nothing about a run, and what
// its rows add up to is what the history says of the end.
func TestATraceEndsWhereTheRunEnds(t *testing.T) {
	r := engine.NewRunner()
	defer r.Close()
	for i := range catalog.All {
		s := &catalog.All[i]
		for seed := range uint64(4) {
			run := r.Seed(s, seed)
			if run.Steps > 1000 && seed > 1 {
				continue // a livelock is much of the same
			}
			r.Names(&run)
			trace, again, err := r.Trace(s, run.Schedule)
			if err != nil {
				t.Fatal(err)
			}
			if again.Hash != run.Hash || again.Verdict != run.Verdict || len(trace.Steps) != run.Steps ||
				r.World().OnStep != nil {
				t.Fatalf("%s, seed %d: the traced run is another one", s.Name, seed)
			}
			tables := rebuilt(trace)
			ending(t, fmt.Sprintf("%s, seed %d", s.Name, seed), again.History, tables)
		}
	}
}

func ending(t *testing.T, run string, h *history.History, tables [history.Tables]map[string][]string) {
	t.Helper()
	tree := map[string][]string{}
	for _, n := range h.Tree {
		owner := ""
		if n.Owner != 0 {
			owner = fmt.Sprintf("c%d, 0x%x", n.Owner>>12, n.Owner)
		}
		tree[n.Path] = []string{n.Data, owner, fmt.Sprint(n.Version), fmt.Sprintf("0x%x", n.Czxid)}
	}
	if !reflect.DeepEqual(tables[history.Znodes], tree) {
		t.Errorf("%s: the znodes are\n%v\nwant\n%v", run, tables[history.Znodes], tree)
	}
	for id, c := range h.Sessions {
		cells := tables[history.Sessions][fmt.Sprintf("0x%x", id)]
		if len(cells) == 2 {
			cells[0], _, _ = strings.Cut(cells[0], ".") // the number of a client's further connection
		}
		if len(cells) != 2 || cells[0] != fmt.Sprintf("c%d", c) || !strings.HasPrefix(cells[1], "s1") {
			t.Errorf("%s: session 0x%x of c%d is told as %q", run, id, c, cells)
		}
	}
	for _, x := range h.Waiting {
		key := fmt.Sprintf("c%d", x.Client)
		if x.Where != "" {
			key += "/" + x.Where
		}
		if cells := tables[history.Tasks][key]; len(x.Paths) > 0 &&
			(len(cells) != 2 || cells[1] != "waits for "+strings.Join(x.Paths, " and ")) {
			t.Errorf("%s: %s, which waits for %v, is told as %q", run, key, x.Paths, cells)
		}
		for _, p := range x.Paths {
			if !slices.ContainsFunc([]string{"znode ", "children "}, func(kind string) bool {
				return tables[history.Watches][fmt.Sprintf("c%d %s%s", x.Client, kind, p)] != nil
			}) {
				t.Errorf("%s: nothing is told of the watch of %s on %s", run, key, p)
			}
		}
	}
	if h.Outcome == history.Quiet && len(tables[history.Tasks]) != len(h.Waiting) {
		t.Errorf("%s: %d coroutines are told of, and %d wait", run, len(tables[history.Tasks]), len(h.Waiting))
	}
}

// TestEveryKindOfStepSaysWhatItDid over runs in which all of them happen.
func TestEveryKindOfStepSaysWhatItDid(t *testing.T) {
	want := map[string]string{
		"run": `^$`,
		"serve": `^s\d executes \w+ .* of c\d(: .*|; the answer waits until s\d has applied it|, sent before the ` +
			`connection was cut; nobody waits for the answer)?$|^s\d executes the re-arming of the watches of c\d: done$`,
		"deliver": `^(c\d gets the answer to \w+ .*: .*|the connection of c\d is closed by its server|c\d hears that ` +
			`its watches are armed again|)$`,
		"round":   `^c\d has tried all servers in vain; what waits to be sent fails$`,
		"resume":  `^c\d goes on after its pause$`,
		"undelay": `^messages reach c\d again$`,
		"expire": `^(the session of c\d, which is gone, expires|the session of a client that knows of its ` +
			`disconnection ends; .*)$`,
		"replicate":  `^s[123] applies zxid 0x[0-9a-f]+: .+$`,
		"thaw":       `^s[123] is no longer cut off from the leader$`,
		"tick":       `^time goes on to [0-9.]+m?s$`,
		"connect":    `^$`,
		"calm":       `^$`,
		"lose-reply": `^the request is executed and the connection is cut before the reply: .+`,
		"crash":      `^the process ends; its session expires later$`,
	}
	patterns, seen := map[string]*regexp.Regexp{}, map[string]bool{}
	for verb, pattern := range want {
		patterns[verb] = regexp.MustCompile(pattern)
	}
	sleeper := engine.Scenario{Name: "a/sleeper", Clients: 1,
		Program: func(p *engine.Process) { p.Env.Sleep(context.Background(), 1500*time.Millisecond) }}
	r := engine.NewRunner()
	defer r.Close()
	for _, s := range append(catalog.All[:4:4], sleeper) {
		for seed := range uint64(60) {
			run := r.Seed(&s, seed)
			r.Names(&run)
			trace, _, err := r.Trace(&s, run.Schedule)
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range trace.Steps {
				verb, _, _ := strings.Cut(step.Name, " ")
				seen[verb] = true
				if pattern := patterns[verb]; pattern != nil && !pattern.MatchString(step.Did) {
					t.Fatalf("%s, seed %d: %q is told as %q", s.Name, seed, step.Name, step.Did)
				}
			}
		}
	}
	for verb := range want {
		if !seen[verb] {
			t.Errorf("no run has had %q", verb)
		}
	}
}

func TestRequestsAndAnswersInWords(t *testing.T) {
	for _, x := range []struct {
		req  model.Request
		res  model.Response
		want string
	}{
		{model.Request{Op: model.OpCreate, Path: "/a-"}, model.Response{Path: "/a-0000000001"},
			"create /a-: made as /a-0000000001"},
		{model.Request{Op: model.OpDelete, Path: "/a"}, model.Response{Err: model.NoNode}, "delete /a: node does not exist"},
		{model.Request{Op: model.OpExists, Path: "/a", Watch: true}, model.Response{}, "existsW /a: it is there"},
		{model.Request{Op: model.OpGetData, Path: "/a"}, model.Response{Data: []byte("x")}, "get /a: version 0, data x"},
		{model.Request{Op: model.OpGetChildren2, Path: "/"}, model.Response{Children: []string{"b", "a"}},
			"children /: /a, /b"},
		{model.Request{Op: model.OpGetChildren2, Path: "/q"},
			model.Response{Children: []string{"y-0000000001", "x-0000000002", "z-0000000000"}},
			"children /q: /q/z-0000000000, /q/y-0000000001, /q/x-0000000002"},
		{model.Request{Op: model.OpGetChildren2, Path: "/q"}, model.Response{}, "children /q: no children"},
		{model.Request{Op: model.OpGetChildren2, Path: "/q"}, model.Response{Children: strings.Split("abcdefghijklmn", "")},
			"children /q: /q/a, /q/b, /q/c, /q/d, /q/e, /q/f, /q/g, /q/h, /q/i, /q/j, /q/k, /q/l and 2 more"},
		{model.Request{Op: model.OpMulti, Ops: []model.Request{{Op: model.OpCheck, Path: "/a"},
			{Op: model.OpSetData, Path: "/b"}}}, model.Response{},
			"multi (check /a, set /b): done"},
		{model.Request{Op: model.OpMulti}, model.Response{}, "an empty multi: done"},
		{model.Request{Op: model.OpSync, Path: "/a"}, model.Response{}, "sync /a: done"},
	} {
		if got := engine.RequestText(&x.req) + engine.AnswerText(&x.req, &x.res); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}

func TestAScheduleThatDoesNotFitIsNotTraced(t *testing.T) {
	r := engine.NewRunner()
	defer r.Close()
	p := engine.Schedule{Scenario: catalog.All[0].Name, Servers: 1, Names: []string{"run c1", "srve c1"},
		Lines: []int{4, 7}}
	_, _, err := r.Trace(&catalog.All[0], p)
	var stale *sim.NotEnabledError
	if !errors.As(err, &stale) || !strings.HasPrefix(err.Error(), "line 7: the schedule does not fit scenario "+
		catalog.All[0].Name+": step 2: ") || r.World().OnStep != nil {
		t.Error(err)
	}
}

// A step says of a multi that fails which of its operations did, and why.
func TestTheStoryOfAMultiNamesTheOperationThatFails(t *testing.T) {
	s := engine.Scenario{Name: "my/multi", Clients: 1, Program: func(p *engine.Process) {
		p.Conn.Multi(&zk.CheckVersionRequest{Path: "/", Version: -1}, &zk.DeleteRequest{Path: "/none", Version: -1})
		p.Conn.Multi(&zk.CheckVersionRequest{Path: "/", Version: -1})
	}}
	r := engine.NewRunner()
	defer r.Close()
	trace, _, err := r.Trace(&s, engine.Schedule{Scenario: s.Name, Servers: 1})
	if err != nil {
		t.Fatal(err)
	}
	var did []string
	for _, step := range trace.Steps {
		if strings.HasPrefix(step.Name, "serve ") || strings.HasPrefix(step.Name, "deliver ") {
			did = append(did, step.Did)
		}
	}
	const none = "(check /, delete /none): delete /none fails: node does not exist"
	want := []string{"s1 executes multi (check /, delete /none) of c1: delete /none fails: node does not exist",
		"c1 gets the answer to multi " + none,
		"s1 executes multi (check /) of c1", "c1 gets the answer to multi (check /): done"}
	if !slices.Equal(did, want) {
		t.Errorf("%q", did)
	}
}
