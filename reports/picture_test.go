package reports

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"zksim/checkers"
	"zksim/model/history"
)

// anyFailure generates histories of all kinds of events in any order, so also
// such as no run has.
func anyFailure() *rapid.Generator[*Failure] {
	path := rapid.SampledFrom([]string{"", "/a", "/a/n-0000000001", "/a/n-0000000002", "/a/" + strings.Repeat("long", 20),
		"/b/x"})
	word := rapid.SampledFrom([]string{"lock", "create", "existsW", "deleted", "created", "child", "StateHasSession",
		"StateDisconnected", "StateExpired", "lose-reply c1", ""})
	verb := rapid.SampledFrom([]string{"serve c1", "run c2/lock-watch", "pause c1", "resume c1", "replicate s2",
		"deliver c3", "calm", "crash c2", "tick", "stale-read c1"})
	return rapid.Custom(func(t *rapid.T) *Failure {
		h, trace := &history.History{Clients: 3, Txns: true}, &history.Trace{}
		for i := range rapid.IntRange(1, 120).Draw(t, "steps") {
			cut := rapid.SampledFrom([]string{"no", "yes"}).Draw(t, "cut off")
			trace.Steps = append(trace.Steps, history.Step{Name: verb.Draw(t, "name"), Time: int64(i / 7),
				Rows: []history.Row{{Table: history.Servers, Key: "s2", Cells: []string{"0", cut}}}})
			for range rapid.IntRange(0, 4).Draw(t, "events") {
				e := history.Event{Step: int32(i + 1), Kind: history.Kind(rapid.IntRange(0, int(history.Calm)).Draw(t, "kind")),
					Client: int32(rapid.IntRange(0, 3).Draw(t, "client")), Object: int32(rapid.IntRange(0, 2).Draw(t, "object")),
					Op: word.Draw(t, "op"), Path: path.Draw(t, "path"), Zxid: int64(rapid.IntRange(0, 9).Draw(t, "zxid"))}
				if rapid.Bool().Draw(t, "fails") {
					e.Err = errors.New("zk: connection closed")
				}
				h.Add(e)
			}
		}
		if rapid.Bool().Draw(t, "waits") {
			h.Waiting = []history.Waiting{{Client: 2, Paths: []string{"/a/n-0000000001"}}}
		}
		v := checkers.Verdict{Level: checkers.Violated, Checker: "quiescence", Message: "c2 waits for /a/n-0000000001",
			Event: rapid.IntRange(-1, len(h.Events)-1).Draw(t, "event")}
		backend := rapid.SampledFrom([]string{"sim", "zookeeper"}).Draw(t, "backend")
		f := &Failure{Report: Report{Backend: backend, Servers: 2, Clients: 3}, Verdict: v, History: h, Trace: trace}
		f.Report.SetVerdict(v)
		if n := rapid.IntRange(0, len(trace.Steps)+1).Draw(t, "known"); n > 0 {
			f.Report.Why = &history.Futures{Of: 9, Failed: rapid.SliceOfN(rapid.IntRange(0, 9), n, n).Draw(t, "failed"),
				Cut: rapid.Bool().Draw(t, "cut")}
			f.Report.Why.Decide(slices.Repeat([]string{"run c2/" + strings.Repeat("long", 20)}, n))
		}
		return f
	})
}

// TestPicturesOfAnyHistoryAreTidy: no text lies on another one or on a mark of
// its lane, and everything is inside.
func TestPicturesOfAnyHistoryAreTidy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := anyFailure().Draw(t, "failure")
		step, _ := f.place()
		n := newNames(f.History, f.Trace)
		p := draw(f, n, max(1, step-stepsBefore), min(len(f.Trace.Steps), step+stepsAfter))
		type extent struct {
			from, to float64
			text     string
		}
		taken := map[string][]extent{} // by row
		for _, s := range p.Shapes {
			if s.X < -1 || s.Y < 0 || s.X > p.Width || s.Y > p.Height || s.Kind == "rect" &&
				(s.W < 0 || s.X+s.W > p.Width+1 || s.Y+s.H > p.Height+1) {
				t.Fatalf("outside of %v x %v: %+v", p.Width, p.Height, s)
			}
			row, width := fmt.Sprint(s.Kind == "text" && strings.HasPrefix(s.Class, "in "), s.Y),
				letter*float64(len([]rune(s.Text)))
			x := extent{s.X, s.X + width, s.Text}
			switch {
			case s.Kind == "text" && (s.Class == "axis" || s.Class == "time"):
				x.from, x.to = s.X-width/2, s.X+width/2
			case s.Kind == "text" && s.Class == "beside":
				row = fmt.Sprint("belief", s.Y-barHeight/2-0.5)
			case s.Class == "bar belief":
				row, x.to = fmt.Sprint("belief", s.Y), s.X+s.W
			case s.Kind == "text":
			default:
				continue
			}
			for _, y := range taken[row] {
				if x.from < y.to-1 && y.from < x.to-1 {
					t.Fatalf("%q at %v lies on %q at %v", x.text, x.from, y.text, y.from)
				}
			}
			taken[row] = append(taken[row], x)
		}
		var b strings.Builder
		if err := WritePage(&b, f); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "× here quiescence is violated") {
			t.Fatal("the violation is not in the short story")
		}
	})
}

