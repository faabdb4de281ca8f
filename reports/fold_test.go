package reports

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"zksim/checkers"
	"zksim/model/history"
)

// polling returns a failure in which two clients set znodes every five seconds, as often, and a reply is lost in the
// turn after the first half.
func polling(turns int) *Failure {
	h := &history.History{Clients: 2}
	f := &Failure{History: h, Trace: &history.Trace{},
		Verdict: checkers.Verdict{Level: checkers.Violated, Checker: "k", Message: "nobody is there", Event: -1}}
	step := func(name, did string, e history.Event) {
		f.Trace.Steps = append(f.Trace.Steps, history.Step{Name: name, Did: did})
		e.Step = int32(len(f.Trace.Steps))
		h.Events = append(h.Events, e)
	}
	for i := range turns {
		if i == turns/2 {
			step("lose-reply c1", "the reply is lost", history.Event{Kind: history.Fault, Op: "lose-reply c1"})
		}
		did := "time goes on to " + (5 * time.Duration(i) * time.Second).String()
		step("tick", did, history.Event{Kind: history.Call, Op: "set", Path: "/a", Client: 1})
		step("serve c2", "", history.Event{Kind: history.Call, Op: "create", Path: "/b-" + strconv.Itoa(i), Client: 2})
	}
	return f
}

func TestWhatCodeDoesAgainAndAgainIsToldTwice(t *testing.T) {
	var b strings.Builder
	if err := WriteGist(&b, polling(100)); err != nil {
		t.Fatal(err)
	}
	var told []string
	for line := range strings.Lines(b.String()) {
		told = append(told, strings.Join(strings.Fields(line), " "))
	}
	want := `1 tick time goes on to 0s
c1 calls set /a
2 serve c2 c2 calls create /b-0
... 96 steps like these
99 tick time goes on to 4m5s
c1 calls set /a
100 serve c2 c2 calls create /b-49
101 lose-reply c1 lose-reply c1: the reply is lost
102 tick time goes on to 4m10s
c1 calls set /a
103 serve c2 c2 calls create /b-50
... 94 steps like these
198 tick time goes on to 8m10s
c1 calls set /a
199 serve c2 c2 calls create /b-98
200 tick time goes on to 8m15s
c1 calls set /a
201 serve c2 c2 calls create /b-99
nothing is left to happen
violation of k: nobody is there`
	if got := strings.Join(told, "\n"); got != want {
		t.Errorf("the story is\n%s\nexpected\n%s", got, want)
	}
}

func TestWhatCodeDoesThreeTimesIsToldInFull(t *testing.T) {
	var b strings.Builder
	if err := WriteGist(&b, polling(3)); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "like these") {
		t.Errorf("something is left out of\n%s", b.String())
	}
}
