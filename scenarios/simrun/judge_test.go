package simrun

import (
	"bytes"
	"strings"
	"testing"

	"zksim/model/history"
	"zksim/reports"
)

func TestJudgeRefusesTheHistoryOfARecipe(t *testing.T) {
	t.Chdir(t.TempDir())
	simrun(t, "check", "-seeds", "1-100", "-v", "lock/plain-create", "-o", "out")
	files, want := contents(t, "out"), "has the operation \"lock\" of a recipe, of which judge knows nothing, expected a "+
		"history of znodes, as judge -record and serve -record write it\n"
	n := 0
	for name := range files {
		if strings.HasSuffix(name, "history.jsonl") {
			n++
			if r := simrun(t, "judge", "out/"+name); r.code != exitUsage || !strings.HasSuffix(r.err, want) {
				t.Errorf("%+v", r)
			}
		}
	}
	if n == 0 {
		t.Fatal("no failure has a history")
	}
}

// TestJudgeReadsALongListing has what the proxy writes after a client has listed a folder with many long names.
func TestJudgeReadsALongListing(t *testing.T) {
	t.Chdir(t.TempDir())
	var text bytes.Buffer
	h := &history.History{Clients: 1}
	h.Add(history.Event{Kind: history.Call, Client: 1, Op: "children", Path: "/a"})
	h.Add(history.Event{Kind: history.Reply, Client: 1, Op: "children", Path: "/a",
		Data: strings.Repeat(strings.Repeat("n", 250)+"/", 80_000)})
	if err := reports.WriteHistory(&text, h); err != nil {
		t.Fatal(err)
	}
	write(t, "long.jsonl", text.String())
	if r := simrun(t, "judge", "long.jsonl"); r.code != exitInconclusive || r.err != "" {
		t.Errorf("%d, %.200q, %.200q", r.code, r.out, r.err)
	}
}