func TestEventsInWords(t *testing.T) {
	const x = "/a/n-0000000001"
	closed := errors.New("zk: connection closed")
	for _, c := range []struct {
		event history.Event
		want  string
		class string
	}{
		{history.Event{Kind: history.Invoke, Op: "lock"}, "c1 begins lock", recipeLine},
		{history.Event{Kind: history.Invoke, Op: "put", Path: "/q", Value: 7}, "c1 begins put /q 7", recipeLine},
		{history.Event{Kind: history.Return, Op: "lock"}, "c1's lock returns", recipeLine},
		{history.Event{Kind: history.Return, Op: "take", Path: x}, "c1's take returns " + x, recipeLine},
		{history.Event{Kind: history.Return, Op: "get", OK: true, Value: 7}, "c1's get returns 7", recipeLine},
		{history.Event{Kind: history.Return, Op: "lock", Err: errors.New("recipes: locked by another"), OK: true},
			"c1's lock returns: locked by another", recipeLine},
		{history.Event{Kind: history.Return, Op: "lock", Err: closed}, "c1's lock fails: connection closed", recipeLine},
		{history.Event{Kind: history.Told, Op: "members", Path: "/m"}, "c1 is told by its recipe: members /m", recipeLine},
		{history.Event{Kind: history.Told, Op: "always", Path: "one leader"}, "c1 sees that it does not hold: one leader",
			recipeLine},
		{history.Event{Kind: history.Told, Op: "sometimes", Path: "two", OK: true}, "c1 reaches a goal: two", recipeLine},
		{history.Event{Kind: history.Told, Op: "sometimes", Path: "two"}, "c1 does not reach a goal here: two", ""},
		{history.Event{Kind: history.Acquired, Value: 31}, "c1 now believes that it holds the lock, token 0x1f", beliefLine},
		{history.Event{Kind: history.Acquired, Path: x, Value: 31}, "c1 now believes that it holds " + x + ", token 0x1f",
			beliefLine},
		{history.Event{Kind: history.Lost}, "c1 is told that it no longer holds it", beliefLine},
		{history.Event{Kind: history.Released}, "c1 gives it up", beliefLine},
		{history.Event{Kind: history.Write, Value: 1, OK: true},
			"c1 writes to the guarded resource with token 0x1, which accepts it", recipeLine},
		{history.Event{Kind: history.Write, Value: 1}, "c1 writes to the guarded resource with token 0x1, which refuses it",
			recipeLine},
		{history.Event{Kind: history.Call, Op: "create", Path: x}, "c1 calls create " + x, ""},
		{history.Event{Kind: history.Reply, Op: "create", Path: x}, "c1's create " + x + " returns", ""},
		{history.Event{Kind: history.Reply, Op: "create", Path: x, Err: closed}, "c1's create " + x +
			` ends with "connection closed": it cannot know whether it was executed`, lostLine},
		{history.Event{Kind: history.Reply, Op: "children", Path: x, Err: closed}, "c1's children " + x +
			" fails: connection closed", ""},
		{history.Event{Kind: history.Notify, Op: "deleted", Path: x}, "c1 is told that " + x + " was deleted", notifyLine},
		{history.Event{Kind: history.Notify, Op: "child", Path: x}, "c1 is told that the children of " + x + " have changed",
			notifyLine},
		{history.Event{Kind: history.Notify, Op: "unwatched", Path: x}, "c1 is told that its watch on " + x +
			" has ended with the session", notifyLine},
		{history.Event{Kind: history.Notify, Op: "deleted", Path: x, Zxid: 9}, "c1 is told that " + x +
			" was deleted, in vain: it goes back to waiting", wastedLine},
		{history.Event{Kind: history.Created, Path: x, Zxid: 9, Session: 4097}, x +
			" now exists, zxid 0x9, ephemeral of session 0x1001 of c1", txnLine},
		{history.Event{Kind: history.Created, Path: x, Zxid: 9}, x + " now exists, zxid 0x9, made by c1", txnLine},
		{history.Event{Kind: history.Changed, Path: x, Zxid: 9}, x + " has new data, zxid 0x9, set by c1", txnLine},
		{history.Event{Kind: history.Deleted, Path: x, Zxid: 9, Session: 4097}, x + " is gone, zxid 0x9, deleted by c1",
			txnLine},
		{history.Event{Kind: history.Session, Op: "StateHasSession", Session: 4097}, "c1 is connected with session 0x1001",
			stateLine},
		{history.Event{Kind: history.Session, Op: "StateExpired"}, "c1 learns that its session has expired", stateLine},
		{history.Event{Kind: history.Session, Op: "StateDisconnected"}, "c1 notices that it is disconnected", stateLine},
		{history.Event{Kind: history.Exceeded}, "the servers end the session of c1 before it can know", stateLine},
		{history.Event{Kind: history.Crashed}, "c1 crashes", stateLine},
		{history.Event{Kind: history.Calm}, "no more faults from here on", stateLine},
	} {
		c.event.Client = 1
		h := &history.History{Txns: true, Events: []history.Event{{Kind: history.Invoke, Client: 1, Op: "lock"}, c.event,
			{Kind: history.Call, Client: 1, Op: "getW"}}}
		if text, class := narrate(h, 1); text != c.want || class != c.class {
			t.Errorf("%v: %q of class %q, want %q of %q", c.event, text, class, c.want, c.class)
		}
	}
}

