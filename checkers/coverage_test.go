package checkers

import "testing"

// covered are histories in which there is something to judge for a checker, or is not.
var covered = []struct {
	checker Declaring
	text    string
	judged  bool
}{
	{Waits{}, "invoke c1 o1 lock\ntold c2 at-rest", true},
	{Waits{}, "invoke c1 o1 lock\ncrashed c1\ntold c2 at-rest", false},
	{Waits{}, "invoke c1 o1 lock\nreturn c1 o1 lock\ntold c2 at-rest", false},
	{Monotone{}, "told c1 o1 data /a z3\ntold c1 o1 data /a z2", true},
	{Monotone{}, "told c1 o1 data /a z3\ntold c1 o1 data /b z2", false},
	{Monotone{}, "told c1 o1 data /a\ntold c1 o1 data /a z2", false},
	{Monotone{}, `
		invoke c1 o1 watch-data /a
		told c1 o1 data /a z3
		return c1 o1 watch-data
		told c1 o1 data /a z2`, false},
}

func TestACheckerKnowsWhetherItHasJudgedSomething(t *testing.T) {
	for _, x := range covered {
		if judged := len(x.checker.Needs().Missing(script(t, x.text))) == 0; judged != x.judged {
			t.Errorf("%s has judged something: %v, expected %v, of\n%s", x.checker.Name(), judged, x.judged, x.text)
		}
	}
}
