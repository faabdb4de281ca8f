package simrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"zksim/scenarios/engine"
)

// portions explores a scope in so many portions below a folder.
func portions(t *testing.T, n int, args ...string) {
	t.Helper()
	for i := 1; i <= n; i++ {
		r := simrun(t, append([]string{"prove", "-split", "-shard", fmt.Sprintf("%d/%d", i, n), "-o",
			fmt.Sprintf("parts/%d", i)}, args...)...)
		if r.err != "" {
			t.Fatalf("%+v", r)
		}
	}
}

func TestPortionsOfOneScopeMergeToTheWhole(t *testing.T) {
	t.Chdir(t.TempDir())
	whole := simrun(t, "prove", "lock/lock", "-most", "0")
	m := regexp.MustCompile(`; (\d+ states), .*(digest [0-9a-f]{16})`).FindStringSubmatch(whole.out)
	if m == nil {
		t.Fatalf("%+v", whole)
	}
	portions(t, 3, "lock/lock", "-most", "0")
	r := simrun(t, "merge", "parts")
	if r.code != exitHeld || !strings.Contains(r.out, m[1]+", "+m[2]) {
		t.Errorf("%+v, expected %v", r, m)
	}
	if err := os.RemoveAll("parts/2"); err != nil {
		t.Fatal(err)
	}
	r = simrun(t, "merge", "parts")
	if r.code != exitInconclusive || !strings.Contains(r.out, "not there: part 2 of 3") ||
		!strings.Contains(r.out, "not all portions are done") {
		t.Errorf("%+v", r)
	}
	text, err := os.ReadFile("parts/1/portion")
	if err != nil {
		t.Fatal(err)
	}
	write(t, "parts/1/portion", string(text[:len(text)-1]))
	if r := simrun(t, "merge", "parts"); r.code != exitUsage ||
		!strings.Contains(r.err, "portion 1/3: its checksum is missing") {
		t.Errorf("%+v", r)
	}
	write(t, "parts/3/portion", string(text))
	if r := simrun(t, "merge", "parts"); r.code != exitUsage ||
		!strings.Contains(r.err, "parts/3/portion is portion 1/3, expected that of part 3/3") {
		t.Errorf("%+v", r)
	}
	portions(t, 2, "lock/lock", "-most", "0")
	if err := errors.Join(os.Remove("parts/2/portion"), os.RemoveAll("parts/3")); err != nil {
		t.Fatal(err)
	}
	r = simrun(t, "merge", "parts")
	if r.code != exitUsage || !strings.Contains(r.err, "part 2/2 is done, expected its") {
		t.Errorf("%+v, expected that no merge is without a portion", r)
	}
	for args, want := range map[string]string{
		"prove -split lock/lock":                              "-split takes -shard i/n",
		"prove -split lock/lock lock/workers -shard 1/2 -o x": "-split is for one scenario, not for 2",
		"prove -split lock/plain-create -shard 1/2 -o x":      "is a mutant",
		"prove -split lock/lock -shard 1/2 -o x -cert c":      "do not go with -split",
	} {
		if r := simrun(t, strings.Fields(args)...); r.code != exitUsage || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v, expected %s", args, r, want)
		}
	}
}

// A merge refuses such a portion, so -undone has to name its part.
func TestAPortionThatIsMissingOrDamagedIsExploredAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	portions(t, 4, "lock/lock", "-most", "0")
	text, err := os.ReadFile("parts/1/portion")
	if err := errors.Join(err, os.Remove("parts/2/portion")); err != nil {
		t.Fatal(err)
	}
	write(t, "parts/3/portion", string(text))
	text[len(text)-40] ^= 1 // of the last fingerprint
	write(t, "parts/1/portion", string(text))
	r := simrun(t, "merge", "-undone", "parts")
	if r.code != exitHeld || r.out != "1,2,3\n" || !strings.Contains(r.err, "portion 1/4: it is damaged") ||
		!strings.Contains(r.err, "part 2/4 is done, expected its portion: ") ||
		!strings.Contains(r.err, "parts/3/portion is portion 1/4, expected that of part 3/4") {
		t.Errorf("%+v", r)
	}
	for i := 1; i <= 3; i++ {
		simrun(t, "prove", "-split", "-shard", fmt.Sprintf("%d/4", i), "-o", fmt.Sprintf("parts/%d", i), "lock/lock",
			"-most", "0")
	}
	if r := simrun(t, "merge", "-undone", "parts"); r != (result{out: "\n"}) {
		t.Errorf("%+v", r)
	}
}

func TestAPipeIsNoPortion(t *testing.T) {
	t.Chdir(t.TempDir())
	portions(t, 2, "lock/lock", "-most", "0")
	if err := errors.Join(os.Remove("parts/2/portion"), syscall.Mkfifo("parts/2/portion", 0o600)); err != nil {
		t.Fatal(err)
	}
	if r := simrun(t, "merge", "parts"); r.code != exitUsage ||
		!strings.Contains(r.err, "parts/2/portion is no regular file") {
		t.Errorf("%+v", r)
	}
}

// Whose time is up before the frontier has another one, and is not done.
func TestAPortionThatIsCutBeforeTheFrontierIsNotDone(t *testing.T) {
	t.Chdir(t.TempDir())
	portions(t, 2, "lock/lock", "-most", "0")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := simrunUntil(ctx, "prove", "-split", "-shard", "2/2", "-o", "parts/2", "lock/lock", "-most", "0"); r.code !=
		exitInconclusive {
		t.Fatalf("%+v", r)
	}
	r := simrun(t, "merge", "parts")
	if r.code != exitInconclusive || !strings.Contains(r.out, "not all portions are done; 419 states until then") {
		t.Errorf("%+v", r)
	}
}

