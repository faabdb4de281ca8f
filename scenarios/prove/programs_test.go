package prove_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// number is that of an environment variable.
func number(t testing.TB, name string, usual uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s=%q, expected a number", name, text)
	}
	return n
}

// subjectsOf are the subjects that an environment variable names.
func subjectsOf(t testing.TB, name string) (about int) {
	t.Helper()
	for _, word := range strings.FieldsFunc(os.Getenv(name), func(r rune) bool { return r == ',' }) {
		i := slices.Index(subjectNames[:], word)
		if i < 0 {
			t.Fatalf("%s: there is no subject %q, expected some of %s", name, word, strings.Join(subjectNames[:], ","))
		}
		about |= 1 << i
	}
	return about
}

// tally counts what programs have come to.
type tally struct {
	sync.Mutex
	closed, skipped, outcomes int
	kinds                     map[string]int
}

func (y *tally) add(x examined) {
	y.Lock()
	defer y.Unlock()
	if !x.closed {
		y.skipped++
		return
	}
	y.closed++
	y.outcomes += x.set
}

// few reports whether findings are so few that it is worth the time to make their programs small.
func (y *tally) few() bool {
	y.Lock()
	defer y.Unlock()
	return len(y.kinds) < 30
}

// first counts a finding, and reports whether it is the first of its sort.
func (y *tally) first(p *program, f *finding) bool {
	y.Lock()
	defer y.Unlock()
	sort := f.kind + ":"
	var ops []string
	for _, c := range p.clients {
		anyOf(c, func(s *stmt) bool { ops = append(ops, s.op()); return false })
	}
	for _, r := range p.faults {
		ops = append(ops, r.Fault)
	}
	slices.Sort(ops)
	sort += strings.Join(slices.Compact(ops), " ")
	y.kinds[sort]++
	return y.kinds[sort] == 1
}

func (y *tally) String() string {
	text := fmt.Sprintf("%d programs with %d outcomes, and %d that are too large", y.closed, y.outcomes, y.skipped)
	for _, kind := range slices.Sorted(maps.Keys(y.kinds)) {
		text += fmt.Sprintf("\n%5d %s", y.kinds[kind], kind)
	}
	return text
}

// memoEvery is of how many programs one is searched with a memo and without.
const memoEvery = 10

// TestRandomProgramsHaveNoOtherOutcomesThanAPlainSearchFinds examines the programs of some seeds. ZKSIM_PROGRAMS says
// of how many, ZKSIM_SEED which is the first, and ZKSIM_SUBJECTS, as in "timers,goroutines", what all of them are about
// beside what they draw. A finding is shown with the smallest program that still has it; its text, in a file that
// ZKSIM_PROGRAM names, is what TestProgramsThatWereAFinding examines.
func TestRandomProgramsHaveNoOtherOutcomesThanAPlainSearchFinds(t *testing.T) {
	usual := uint64(500)
	if testing.Short() {
		usual = 300
	}
	seed, count := number(t, "ZKSIM_SEED", 1), number(t, "ZKSIM_PROGRAMS", usual)
	about := subjectsOf(t, "ZKSIM_SUBJECTS")
	y := tally{kinds: map[string]int{}}
	var next atomic.Uint64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < count; i = next.Add(1) - 1 {
				p, l := generate(seed+i, about), usualLimits
				l.memo, l.exchange = i%memoEvery == 0, i%exchangeEvery == 1 || os.Getenv("ZKSIM_EXCHANGE") != ""
				x := examine(p, l)
				if y.add(x); x.finding == nil {
					continue
				}
				f := x.finding
				if y.few() {
					p, f = shrink(p, f, l)
				}
				if y.first(p, f) {
					t.Errorf("seed %d: %s\n%s\n%s", seed+i, f.kind, p, f.text)
				}
			}
		})
	}
	wg.Wait()
	// Goroutines that forget nothing know what the others know, and so each order of their steps is a state of its own.
	if t.Log(y.String()); about&elections == 0 && y.skipped > int(count)*2/5 {
		t.Error("too many programs are too large to be compared")
	}
}

// TestProgramsThatWereAFinding examines programs that a search was once wrong about.
func TestProgramsThatWereAFinding(t *testing.T) {
	examineFiles(t, cmp.Or(os.Getenv("ZKSIM_PROGRAM"), "testdata/programs/*.txt"))
}

// TestEachPartOfAKeyCounts examines programs that a search is wrong about if one thing is left out of the keys under
// which it remembers steps and what can happen, of what decides when these may be used, of the timers of a state, or of
// what decides whether servers that nobody is connected to can wait. Random programs come to most of these situations
// too seldom.
func TestEachPartOfAKeyCounts(t *testing.T) { examineFiles(t, "testdata/keys/*.txt") }

// examineFiles examines the programs in some files.
func examineFiles(t *testing.T, pattern string) {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := parseProgram(string(text))
			if err != nil {
				t.Fatal(err)
			}
			x := examine(p, limits{states: 20_000, walks: 500, memo: true})
			if x.finding != nil {
				t.Errorf("%s\n%s", x.finding.kind, x.finding.text)
			} else if !x.closed {
				t.Error("the program is too large")
			}
			t.Log(x.set, "outcomes")
		})
	}
}
