package history

import (
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
		// to make it possible is more than to make it certain
		{[]int{0, 0, 13, 30}, 2, "after lose-reply c1, 43% of the random futures fail, before it 0%"},
		{[]int{0, 1, 13, 12, 30}, 2, "after lose-reply c1, 43% of the random futures fail, before it 3%; none do before " +
			"step 1, run c1"},
		{[]int{0, 0, 1, 1, 30}, 4, "after tick, 100% of the random futures fail, before it 3%; none do before step 2, " +
			"lose-reply c1"},
		{[]int{0, 1, 0, 1, 30}, 4, "after tick, 100% of the random futures fail, before it 3%; none do before step 3, " +
			"serve c2"},
		{[]int{1, 1, 1, 1, 30}, 4, "after tick, 100% of the random futures fail, before it 3%"},
		{[]int{0, 9, 9, 18, 0}, 1, "after run c1, 30% of the random futures fail, before it 0%"},
		{[]int{15, 0, 30}, 0, "no step decides it: 50% of all random runs with no more faults fail"},
		{[]int{3, 3, 2}, 0, "no step raises the chance of failure, which is 10%"},
		{[]int{0}, 0, "no step raises the chance of failure, which is 0%"},
	} {
		f := Futures{Of: 30, Failed: x.failed}
		f.Decide(names)
		if f.Step != x.step || f.Step > 0 && f.Name != names[f.Step-1] || f.String() != x.want ||
			!strings.HasPrefix(f.Name, f.Kind()) {
			t.Errorf("%v: step %d, %s, %s", x.failed, f.Step, f.Name, &f)
		}
	}
}

func TestWhatIsKnownOfTheChanceOfFailure(t *testing.T) {
	f := Futures{Of: 10, Failed: []int{0, 10}}
	if !f.Known(7) || f.Chance(7) != 1 || f.Chance(0) != 0 {
		t.Errorf("%+v is decided", f)
	}
	if f.Kind() != "" {
		t.Errorf("%+v has no step, and it is %s", f, f.Kind())
	}
	if f.Cut = true; f.Known(2) || !f.Known(1) {
		t.Errorf("%+v is not known after its second step", f)
	}
	const later = "a step after step 2, up to which 20% of the random futures fail: to look further took too long"
	if f.Failed = []int{2, 3, 2}; f.String() != later || f.Kind() != "a later step" {
		t.Errorf("%+v: %s", f, &f)
	}
}
