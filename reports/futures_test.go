package reports

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestTheStepThatDecides(t *testing.T) {
	names := []string{"run c1", "lose-reply c1", "serve c2", "tick"}
	for _, x := range []struct {
		failed []int
		step   int
		want   string
	}{
		{[]int{0, 0, 30}, 2, "after lose-reply c1, 100% of the random futures fail, before it 0%"},
		{[]int{0, 0, 13, 30}, 2, "after lose-reply c1, 43% of the random futures fail, before it 0%"}, // to make it possible is more than to make it certain
		{[]int{0, 1, 13, 12, 30}, 2, "after lose-reply c1, 43% of the random futures fail, before it 3%"},
		{[]int{0, 1, 1, 1, 30}, 4, "after tick, 100% of the random futures fail, before it 3%"},
		{[]int{0, 9, 9, 18, 0}, 1, "after run c1, 30% of the random futures fail, before it 0%"},
		{[]int{15, 0, 30}, 0, "no step decides it: 50% of all random runs without faults fail"},
		{[]int{3, 3, 2}, 0, "no step raises the chance of failure, which is 10%"},
		{[]int{0}, 0, "no step raises the chance of failure, which is 0%"},
	} {
		f := Futures{Of: 30, Failed: x.failed}
		f.Decide(names)
		if f.Step != x.step || f.Step > 0 && f.Name != names[f.Step-1] || f.String() != x.want {
			t.Errorf("%v: step %d, %s, %s", x.failed, f.Step, f.Name, &f)
		}
	}
}

func TestWhatIsKnownOfTheChanceOfFailure(t *testing.T) {
	f := Futures{Of: 10, Failed: []int{0, 10}}
	if !f.Known(7) || f.Chance(7) != 1 || f.Chance(0) != 0 {
		t.Errorf("%+v is decided", f)
	}
	if f.Cut = true; f.Known(2) || !f.Known(1) {
		t.Errorf("%+v is not known after its second step", f)
	}
}

func TestThePageDrawsTheChanceOfFailure(t *testing.T) {
	f := failure(6, "x")
	f.Report.Why = &Futures{Of: 30, Failed: []int{0, 0, 3, 30}}
	f.Report.Why.Decide([]string{"a", "b", "serve c1", "d"})
	page := render(t, f)
	wellFormed(t, page)
	for _, want := range []string{
		`<polygon class="chance" points="14.0,87.0 14.0,87.0 58.0,87.0 102.0,84.0 146.0,57.0 190.0,57.0 234.0,57.0 278.0,57.0 278.0,87.0"/>`,
		`<rect class="column decisive" x="102" `, "decides: serve c1, from 10% to 100%</text>", "<title>after step 2, 10% of 30 random futures fail</title>",
		`<strong>Decided at <a href="#s3">step 3</a>:</strong> `, ". Before it 10% of the random futures fail, after it 100%.</p>",
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
	if err := json.Unmarshal([]byte(text.String()), &report); err != nil || report.Why["of"] != 30.0 || report.Why["step"] != 3.0 || report.Why["name"] != "serve c1" {
		t.Errorf("%v: %s", err, &text)
	}
	f.Report.Why.Failed, f.Report.Why.Cut = []int{0, 0, 3}, true
	f.Report.Why.Decide([]string{"a", "b", "c"})
	if page := render(t, f); !strings.Contains(page, `points="14.0,87.0 14.0,87.0 58.0,87.0 102.0,84.0 102.0,87.0"`) {
		t.Error("the curve does not end where nothing is known")
	}
	f.Report.Why = &Futures{Of: 30, Failed: []int{20, 30}}
	f.Report.Why.Decide([]string{"a"})
	if page := render(t, f); strings.Contains(page, "decides:") || !strings.Contains(page, ">no step decides it: 67% of all random runs without faults fail.</p>") {
		t.Error("a step decides what fails anyway")
	}
	long := failure(5000, "x") // the step that decides is not among those shown
	if page := render(t, long); !strings.Contains(page, "<strong>Decided at step 2:</strong> ") || strings.Contains(page, "decides: x") {
		t.Error("a link leads to a step that is not shown")
	}
	f.Report.Why = nil
	if page := render(t, f); strings.Contains(page, `class="chance"`) || strings.Contains(page, `id="decision"`) {
		t.Error("a chance is told that nobody knows")
	}
}
