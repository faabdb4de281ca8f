package simrun

import (
	"regexp"
	"strings"
	"testing"
)

func TestCheckSaysWhatItsRunsHaveCovered(t *testing.T) {
	r := simrun(t, "check", "-v", "-run", "^rwlock/rwlock$", "-seeds", "1-400", "-strategy", "random")
	want := regexp.MustCompile(`^held    rwlock/rwlock            400 runs, \d+ steps
      checkers   ownership, claim, .*, leftover
      struck     times \(in runs, of those with it\): lose-request \d+ \(\d+ of \d+\), ` +
		`.*, sequence@path=/rw \d+ \(\d+ of \d+\)
      holders    \d at once, at most, by what their code knew
      goals      a session that ends while its client holds the lock in \d+ runs?, ` +
		`.*, a reader that is refused in \d+ runs?
1 scenario: 1 held
$`)
	if r.code != exitHeld || !want.MatchString(r.out) {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "check", "-run", "^lock/fan-out$", "-seeds", "1-20"); strings.Contains(r.out, "holders") {
		t.Errorf("without -v: %s", r.out)
	}
}

func TestAFaultThatCannotStrikeIsInconclusive(t *testing.T) {
	r := simrun(t, "check", "-run", "^lock/fan-out$", "-seeds", "1-500", "-faults", "expire=1")
	if r.code != exitInconclusive || !regexp.MustCompile(`^inconclusive lock/fan-out             expire=1 never struck `+
		`in 500 runs, of which \d+ had it in their plans: `+
		`expire needs a client without a connection, which waits for one; add disconnect=1 \(500 `+
		`runs\)\n`).MatchString(r.out) {
		t.Errorf("%+v", r)
	}
	r = simrun(t, "check", "-v", "-run", "^lock/fan-out$", "-seeds", "7", "-faults", "expire=1")
	if r.code != exitHeld || strings.Contains(r.out, "never struck") {
		t.Errorf("%+v", r)
	}
}
