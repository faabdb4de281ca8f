package scenarios

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"zksim/checkers"
)

// fakeT records what Check says. Fatalf ends the test, as with a *testing.T.
type fakeT struct {
	logs, fatal string
}

type fatal struct{}

func (*fakeT) Helper()                          {}
func (*fakeT) Name() string                     { return "TestMine/a+b" }
func (f *fakeT) Logf(format string, a ...any)   { f.logs += fmt.Sprintf(format, a...) }
func (f *fakeT) Fatalf(format string, a ...any) { f.fatal = fmt.Sprintf(format, a...); panic(fatal{}) }

// check runs Check with flags as given.
func check(t *testing.T, s Scenario, seeds, schedule string) (f *fakeT) {
	t.Helper()
	f = &fakeT{}
	oldSeeds, oldSchedule := *seedsFlag, *scheduleFlag
	*seedsFlag, *scheduleFlag = seeds, schedule
	defer func() {
		*seedsFlag, *scheduleFlag = oldSeeds, oldSchedule
		if r := recover(); r != nil && r != (fatal{}) {
			panic(r)
		}
	}()
	Check(f, s)
	return f
}

func TestCheckPassesWhatHoldsAndWhatIsCaught(t *testing.T) {
	if f := check(t, *scenario(t, "lock/fan-out"), "1-20", ""); f.fatal != "" || f.logs != "lock/fan-out held in 20 runs\n    holders    1 at once, at most" {
		t.Errorf("%+v", f)
	}
	if f := check(t, *scenario(t, "lock/watch-first"), "6-20", ""); f.fatal != "" || f.logs != "lock/watch-first caught by herd at seed 6\n    holders    1 at once, at most" {
		t.Errorf("%+v", f)
	}
}

func TestCheckFailsWhatDoesNotHold(t *testing.T) {
	good := Scenario{Name: "my/lock", Clients: 1, Program: idle}
	for _, x := range []struct {
		change func(s *Scenario)
		seeds  string
		want   string
	}{
		{func(s *Scenario) {}, "0-", `-seeds: seeds are a number or a range as 1-500, not "0-"`},
		{func(s *Scenario) { s.Caught = []string{"steps", "tree"} }, "1-3", "my/lock: 3 runs, and neither of steps, tree caught it"},
		{func(s *Scenario) { s.Goals = []Goal{goalExpiry} }, "1-3", "my/lock: no run had a session that ends while its client holds the lock\n" +
			"    goals      a session that ends while its client holds the lock in 0 runs"},
		{func(s *Scenario) { s.Checkers = picked[:1] }, "1-3", "my/lock: belief judged nothing in 3 runs: it needs Acquired events; record them with Object.Acquired"},
		{func(s *Scenario) {
			s.Program = wrong("tryacquire", "lock", "unlock", true).Program
			s.Setup = lockSetup
			s.Rounds = 3
			s.Checkers = picked[1:2]
		}, "1-3",
			`my/lock, seed 1: no checker of my/lock knows the operation "tryacquire"; they know lock, trylock, unlock, the nearest being "trylock"; ` +
				`a word that nobody is to judge belongs into Scenario.Words`},
		{func(s *Scenario) { s.Checkers = []checkers.Checker{doubtful{}} }, "1-3", "my/lock: seed 1: who knows"},
		{func(s *Scenario) { s.Faults = plan("sequence=1@path=/x") }, "1-3", "fault plan: sequence=1@path=/x: there is no znode /x when my/lock begins"},
		{func(s *Scenario) {}, "1-3", ""},
	} {
		s := good
		x.change(&s)
		if f := check(t, s, x.seeds, ""); f.fatal != x.want {
			t.Errorf("got  %s\nwant %s", f.fatal, x.want)
		}
	}
}

