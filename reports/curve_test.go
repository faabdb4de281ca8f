package reports

import (
	"encoding/json"
	"strings"
	"testing"

	"zksim/model/history"
)

func TestThePageDrawsTheChanceOfFailure(t *testing.T) {
	f := failure(6, "x")
	f.Report.Why = &history.Futures{Of: 30, Failed: []int{0, 0, 3, 30}}
	f.Report.Why.Decide([]string{"a", "b", "serve c1", "d"})
	page := render(t, f)
	wellFormed(t, page)
	for _, want := range []string{
		`<polygon class="chance" points="14.0,87.0 14.0,87.0 58.0,87.0 102.0,84.0 146.0,57.0 190.0,57.0 234.0,57.0 ` +
			`278.0,57.0 278.0,87.0"/>`,
		`<rect class="column decisive" x="102" `, "decides: serve c1, from 10% to 100%</text>",
		"<title>after step 2, 10% of 30 random futures fail</title>",
		`<strong>Decided at <a href="#s3">step 3</a>:</strong> `, ". Before it 10% of the <abbr title=",
		">random futures</abbr> fail, after it 100%.</p>",
		`<li id="s3" data-s="3" class="decisive">`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	var report struct{ Why map[string]any }
	var text strings.Builder
	if err := f.Report.Write(&text); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(text.String()), &report); err != nil || report.Why["of"] != 30.0 ||
		report.Why["step"] != 3.0 || report.Why["name"] != "serve c1" {
		t.Errorf("%v: %s", err, &text)
	}
	f.Report.Why.Failed, f.Report.Why.Cut = []int{0, 0, 3}, true
	f.Report.Why.Decide([]string{"a", "b", "c"})
	if page := render(t, f); !strings.Contains(page, `points="14.0,87.0 14.0,87.0 58.0,87.0 102.0,84.0 102.0,87.0"`) {
		t.Error("the curve does not end where nothing is known")
	}
	f.Report.Why = &history.Futures{Of: 30, Failed: []int{20, 30}}
	f.Report.Why.Decide([]string{"a"})
	if page := render(t, f); strings.Contains(page, "decides:") ||
		!strings.Contains(page, ">no step decides it: 67% of all random runs with no more faults fail.</p>") {
		t.Error("a step decides what fails anyway")
	}
	long := failure(5000, "x") // the step that decides is not among those shown
	if page := render(t, long); !strings.Contains(page, "<strong>Decided at step 2:</strong> ") ||
		strings.Contains(page, "decides: x") {
		t.Error("a link leads to a step that is not shown")
	}
	f.Report.Why = nil
	if page := render(t, f); strings.Contains(page, `class="chance"`) || strings.Contains(page, `id="decision"`) {
		t.Error("a chance is told that nobody knows")
	}
}