// A merge of portions says what its proof is of and what it says nothing of, as one search does.
func TestMergedPortionsSayWhatIsNotProved(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"semaphore/semaphore", "-most", "0", "-slow-wakes"}
	whole := simrun(t, append([]string{"prove"}, args...)...)
	portions(t, 2, args...)
	r := simrun(t, "merge", "parts")
	scope := regexp.MustCompile(`^holds: (.*); \d+ states, `).FindStringSubmatch(whole.out)
	_, beside, _ := strings.Cut(whole.out, "\n")
	beside, _, _ = strings.Cut(beside, "1 scenario")
	if scope == nil || !strings.HasPrefix(beside, "      checkers   ownership, ") ||
		strings.Count(beside, "\n      not ") != 4 {
		t.Fatalf("%+v", whole)
	}
	if r.code != exitHeld || !strings.Contains(r.out, scope[1]) || !strings.Contains(r.out, "\n"+beside) {
		t.Errorf("%+v, expected %s and\n%s", r, scope[1], beside)
	}
}

func TestAPortionThatRefutesMakesTheMergeFail(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, bad())
	portions(t, 2, "test/bad", "-slow-wakes", "-most", "1")
	r := simrun(t, "merge", "parts")
	if r.code != exitViolation || !strings.Contains(r.out, "refuted") {
		t.Errorf("%+v", r)
	}
}

// Something is in the way of the portion when the search has ended.
func TestAPortionThatCannotBeWrittenLosesNoVerdict(t *testing.T) {
	t.Chdir(t.TempDir())
	s := bad()
	program := s.Program
	s.Program = func(p *engine.Process) {
		os.MkdirAll("part/portion/in-the-way", 0o777)
		program(p)
	}
	add(t, s)
	r := simrun(t, strings.Fields("prove test/bad -slow-wakes -most 1 -split -shard 1/1 -o part")...)
	if r.code != exitUsage || !strings.Contains(r.out, "1 scenario: 1 violated\n") ||
		!strings.Contains(r.err, "writing part/portion: ") {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "merge", "part", "-undone"); r.out != "1\n" {
		t.Errorf("%+v", r)
	}
}

// A portion that could not write the folder of what refutes it is run again, as a part of check is.
func TestAPortionWithoutItsFailureIsRunAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, bad())
	os.Mkdir("part", 0o777)
	write(t, "part/test.bad", "no folder")
	r := simrun(t, strings.Fields("prove test/bad -slow-wakes -most 1 -split -shard 1/1 -o part")...)
	if r.code != exitUsage || !strings.Contains(r.out, "1 scenario: 1 violated\n") {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "merge", "part", "-undone"); r.out != "1\n" {
		t.Errorf("%+v", r)
	}
}

// A part that is killed leaves no portion, not even that of an earlier run, which may be of another program.
func TestAPortionOfAnEarlierRunIsGoneWhenAnotherOneBegins(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, engine.Scenario{Name: "test/looks", Clients: 1, Program: func(p *engine.Process) {
		if _, err := os.Stat("part/portion"); err == nil { //zksim:ignore it is the same in every run
			t.Error("the portion of the earlier run is there")
		}
		idle(p)
	}})
	for range 2 {
		r := simrun(t, strings.Fields("prove test/looks -clients 1 -most 0 -split -shard 1/1 -o part")...)
		if _, err := os.Stat("part/portion"); r.code != exitHeld || err != nil {
			t.Fatalf("%+v, %v", r, err)
		}
	}
}

func TestEveryProofKeepsToTheLimitOfMemory(t *testing.T) {
	t.Chdir(t.TempDir())
	var limit atomic.Int64
	add(t, engine.Scenario{Name: "test/limited", Clients: 1, Program: func(p *engine.Process) {
		limit.Store(debug.SetMemoryLimit(-1))
		idle(p)
	}})
	for _, how := range []string{"-most 0", "-most 0 -split -shard 1/1 -o part"} {
		limit.Store(0)
		r := simrun(t, append(strings.Fields("prove test/limited -mem 512M -clients 1 "), strings.Fields(how)...)...)
		if got, want := limit.Load(), int64(576<<20); r.code != exitHeld || got != want {
			t.Errorf("%s: %+v, a limit of %d, expected %d", how, r, got, want)
		}
	}
}

func TestWhatDoesNotGoWithPortionsIsRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	r := simrun(t, "prove", "lock/lock", "-most", "0", "-split", "-shard", "1/1", "-o", "parts/1", "-junit",
		"parts/1/portion")
	if r.code != exitUsage || !strings.Contains(r.err, "-junit: parts/1/portion is a file that commands write into ") {
		t.Errorf("%+v", r)
	}
	portions(t, 1, "lock/lock", "-most", "0")
	for _, name := range []string{"parts/1/shard.json", "parts/1/portion"} {
		r := simrun(t, "merge", "parts", "-junit", name)
		if r.code != exitUsage || r.err != "simrun merge: -junit: "+name+" is the file to read, expected another one\n" {
			t.Errorf("%+v", r)
		}
	}
	r = simrun(t, "merge", "parts", "-obligations", "none.json")
	if r.code != exitUsage || r.err != "simrun merge: -obligations goes with parts of a list only; these are portions "+
		"of one scope\n" {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "merge", "parts"); r.code != exitHeld {
		t.Errorf("%+v", r)
	}
}
