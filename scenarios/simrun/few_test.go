package simrun

import (
	"strings"
	"testing"
)

// These are the commands that README shows, and what a user tries first.
func TestFewSeedsAndAPlanOfTheUsersOwnAreNoReasonToDoubtAGoodScenario(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"-seeds", "7"}, {"-seeds", "1-3"}, {"-faults", "none"},
		{"-faults", "lose-reply=2 expire=1@client=c1 disconnect=1"}, {"-faults", "lose-request=1@op=create,nth=2"}} {
		r := simrun(t, append([]string{"check", "lock/lock", "-v"}, args...)...)
		if r.code != exitHeld || !strings.HasPrefix(r.out, "held    lock/lock ") || !strings.Contains(r.out, " in 0 runs") {
			t.Errorf("%q: %+v", args, r)
		}
	}
}

func TestACheckerThatFewSeedsGiveNothingToJudgeIsNamed(t *testing.T) {
	r := simrun(t, "check", "lock/lock", "-seeds", "6")
	if r.code != exitHeld || !strings.Contains(r.out, "\n      not judged leftover (") ||
		strings.Contains(r.out, "goals") {
		t.Errorf("%+v", r)
	}
}
