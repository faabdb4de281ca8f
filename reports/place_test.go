package reports

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/model/history"
)

func TestAWordIsMentionedAsAWhole(t *testing.T) {
	for _, x := range []struct {
		text, word string
		want       bool
	}{
		{"c1 waits", "c1", true}, {"c1's lock", "c1", true}, {"c12 waits", "c1", false}, {"xc1 waits", "c1", false},
		{"c12 and c1", "c1", true}, {"(c1)", "c1", true}, {`"/a"`, "/a", true}, {"/a/b", "/a", false}, {"/b/a", "/a", false},
		{"", "c1", false},
		{"of /a.", "/a", true}, {"é/a", "/a", false}, {"a b", "", false},
	} {
		if got := mentions(x.text, x.word); got != x.want {
			t.Errorf("%q mentions %q: %v", x.text, x.word, got)
		}
	}
}

func TestAViolationHasItsPlaceAndItsClients(t *testing.T) {
	h := &history.History{Clients: 3, Failed: map[int32]string{3: "why"},
		Events: []history.Event{{Client: 3, Step: 2}, {Client: 3, Step: 4}, {Step: 5}, {Client: 1, Step: 6}}}
	for _, x := range []struct {
		message string
		event   int
		step    int
		clients []int32
	}{
		{"c2 waits for c1", -1, 9, []int32{2}},
		{"c3 gave up: why", -1, 4, []int32{3}},
		{"nobody", -1, 9, nil},
		{"c2 and c1 hold it", 1, 4, []int32{2, 1, 3}},
		{"a change", 2, 5, nil},
		{"c0 and c01 and c4 and c99999999999", 3, 6, []int32{4, 1}},
	} {
		f := &Failure{History: h, Trace: &history.Trace{Steps: make([]history.Step, 9)},
			Verdict: checkers.Verdict{Message: x.message, Event: x.event}}
		if step, clients := f.place(); step != x.step || len(clients)+len(x.clients) > 0 &&
			!reflect.DeepEqual(clients, x.clients) {
			t.Errorf("%s: step %d, clients %v, want %d, %v", x.message, step, clients, x.step, x.clients)
		}
	}
}

// storyOf is a run in which c2 deletes, and loses the outcome of, what c1 has made and then misses.
func storyOf(message string, event int) *Failure {
	at := func(e history.Event, step, client int32) history.Event {
		e.Step, e.Client = step, client
		return e
	}
	lost := errors.New("zk: connection closed")
	h := &history.History{Clients: 2, Events: []history.Event{
		at(history.Event{Kind: history.Created, Path: "/a"}, 1, 1),
		at(history.Event{Kind: history.Call, Op: "delete", Path: "/a"}, 2, 2),
		at(history.Event{Kind: history.Reply, Op: "delete", Path: "/a", Err: lost}, 3, 2),
		at(history.Event{Kind: history.Call, Op: "delete", Path: "/a"}, 4, 2),
		at(history.Event{Kind: history.Call, Op: "get", Path: "/a"}, 5, 1),
		at(history.Event{Kind: history.Lost}, 6, 1),
		at(history.Event{Kind: history.Calm}, 7, 0),
	}}
	f := &Failure{History: h, Trace: &history.Trace{Steps: make([]history.Step, 9)},
		Verdict: checkers.Verdict{Level: checkers.Violated, Checker: "k", Message: message, Event: event}}
	for i := range f.Trace.Steps {
		f.Trace.Steps[i].Name = fmt.Sprint("run step", i+1)
	}
	return f
}

func TestTheGistHasTheCallsForChangesAndEndsAtTheViolation(t *testing.T) {
	var b strings.Builder
	if err := WriteGist(&b, storyOf("c1 has lost /a", 5)); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"c2 calls delete /a": true, "c1 calls get /a": false, "violation of k": true,
		"... 3 more steps\n": true, "no more faults": false} {
		if strings.Contains(b.String(), text) != want {
			t.Errorf("%q: expected %v, in\n%s", text, want, b.String())
		}
	}
}

// TestTheGistHasTheAnswersThatAreErrors: code goes by them, as by a "no" that comes from a server that lags.
func TestTheGistHasTheAnswersThatAreErrors(t *testing.T) {
	f := &Failure{Verdict: checkers.Verdict{Level: checkers.Violated, Checker: "k", Event: -1},
		History: &history.History{Clients: 1, Events: []history.Event{
			{Kind: history.Reply, Op: "get", Client: 1, Err: zk.ErrNoNode, Step: 1},
			{Kind: history.Reply, Op: "get", Client: 1, Step: 2}}},
		Trace: &history.Trace{Steps: []history.Step{
			{Name: "deliver c1", Did: "c1 gets an error"}, {Name: "deliver c1", Did: "c1 gets data"}, {Name: "calm"}}}}
	var b strings.Builder
	if err := WriteGist(&b, f); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "c1 gets an error") || strings.Contains(text, "c1 gets data") {
		t.Error(text)
	}
}

// TestTheGistOfALongRunIsShort has code that asks for many changes, each another one, and a fault somewhere between.
func TestTheGistOfALongRunIsShort(t *testing.T) {
	const fault, steps = 2500, 5000
	h := &history.History{Clients: 1}
	f := &Failure{History: h, Trace: &history.Trace{Steps: make([]history.Step, steps)},
		Verdict: checkers.Verdict{Level: checkers.Violated, Checker: "k", Message: "c1 polls", Event: -1}}
	for i := range f.Trace.Steps {
		f.Trace.Steps[i].Name = fmt.Sprint("run step", i+1)
		h.Events = append(h.Events, history.Event{Kind: history.Call, Op: "create", Client: 1,
			Path: "/" + strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprint(i)), Step: int32(i + 1)})
	}
	f.Trace.Steps[fault-1].Did = "the reply is lost"
	h.Events = slices.Insert(h.Events, fault-1, history.Event{Kind: history.Fault, Op: "lose-reply c1", Step: fault})
	var b strings.Builder
	if err := WriteGist(&b, f); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n > 210 {
		t.Errorf("%d lines", n)
	}
	for _, text := range []string{"    1 run step1 ", "lose-reply c1: the reply is lost", "... 4799 steps like these\n",
		" 5000 run step5000 ", "violation of k"} {
		if !strings.Contains(b.String(), text) {
			t.Errorf("no %q in\n%s", text, b.String())
		}
	}
}

func TestWhatLedToItFollowsTheMakerAndTheRetryOfALostCall(t *testing.T) {
	f := storyOf("c2 misses /a", -1)
	n := newNames(f.History, f.Trace)
	short, _ := brief(f, n, story(f, n))
	var lines []string
	for _, p := range short {
		lines = append(lines, fmt.Sprintf("%d %s", p.Step, p.text()))
	}
	text := strings.Join(lines, "\n")
	for _, want := range []string{"1 /a now exists", "3 c2's delete /a ends with", "4 c2 calls delete /a", "6 c1"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if got := storyOf("item 3 and /b", -1).makers(); got != nil {
		t.Errorf("%v have made what nobody has", got)
	}
	f.History.Events[0] = history.Event{Kind: history.Invoke, Op: "put", Value: 3, Client: 2}
	f.Verdict.Message = "item 3 is in the queue 2 times"
	if got := f.makers(); !reflect.DeepEqual(got, []int32{2}) {
		t.Errorf("%v, expected the client that has put it", got)
	}
}
