package simrun

import (
	"strings"
	"testing"
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