func TestCheckPrintsHowToRepeatAFailure(t *testing.T) {
	s := *scenario(t, "lock/plain-create")
	s.Caught = nil
	f := check(t, s, "1-100", "")
	m := regexp.MustCompile(`(?s)^lock/plain-create  seed (\d+)  quiescence: c\d waits for [^\n]*\n` +
		`reproduce  go test -run '\^TestMine/a\\\+b\$' -seeds (\d+)\n` +
		`or save the following and  go test -run '\^TestMine/a\\\+b\$' -schedule FILE\n\n` +
		`(zksim schedule 1\nscenario lock/plain-create\n.*)$`).FindStringSubmatch(f.fatal)
	if m == nil || m[1] != m[2] {
		t.Fatalf("%s", f.fatal)
	}
	// The seed alone, and the schedule alone, fail in the same way.
	if again := check(t, s, m[2], ""); again.fatal != f.fatal {
		t.Errorf("got\n%s\nwant\n%s", again.fatal, f.fatal)
	}
	file := filepath.Join(t.TempDir(), "schedule.txt")
	if err := os.WriteFile(file, []byte(m[3]), 0o666); err != nil {
		t.Fatal(err)
	}
	if again := check(t, s, "", file); !strings.HasPrefix(again.fatal, "lock/plain-create: quiescence in ") {
		t.Errorf("%+v", again)
	}
	s.Caught = []string{"quiescence"} // then it is as it should be
	if again := check(t, s, "", file); again.fatal != "" || !strings.Contains(again.logs, "violated after ") {
		t.Errorf("%+v", again)
	}
}

func TestCheckRefusesSchedulesThatDoNotFit(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) string {
		file := filepath.Join(dir, "schedule.txt")
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	s := Scenario{Name: "my/lock", Clients: 1, Program: idle}
	for text, want := range map[string]string{
		"nonsense\n":                                         `line 1: a schedule begins with "zksim schedule 1", not "nonsense"`,
		"zksim schedule 1\nscenario your/lock\n":             `the schedule is one of scenario your/lock, not of my/lock`,
		"zksim schedule 1\nscenario my/lock\n\nserve c1\n":   `line 4: the schedule does not fit scenario my/lock: step 1: "serve c1" is not possible here; possible: run c1, connect c1 s1`,
		"zksim schedule 1\nscenario my/lock\n\ncalm\nrun c1": "",
	} {
		file := write(text)
		if want != "" {
			want = file + ": " + want
		}
		if f := check(t, s, "", file); f.fatal != want {
			t.Errorf("got  %s\nwant %s", f.fatal, want)
		}
	}
	missing := filepath.Join(dir, "missing")
	if f := check(t, s, "", missing); !strings.HasPrefix(f.fatal, "-schedule: open "+missing) {
		t.Errorf("%+v", f)
	}
}

// TestCheckOfATwin is run by the next test in a process of its own; by itself it
// is a use of Check as any.
func TestCheckOfATwin(t *testing.T) {
	s := *scenario(t, "lock/plain-create")
	if os.Getenv("ZKSIM_TEST_MUST_HOLD") != "" {
		s.Caught = nil
	}
	Check(t, s)
}

func TestTheFlagsOfATestBinaryReachCheck(t *testing.T) {
	command := func(env string, args ...string) (string, error) {
		c := exec.Command(os.Args[0], append([]string{"-test.run", "^TestCheckOfATwin$", "-test.v"}, args...)...)
		c.Env = append(os.Environ(), env)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	out, err := command("ZKSIM_TEST_MUST_HOLD=1", "-seeds", "1-200")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	m := regexp.MustCompile(`go test -run '(\S+)' -seeds (\d+)`).FindStringSubmatch(out)
	if m == nil || m[1] != "^TestCheckOfATwin$" {
		t.Fatal(out)
	}
	again, err := command("ZKSIM_TEST_MUST_HOLD=1", "-seeds", m[2])
	if err == nil || !strings.Contains(again, "seed "+m[2]+"  quiescence: ") {
		t.Errorf("%v\n%s", err, again)
	}
	file, err := filepath.Abs(scheduleFile("lock/plain-create"))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := command("ZKSIM_TEST_MUST_HOLD=1", "-schedule", file); err == nil || !strings.Contains(out, "lock/plain-create: quiescence in ") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := command("ZKSIM_TEST_MUST_HOLD=", "-schedule", file); err != nil || !strings.Contains(out, "violated after ") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := command("ZKSIM_TEST_MUST_HOLD=", "-seeds", "nine"); err == nil || !strings.Contains(out, `-seeds: seeds are a number or a range as 1-500, not "nine"`) {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestRangesOfSeeds(t *testing.T) {
	for text, want := range map[string]Range{"0": {0, 0}, "17": {17, 17}, "1-500": {1, 500}, "9223372036854775807": {1<<63 - 1, 1<<63 - 1}} {
		if got, err := ParseRange(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "-", "1-", "-1", "5-1", "1-2-3", "x", "1..5", " 1", "+1", "9223372036854775808", strings.Repeat("9", 200)} {
		if got, err := ParseRange(text); err == nil || len(err.Error()) > 150 {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
