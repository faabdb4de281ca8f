package scenarios_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"zksim/scenarios"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

func FuzzLock(f *testing.F) { scenarios.Fuzz(f, *catalog.Named("lock/lock")) }

// fuzzedMutant names the mutant that FuzzMutant fuzzes.
const fuzzedMutant = "ZKSIM_FUZZ_MUTANT"

// FuzzMutant fuzzes a mutant, which must fail, with nothing to begin with but
// the run without choices.
func FuzzMutant(f *testing.F) {
	name := os.Getenv(fuzzedMutant)
	if name == "" {
		f.Skipf("%s names no mutant; TestGosFuzzerFindsAMutant does", fuzzedMutant)
	}
	scenarios.Fuzz(bare{f}, *catalog.Named(name))
}

// bare is a fuzzer that is given nothing to begin with but no bytes.
type bare struct{ *testing.F }

func (b bare) Add(args ...any) {
	if len(args[0].([]byte)) == 0 {
		b.F.Add(args...)
	}
}

// fuzzed runs one input as Fuzz does and returns what it says, "" if it holds.
func fuzzed(r *engine.Runner, s *engine.Scenario, data []byte) string {
	t := &fakeT{}
	t.run(func() { scenarios.OneInput(t, r, s, data) })
	return t.fatal
}

func TestBytesFindAMutantAndItsScheduleReplays(t *testing.T) {
	r := engine.NewRunner()
	defer r.Close()
	for _, name := range []string{"lock/plain-create", "lock/ignore-exists", "queue/put-twice",
		"double-barrier/count-only"} {
		s := catalog.Named(name)
		found := 0
		for seed := range uint64(200) {
			data := r.Recorded(s, seed)
			said := fuzzed(r, s, data)
			if again := fuzzed(r, s, data); said != again {
				t.Fatalf("%s: the same bytes say %s and then %s", name, said, again)
			}
			if said == "" {
				continue
			}
			found++
			_, text, _ := strings.Cut(said, "\n\n")
			p, err := engine.ParseSchedule(strings.NewReader(text))
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, said)
			}
			res, err := r.Replay(s, p)
			if err != nil || !strings.HasPrefix(said, name+"  "+res.Verdict.Checker+": "+res.Verdict.Message+"\n") {
				t.Fatalf("%s: replay: %v %+v\n%s", name, err, res.Verdict, said)
			}
		}
		if found == 0 {
			t.Errorf("%s is not found in 200 strings of bytes", name)
		}
	}
}

func TestAnyBytesAreARunOfACorrectRecipe(t *testing.T) {
	r := engine.NewRunner()
	defer r.Close()
	s := catalog.Named("lock/lock")
	for _, data := range []string{"", "\x00", "\xff\xff\xff", strings.Repeat("\xff", 5000),
		strings.Repeat("\x00\xe1\x7f", 900), "zksim"} {
		if said := fuzzed(r, s, []byte(data)); said != "" {
			t.Errorf("%.20q: %s", data, said)
		}
	}
	if plan := r.Bytes(s, nil).Schedule.Faults; !slices.Equal(plan, s.Faults) {
		t.Errorf("without bytes the plan is %v", plan)
	}
}

// Go's fuzzer itself, on a binary with its counters, begins with no bytes and finds
// the flaw; the input that it writes fails by itself, and says the same.
func TestGosFuzzerFindsAMutant(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the package anew")
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "fuzz.test")
	if out, err := exec.Command("go", "test", "-c", "-fuzz=FuzzMutant", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	symbols, err := exec.Command("go", "tool", "nm", binary).Output()
	if n := strings.Count(string(symbols), "/engine.branch4["); err != nil || n != 64 {
		t.Errorf("%d instances of branch4, expected 64, for 1024 shapes of states: %v", n, err)
	}
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), binary, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), fuzzedMutant+"=lock/plain-create")
		out, err := cmd.CombinedOutput()
		if err == nil {
			t.Fatalf("%v holds:\n%s", args, out)
		}
		return string(out)
	}
	out := run("-test.run=^$", "-test.fuzz=^FuzzMutant$", "-test.fuzztime=120s", "-test.fuzzcachedir="+dir,
		"-test.parallel=2")
	input := regexp.MustCompile(`testdata/fuzz/FuzzMutant/([0-9a-f]+)`).FindStringSubmatch(out)
	verdict := regexp.MustCompile(`lock/plain-create  (quiescence|tree): .*`)
	if input == nil || !verdict.MatchString(out) {
		t.Fatalf("no input, or no verdict:\n%s", out)
	}
	again := run("-test.run=^FuzzMutant$/^" + input[1] + "$")
	if verdict.FindString(again) != verdict.FindString(out) || !strings.Contains(again, "zksim schedule 1") {
		t.Errorf("the input says\n%s\nand the fuzzer said\n%s", again, out)
	}
}

// TestOneFailureOfManyInputsIsToldInFull has two inputs fail by one checker: the second is told in a line, and
// leaves no schedule of its own.
func TestOneFailureOfManyInputsIsToldInFull(t *testing.T) {
	t.Chdir(t.TempDir())
	*scenarios.OutFlag = "out"
	defer func() { *scenarios.OutFlag = "" }()
	s := *catalog.Named("lock/plain-create")
	s.Caught = nil
	r := engine.NewRunner()
	defer r.Close()
	input := scenarios.Inputs(&fakeT{}, &s)
	var said []string
	for seed := uint64(0); len(said) < 2; seed++ {
		f := &fakeT{}
		f.run(func() { input(f, r, r.Recorded(&s, seed)) })
		if strings.Contains(f.fatal, "quiescence") {
			said = append(said, f.fatal)
		}
	}
	if !strings.Contains(said[0], "reproduce") || strings.Count(said[1], "\n") != 1 ||
		!strings.HasSuffix(said[1], "\n    told in full of an input before it") {
		t.Errorf("%s", strings.Join(said, "\n\n"))
	}
	if files, err := filepath.Glob("testdata/zksim/*/quiescence-*"); err != nil || len(files) != 1 {
		t.Errorf("%q, %v", files, err)
	}
}