func TestADeletionWithoutAClientIsThatOfASession(t *testing.T) {
	if got := committed(&history.Event{Kind: history.Deleted, Path: "/a", Zxid: 9,
		Session: 4097}); got != "/a is gone, zxid 0x9, with its session 0x1001" {
		t.Error(got)
	}
	if got := committed(&history.Event{Kind: history.Deleted, Path: "/a", Zxid: 9}); got != "/a is gone, zxid 0x9" {
		t.Error(got)
	}
}

// TestWhoIsNotifiedInVain: who waits in an operation and gets nothing by it. A
// holder waits for nothing that could help it on.
func TestWhoIsNotifiedInVain(t *testing.T) {
	invoke, told := history.Event{Kind: history.Invoke, Client: 1},
		history.Event{Kind: history.Notify, Client: 1, Op: "deleted", Path: "/x", Zxid: 9}
	again := history.Event{Kind: history.Notify, Client: 1, Op: "deleted", Path: "/y", Zxid: 10}
	of := func(k history.Kind) history.Event { return history.Event{Kind: k, Client: 1} }
	watch := history.Event{Kind: history.Call, Client: 1, Op: "existsW"}
	for _, x := range []struct {
		before, after []history.Event
		want          bool
	}{
		{nil, []history.Event{watch}, false},
		{[]history.Event{invoke}, nil, false},
		{[]history.Event{invoke}, []history.Event{watch}, true},
		{[]history.Event{invoke}, []history.Event{{Kind: history.Call, Client: 1, Op: "exists"}}, false},
		{[]history.Event{invoke}, []history.Event{again, watch}, false},
		{[]history.Event{invoke}, []history.Event{watch, again, of(history.Return)}, true},
		{[]history.Event{invoke}, []history.Event{watch, of(history.Return), again}, false},
		{[]history.Event{invoke}, []history.Event{watch, of(history.Told)}, false},
		{[]history.Event{invoke}, []history.Event{watch, of(history.Acquired)}, false},
		{[]history.Event{invoke}, []history.Event{watch, {Kind: history.Told, Client: 2}}, true},
		{[]history.Event{invoke}, []history.Event{watch, of(history.Deleted), again}, false},
		{[]history.Event{invoke}, []history.Event{watch, {Kind: history.Deleted, Client: 2}, again}, true},
		{[]history.Event{invoke, of(history.Return)}, []history.Event{watch}, false},
		{[]history.Event{invoke, of(history.Call)}, []history.Event{watch}, false},
		{[]history.Event{invoke, of(history.Call), of(history.Reply)}, []history.Event{watch}, true},
		{[]history.Event{invoke, of(history.Acquired)}, []history.Event{watch}, false},
		{[]history.Event{invoke, of(history.Acquired), of(history.Lost)}, []history.Event{watch}, true},
		{[]history.Event{invoke, {Kind: history.Deleted, Client: 1, Path: "/x", Zxid: 9}}, []history.Event{watch}, false},
	} {
		h := &history.History{Txns: true, Events: slices.Concat(x.before, []history.Event{told}, x.after)}
		if got := wasted(h, len(x.before)); got != x.want {
			t.Errorf("after %v and before %v: %v", x.before, x.after, got)
		}
	}
}

