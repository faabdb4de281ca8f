package simrun

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"zksim/internal/pipeline"
	"zksim/reports"
	"zksim/scenarios/engine"
)

// arrows are the moments of a trace, each with what the arrows to it come from, as "request c1 set".
type arrows struct {
	names, texts []string
	from         [][]string
}

func arrowsOf(t *testing.T, f *reports.Failure) (x arrows) {
	t.Helper()
	var text bytes.Buffer
	if err := reports.WritePerfetto(&text, f); err != nil {
		t.Fatal(err)
	}
	var file traceFile
	if err := json.Unmarshal(text.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	type place struct{ pid, ts int }
	hosts, at, begun := map[int]any{}, map[place]int{}, map[int]int{}
	for _, e := range file.TraceEvents {
		here := place{*e.Pid, *e.Ts}
		switch {
		case e.Name == "process_name":
			hosts[*e.Pid] = e.Args["name"]
		case e.Ph == "X" && e.Cat == "event":
			at[here] = len(x.names)
			x.names, x.texts = append(x.names, e.Name), append(x.texts, fmt.Sprint(e.Args["text"]))
			x.from = append(x.from, nil)
		case e.Ph == "s":
			begun[e.ID] = at[here]
		case e.Ph == "f":
			source, _, _ := strings.Cut(x.names[begun[e.ID]], " ")
			x.from[at[here]] = append(x.from[at[here]], e.Name+" "+source)
		}
	}
	return x
}

// requestOfTxn says which requests can lead to a txn, and the step in which one is executed.
var requestOfTxn = map[string]*regexp.Regexp{
	"created": regexp.MustCompile(`^request (create\w*|multi|serve)$`),
	"changed": regexp.MustCompile(`^request (set|multi|serve)$`),
	"deleted": regexp.MustCompile(`^request (delete|multi|closeSession|serve)$`),
}

func TestArrowsComeFromWhatWasTheCause(t *testing.T) {
	r := engine.NewRunner()
	defer r.Close()
	unanswered := regexp.MustCompile(`cannot know whether|(context canceled|deadline exceeded|connection closed|` +
		`connect to a server|broken pipe|expired by the server)$`)
	requests := 0
	for _, name := range []string{"commit/rivals", "commit/withdrawn", "watch/sure-early", "election/restarts"} {
		for seed := uint64(1); seed <= 3; seed++ {
			run := r.Seed(scenarioNamed(name), seed)
			r.Names(&run)
			f, err := pipeline.Trace(scenarioNamed(name), run.Schedule)
			if err != nil {
				t.Fatal(err)
			}
			x := arrowsOf(t, f)
			for i, what := range x.names {
				verb, _, _ := strings.Cut(what, " ")
				replied := slices.Contains(x.from[i], "reply serve")
				switch {
				case verb == "serve" && !strings.Contains(x.texts[i], "re-arming") && len(x.from[i]) == 0:
					t.Errorf("%s %d: no request leads to %q", name, seed, x.texts[i])
				case verb == "reply" && replied == unanswered.MatchString(x.texts[i]):
					t.Errorf("%s %d: to %q lead %q", name, seed, x.texts[i], x.from[i])
				}
				for _, from := range x.from[i] {
					if pattern := requestOfTxn[verb]; pattern != nil && strings.HasPrefix(from, "request") {
						requests++
						if !pattern.MatchString(from) {
							t.Errorf("%s %d: %q has led to %q", name, seed, from, x.texts[i])
						}
					}
				}
			}
		}
	}
	if requests < 100 {
		t.Errorf("%d requests have led to txns", requests)
	}
}