func TestBarsEndWithWhatEndsThem(t *testing.T) {
	closed := errors.New("zk: connection closed")
	f := &Failure{Trace: &history.Trace{Steps: make([]history.Step, 12)}, History: &history.History{Clients: 2,
		Waiting: []history.Waiting{{Client: 2, Paths: []string{"/a"}}}, Events: []history.Event{
			{Kind: history.Session, Client: 1, Step: 1, Op: "StateHasSession", Session: 1},
			{Kind: history.Invoke, Client: 1, Object: 1, Step: 1, Op: "lock"},
			{Kind: history.Call, Client: 1, Step: 2, Op: "existsW", Path: "/a"},
			{Kind: history.Call, Client: 1, Step: 2, Op: "existsW", Path: "/ab"},
			{Kind: history.Call, Client: 1, Step: 3, Op: "create", Path: "/n-"},
			{Kind: history.Reply, Client: 1, Step: 4, Op: "existsW", Path: "/ab"},
			{Kind: history.Reply, Client: 1, Step: 5, Op: "create", Path: "/n-0000000001"},
			{Kind: history.Reply, Client: 2, Step: 6, Op: "existsW", Path: "/a"},
			{Kind: history.Reply, Client: 1, Step: 6, Op: "existsW", Path: "/a", Err: errors.New("zk: node does not exist")},
			{Kind: history.Call, Client: 2, Step: 6, Op: "delete", Path: "/b"},
			{Kind: history.Reply, Client: 2, Step: 7, Op: "delete", Path: "/b", Err: closed},
			{Kind: history.Exceeded, Client: 1, Step: 7},
			{Kind: history.Acquired, Client: 1, Object: 1, Step: 7, Path: "/n-0000000001"},
			{Kind: history.Acquired, Client: 1, Object: 2, Step: 8, Path: "/m"},
			{Kind: history.Lost, Client: 1, Object: 1, Step: 9},
			{Kind: history.Crashed, Client: 1, Step: 10},
			{Kind: history.Session, Client: 2, Op: history.Closed, Step: 11},
		}}}
	var got []string
	s := newSpans(f)
	for _, list := range [][]span{s.sessions, s.beliefs, s.operations, s.calls} {
		for _, x := range list {
			got = append(got, fmt.Sprintf("c%d %d-%d %s %s", x.client, x.from, x.to, x.class, x.text))
		}
	}
	want := []string{"c1 1-7 connected ", "c1 7-10 deceived ", "c1 10-12 crashed ",
		"c2 11-12 disconnected ", "c1 7-9 belief holds /n-0000000001",
		"c1 8-10 belief holds /m",
		"c1 1-10 operation lock", "c1 2-6 call refused existsW /a", "c1 2-4 call existsW /ab", "c1 3-5 call create /n-",
		"c2 6-7 call lost delete /b", "c2 7-12 stuck waits for /a"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Which server leads is not said by its number once there was an election.
func TestTheTxnsOfSeveralLeadersHaveALaneOfTheirOwn(t *testing.T) {
	f := failure(3, "x")
	f.Report.Servers = 3
	labels := func() (list []string) {
		for _, l := range draw(f, newNames(f.History, f.Trace), 1, len(f.Trace.Steps)).Lanes {
			list = append(list, l.Label)
		}
		return list
	}
	if got := labels(); slices.Contains(got, "leader") || !slices.Contains(got, "s1") {
		t.Error(got)
	}
	f.Trace.Steps[1].Name = "elect s2"
	if got := labels(); !slices.Contains(got, "leader") || !slices.Contains(got, "s1") || !slices.Contains(got, "s3") {
		t.Error(got)
	}
}

// A name that is wider than the picture is cut, rather than to begin outside.
func TestLabelsOfLongNamesAreInside(t *testing.T) {
	h := &history.History{Clients: 1, Txns: true}
	trace := &history.Trace{Steps: make([]history.Step, 9)}
	for _, step := range []int32{1, 5, 9} {
		h.Add(history.Event{Step: step, Kind: history.Created, Client: 1, Zxid: int64(step),
			Path: "/" + strings.Repeat("y", 300+int(step))})
	}
	f := &Failure{Report: Report{Backend: "sim", Servers: 1, Clients: 1}, History: h, Trace: trace,
		Verdict: checkers.Verdict{Level: checkers.Violated, Checker: "tree", Event: -1}}
	p, labelled := draw(f, newNames(h, trace), 1, 9), 0
	for _, s := range p.Shapes {
		if !strings.HasPrefix(s.Class, "label") {
			continue
		}
		labelled++
		right := s.X + letter*float64(len([]rune(s.Text)))
		if s.X < 0 || right > p.Width || !strings.HasPrefix(s.Text, "/y") {
			t.Errorf("from %v to %v of %v: %s", s.X, right, p.Width, s.Text)
		}
	}
	if labelled != 3 {
		t.Errorf("%d labels", labelled)
	}
}
