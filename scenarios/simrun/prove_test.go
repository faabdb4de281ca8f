package simrun

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"zksim/scenarios/catalog"
	"zksim/scenarios/prove"
)

// The pages show what prove prints, but for times, which differ, and for the probability of a collision, which depends
// on the workers. What follows "..." is left out there. The proof with other scopes takes a minute, and is not run.
func TestThePagesShowProofsAsTheyAre(t *testing.T) {
	blocks := fences(t, "docs/prove.md", "")
	promela, err := os.ReadFile("../../docs/promela/README.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	varies := regexp.MustCompile(`\\\.\\\.\\\.|\\\([0-9a-z\\.]+s\\\)|< [0-9e-]+`)
	run := 0
	for _, block := range blocks {
		block, ok := strings.CutPrefix(block, "$ go run ./cmd/simrun ")
		if !ok || !strings.HasPrefix(block, "prove ") || strings.Contains(block, "\n      beyond ") {
			continue
		}
		command, shown, _ := strings.Cut(block, "\n")
		r := simrun(t, strings.Fields(strings.ReplaceAll(command, "'", ""))...)
		want := "^" + varies.ReplaceAllString(regexp.QuoteMeta(shown), ".*") + "$"
		if ok, err := regexp.MatchString(want, r.out); err != nil || !ok {
			t.Errorf("docs/prove.md shows of %s\n%s\nthe tool prints\n%s", command, shown, r.out)
		}
		run++
	}
	if run != 3 {
		t.Errorf("docs/prove.md shows %d proofs that can be compared, expected 3", run)
	}
	r := simrun(t, "prove", "-run", "^lock/lock$", "-most", "0")
	states := regexp.MustCompile(`[0-9]+ states`).FindString(r.out)
	if !strings.Contains(string(promela), " "+states+" of the lock without faults") {
		t.Errorf("docs/promela/README.md: expected %q", states)
	}
}

func TestThePageAndTheHelpNameTheFlagsThatMeanNoScope(t *testing.T) {
	page, err := os.ReadFile("../../docs/prove.md")
	if err != nil {
		t.Fatal(err)
	}
	last := len(notScope) - 1
	for text, want := range map[string]string{
		string(page): "With no flags but `-" + strings.Join(notScope[:last], "`, `-") + "` and `-" + notScope[last] + "` ",
		simrun(t, "prove", "-h").out: "only flags are -" + strings.Join(notScope[:last], ", -") + " and -" +
			notScope[last] + ", ",
	} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("expected %q in %.60q...", want, text)
		}
	}
}

func TestProveExitStatuses(t *testing.T) {
	t.Chdir(t.TempDir())
	unheeded := *catalog.Named("double-barrier/naive-fan-out")
	unheeded.Name, unheeded.Heeds = "test/unheeded", nil
	add(t, fails, escapes, stuck, forgetful, naps, unheeded)
	for _, x := range []struct {
		args string
		code int
		line string
	}{
		{"-run ^lock/lock$ -most 0", exitHeld, "holds: lock/lock with 2 clients, rounds 1, servers 1, faults disconnect=2 " +
			"expire=1, at most 0, all reductions; "},
		{"-run ^lock/name-sort$", exitHeld, "violated: lock/name-sort with 2 clients, rounds 1, servers 1, faults none, at " +
			"most 0, all reductions: ownership: "},
		{"-run ^commit/blind-abort$ -ticks 1", exitHeld,
			"violated: commit/blind-abort with 2 clients, rounds 1, servers 1, faults none, at most 0, ticks 1, all " +
				"reductions: validity: "},
		{"-run ^commit/blind-abort$ -p 1", exitHeld, "violated: commit/blind-abort with 2 clients, rounds 1, servers 1, " +
			"faults none, at most 0, ticks 2, all reductions: "},
		{"-run ^lock/string-sequence$", exitHeld, "violated: lock/string-sequence with 2 clients, rounds 2, servers 1, "},
		{"-run ^lock/watch-first$", exitHeld, "violated: lock/watch-first with 3 clients, rounds 1, servers 1, "},
		{"-run ^counter/stale-get$", exitHeld, "violated: counter/stale-get with 2 clients, rounds 1, servers 3, "},
		{"-run ^lock/no-own-check$", exitHeld, ", slow wakes, all reductions: "},
		{"-run ^lock/name-sort$ -order 5 -without idle,forget -most 0 -offline", exitHeld,
			"at most 0, order 5, offline, reductions zxids monitors: "},
		{"-run ^lock/lock$ -order 5 -without idle,forget -symmetry -most 0 -offline", exitHeld,
			"at most 0, order 5, offline, reductions zxids monitors symmetry; "},
		{"-run ^test/escapes$", exitViolation, "at most 0, ticks 1, all reductions; "},
		{"-run ^watch/trusting$ -mem 1M", exitInconclusive,
			"inconclusive: watch/trusting with 2 clients, rounds 1, servers 3, "},
		{"-run ^test/fails$ -clients 0", exitViolation, "violated: test/fails with 1 client, servers 1, faults none, at " +
			"most 0, all reductions: liveness: c1 gave up: enough & <done>; faults 0"},
		{"-run ^test/panics$ -clients 0", exitViolation, ": panic: oops"},
		{"-run ^test/panics$ -clients 0", exitViolation, ": oops\n          zksim/scenarios/simrun.init.func"},
		{"-run ^test/naps$ -clients 0", exitUsage,
			"misuse: c1 waits otherwise than by its Conn and Env (sleep)\n          time.Sleep runtime/time.go:"},
		{"-run ^test/escapes$ -clients 0", exitViolation, "holds: test/escapes"},
		{"-run ^queue/claims$ -clients 3 -for 1ns", exitInconclusive,
			"inconclusive: queue/claims with 3 clients, rounds 1, servers 1, faults disconnect=2 expire=1, at most 3, all " +
				"reductions: the time is up with at most 0 faults after "},
		{"-run ^queue/claims$ -mem 1M", exitInconclusive, ": the memory is up, "},
		{"-run ^test/(fails|escapes)$ -clients 0", exitViolation, "holds: test/escapes"},
		{"-run ^test/forgetful$ -audit", exitViolation, "test/forgetful: what is given to the function that recipes.Forget " +
			"returns is not all that code has kept:\n"},
		{"-run ^lock/lock$ -most 0 -audit", exitHeld, "holds: lock/lock"},
		{"-run ^test/unheeded$ -mem 1M", exitInconclusive, "\n      ordered    finally: no monitor "},
		{"-run ^lock/lock$ -most 3 -interleave -for 1ns", exitInconclusive, "inconclusive: lock/lock"},
	} {
		r := simrun(t, append([]string{"prove"}, strings.Fields(x.args)...)...)
		if r.code != x.code || !strings.Contains(r.out, x.line) || r.err != "" {
			t.Errorf("%s: %+v, want %d and %q", x.args, r, x.code, x.line)
		}
	}
}

func TestProveRefusesWrongInputInOneLine(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, fails)
	write(t, "file", "")
	if err := syscall.Mkfifo("pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	var other bytes.Buffer
	c := prove.Certificate{Format: "zksim certificate 10", Claim: prove.Claim{Scenario: "lock/none"}}
	if err := c.Write(&other); err != nil {
		t.Fatal(err)
	}
	write(t, "other", other.String())
	for _, x := range []struct{ args, want string }{
		{"-run lock/none", `-run: no scenario matches "lock/none"`},
		{"-run ^test/fails$ -symmetry", "-symmetry: no scenario says which clients are alike, expected one with "},
		{"-run ^lock/lock$ -clients 1", "lock/lock: the number of clients is from 2 to 64, not 1"},
		{"-run ^lock/lock$ -rounds -1", "lock/lock: the number of rounds is from 1 to 1000, not -1"},
		{"-run ^lock/lock$ -servers 2", "the number of servers is 1 or 3, not 2"},
		{"-run ^lock/lock$ -faults plague=1", `-faults: fault plan: "plague=1": no such fault`},
		{"-run ^lock/lock$ -faults sequence=1@path=/none", "there is no znode /none when lock/lock begins"},
		{"-run ^lock/lock$ -checkers good", `lock/lock has no checker "good"`},
		{"-run ^lock/lock$ -without sense", "-without names zxids, monitors, forget or idle, not"},
		{"-run ^lock/lock$ -for 0s", "-for is a time above 0, not 0s"},
		{"-run ^lock/lock$ -mem 12", `-mem is a number above 0 with the unit M or G, as 500M, not "12"`},
		{"-run ^lock/lock$ -mem -1G", `-mem is a number above 0`},
		{"-run ^lock/lock$ -mem 9999999999999G", `-mem is a number above 0`},
		{"-run ^lock/lock$ -p -1", "-p cannot be negative"},
		{"-run ^lock/lock$ -ticks -1", "time may pass 0 to 1000 times although something else can happen, not -1"},
		{"-run ^lock/lock$ -most -1", `invalid value "-1" for flag -most: expected a number from 0 on`},
		{"-run ^lock/lock$ -order -1", `-order: "-1" is not a number from 0 on`},
		{"-run ^cache/children$ -order 16 -most 1", "-order is a number from 1 to 15, not 16"},
		{"-run ^lock/ -cert c.json", "-checkpoint and -cert are for one scenario, not for "},
		{"-run ^lock/lock$ -cert x -checkpoint ./x", "-cert and -checkpoint are both ./x, expected a file for each"},
		{"-run ^lock/lock$ -cert x -junit x", "-cert and -junit are both x, expected a file for each"},
		{"-run ^lock/lock$ -cert out/index.html", "-cert: out/index.html is a file that commands write into "},
		{"-obligations list -shard 1/2 -junit list -o parts", "-obligations and -junit are both list, expected a file for "},
		{"-run ^lock/lock$ -checkpoint file", "checkpoint: file is not a complete zksim checkpoint 14"},
		{"-run ^lock/lock$ -checkpoint file/c", "-checkpoint: mkdir file: not a directory"},
		{"-run ^lock/lock$ -checkpoint .", "-checkpoint: . is a folder, not a file"},
		{"-run ^lock/lock$ -checkpoint pipe", "-checkpoint: pipe is no regular file"},
		{"-run ^lock/lock$ -most 0 -cert file/c.json", "-cert: mkdir file: not a directory"},
		{"-run ^test/fails$ -clients 0 -o file", "-o: mkdir file: not a directory"},
		{"-verify none", "open none: no such file or directory"},
		{"-verify file", "file: a certificate is a JSON object"},
		{"-verify other", `other: there is no scenario "lock/none"`},
		{"-verify file -most 3", "-most does not go with -verify: the certificate says what to prove"},
		{"lock/lokc", `no scenario is called "lock/lokc"`},
		{"-verify file lock/lock", `"lock/lock" does not go with -verify: the certificate names its scenario`},
		{"-run ^lock/lock$ -checkers beleif", "did you mean belief?"},
		{"-run ^lock/lock$ -without zxid", "did you mean zxids?"},
		{"-run ^lock/lock$ -faults expires=1", "did you mean expire?"},
	} {
		r := simrun(t, append([]string{"prove"}, strings.Fields(x.args)...)...)
		if r.code != exitUsage || r.out != "" || !strings.HasPrefix(r.err, "simrun prove: ") ||
			!strings.Contains(r.err, x.want) || strings.Count(r.err, "\n") != 1 {
			t.Errorf("%s: %+v\nwant %s", x.args, r, x.want)
		}
	}
}

// What a proof refutes gets the folder and the page that a failure of check gets.
func TestProveReportsACounterexampleAsCheckDoes(t *testing.T) {
	t.Chdir(t.TempDir())
	r := simrun(t, "prove", "-run", "^lock/plain-create$", "-o", "o", "-for", "9m", "-slow-wakes")
	block := regexp.MustCompile(`; faults 1, steps 35; .*
      lock/plain-create  exhaustive search  tree: .*
      minimal    6 of 35 steps, 2 clients, 1 round, faults: lose-reply c2
      decided    step 6, after lose-reply c2, 100% of the random futures fail, before it 0%
      replayed   2 of 2 identical, hash [0-9a-f]{16}
      report     (o/lock.plain-create/prove/index.html)
      reproduce  go run ./cmd/simrun (replay o/lock.plain-create/prove/schedule.txt)
      or         go run ./cmd/simrun prove -run '(.*)' (-for 9m0s -slow-wakes)
1 scenario: 1 caught
$`).FindStringSubmatch(r.out)
	if r.code != exitHeld || block == nil {
		t.Fatalf("%+v", r)
	}
	if page, err := os.ReadFile(block[1]); err != nil || !strings.Contains(string(page), "violation of tree") {
		t.Errorf("%v: %s", err, page)
	}
	if again := simrun(t, strings.Fields(block[2])...); again.code != exitViolation ||
		!strings.Contains(again.out, "\nFAIL  tree: ") {
		t.Errorf("%+v", again)
	}
	again := append([]string{"prove", "-o", "o", "-run", block[3]}, strings.Fields(block[4])...)
	_, told, _ := strings.Cut(r.out, "\n")
	if again := simrun(t, again...); again.code != r.code || !strings.HasSuffix(again.out, "\n"+told) {
		t.Errorf("%+v", again)
	}
}

// Where only some checkers judge, it is one of these that the report is about.
func TestProveReportsWhatTheCheckersThatWereAskedForFind(t *testing.T) {
	t.Chdir(t.TempDir())
	r := simrun(t, "prove", "lock/plain-create", "-checkers", "quiescence")
	if r.code != exitHeld || !strings.Contains(r.out, "  exhaustive search  quiescence: ") {
		t.Errorf("%+v", r)
	}
}

func TestAViolationThatIsLongerThanSafetyStepsIsReplayedShrunkAndExplained(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, late)
	r := simrun(t, "prove", "-run", "^test/late$", "-faults", "lose-reply=1", "-o", "o")
	block := regexp.MustCompile(`minimal    \d+ of \d+ steps, .* faults: lose-reply c\d
.*
      replayed   2 of 2 identical, hash [0-9a-f]{16}
.*
      reproduce  go run ./cmd/simrun (replay o/\S+)
`).FindStringSubmatch(r.out)
	if r.code != exitViolation || block == nil {
		t.Fatalf("%+v", r)
	}
	if again := simrun(t, strings.Fields(block[1])...); again.code != exitViolation {
		t.Errorf("%+v", again)
	}
}

func TestProveLeavesAnIndexAsCheckDoes(t *testing.T) {
	t.Chdir(t.TempDir())
	pair, aim := fails, holds
	pair.Clients, aim.Clients, aim.Name = 2, 2, "test/aimless"
	add(t, pair, aim, naps)
	args := []string{"prove", "-o", "out", "-most", "0", "lock/lock", "lock/name-sort", "test/fails", "test/aimless",
		"test/naps"}
	r := simrun(t, args...)
	end := "\nindex   out/index.html\n5 scenarios: 2 held, 1 caught, 1 violated, 1 misused\n"
	page := readIndex(t, "out")
	if !strings.HasSuffix(r.out, end) {
		t.Errorf("%+v", r)
	}
	for _, want := range []string{"<title>simrun prove: 5 scenarios: 2 held, 1 caught,",
		"</span><p>holds: lock/lock with 2 clients, rounds 1, ", " states, 709 transitions, 6 <abbr",
		`<span class="badge violated">violated</span> liveness, decided by no single step`,
		`<span class="badge caught">caught</span> ownership, decided by serve`,
		`href="./test.fails/prove/index.html"`, `href="./lock.name-sort/prove/index.html"`,
		"go run ./cmd/simrun replay out/test.fails/prove/schedule.txt",
		" waits otherwise than by its Conn and Env (sleep)</p>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the index does not have %s\n%s", want, page)
		}
	}
	simrun(t, append(args, "-p", "1")...)
	if again := readIndex(t, "out"); again != page {
		t.Errorf("the index of the same proofs differs:\n%s\nand\n%s", page, again)
	}
	simrun(t, "prove", "-o", "out", "watch/trusting", "-for", "1ms")
	if page := readIndex(t, "out"); !strings.Contains(page, "badge inconclusive\">inconclusive</span>") ||
		!strings.Contains(page, "scopes not tried in time") {
		t.Error(page)
	}
}

func TestProveVerifiesCertificates(t *testing.T) {
	t.Chdir(t.TempDir())
	if r := simrun(t, "prove", "-run", "^queue/queue$", "-most", "0", "-cert", "c.json"); r.code != exitHeld {
		t.Fatalf("%+v", r)
	}
	if r := simrun(t, "prove", "-verify", "c.json"); r.code != exitHeld ||
		r.out != "in another order    the same\nwith monitors only  the same\n" {
		t.Errorf("%+v", r)
	}
	var c prove.Certificate
	data, _ := os.ReadFile("c.json")
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	c.Levels[0].States++
	forged, _ := json.Marshal(c)
	write(t, "forged.json", string(forged))
	if r := simrun(t, "prove", "-verify", "forged.json"); r.code != exitViolation ||
		!strings.Contains(r.out, "in another order    the levels differ: ") {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "prove", "-verify", "c.json", "-for", "1ns"); r.code != exitInconclusive ||
		!strings.Contains(r.out, "in another order    not feasible: the time is up ") {
		t.Errorf("%+v", r)
	}
}

// What a search of the same scope comes to is no limit: it refuses the certificate that says something else.
func TestACertificateThatASearchContradictsIsRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	simrun(t, "prove", "lock/lock", "-faults", "expire=1", "-cert", "c.json") // nothing can strike
	var c prove.Certificate
	data, _ := os.ReadFile("c.json")
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	c.Outcome, c.Why = prove.Holds, ""
	data, _ = json.Marshal(c)
	write(t, "c.json", string(data))
	r := simrun(t, "prove", "-verify", "c.json")
	if r.code != exitViolation || !strings.Contains(r.out, "the outcomes differ: holds and inconclusive") {
		t.Errorf("%+v", r)
	}
}

// A certificate that is inconclusive says only what its levels say, and one that was touched says nothing.
func TestProveVerifiesAllThatACertificateSays(t *testing.T) {
	t.Chdir(t.TempDir())
	verified := func(change func(c *prove.Certificate)) result {
		t.Helper()
		var c prove.Certificate
		data, _ := os.ReadFile("c.json")
		if err := json.Unmarshal(data, &c); err != nil {
			t.Fatal(err)
		}
		change(&c)
		data, _ = json.Marshal(c)
		write(t, "other.json", string(data))
		return simrun(t, "prove", "-verify", "other.json")
	}
	try := func(change func(c *prove.Certificate), want string) {
		t.Helper()
		r := verified(change)
		if r.code != exitViolation || !strings.Contains(r.out, want) || strings.Contains(r.out, "\x1b") {
			t.Errorf("%+v, expected %s", r, want)
		}
	}
	simrun(t, "prove", "-run", "^semaphore/semaphore$", "-most", "0", "-cert", "c.json")
	try(func(c *prove.Certificate) { c.Idle = nil }, "what had nothing to judge differs: []")
	simrun(t, "prove", "-run", "^lock/plain-create$", "-faults", "lose-reply=1", "-cert", "c.json")
	try(func(c *prove.Certificate) { c.Collision = 2 }, "the bound on collisions is 2, expected")
	try(func(c *prove.Certificate) { c.Collision = 0 }, "the bound on collisions is 0, expected")
	try(func(c *prove.Certificate) { c.Levels[0].Digest = "\x1b[2J" }, `Digest:\x1b[2J} and {`)
	open := func(c *prove.Certificate) {
		*c = prove.Certificate{Format: c.Format, Claim: c.Claim, Outcome: prove.Inconclusive, Collision: c.Collision,
			Levels: c.Levels}
	}
	if r := verified(open); r.code != exitInconclusive ||
		!strings.HasPrefix(r.out, "in another order    nothing differs, but the certificate is inconclusive\n") {
		t.Errorf("a certificate that proves nothing is verified: %+v", r)
	}
	try(func(c *prove.Certificate) { open(c); c.Levels = append(c.Levels, prove.Level{Faults: 1}) },
		"it is said to hold with at most 1 fault, and is violated with 1")
}

// A certificate of a violation is as good as its schedule.
func TestProveRefusesADoctoredViolation(t *testing.T) {
	t.Chdir(t.TempDir())
	prove1 := []string{"prove", "-run", "^lock/plain-create$", "-clients", "2", "-cert", "c.json"}
	if r := simrun(t, prove1...); r.code != exitHeld {
		t.Fatalf("%+v", r)
	}
	r := simrun(t, "prove", "-verify", "c.json")
	if r.code != exitHeld || r.err != "" ||
		r.out != "run again           the same\nin another order    the same\nwith monitors only  the same\n" {
		t.Errorf("%+v", r)
	}
	data, err := os.ReadFile("c.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		want   string
		change func(c *prove.Certificate)
	}{
		{"the schedule is empty", func(c *prove.Certificate) { c.Schedule = nil }},
		{`the schedule is not possible: step 5: "serve c9" is not possible here; possible: `,
			func(c *prove.Certificate) { c.Schedule[4] = "serve c9" }},
		{"the run does not end with the schedule, and nothing is violated before",
			func(c *prove.Certificate) { c.Schedule = c.Schedule[:len(c.Schedule)-1] }},
		{`"ownership" is no checker that can refute lock/plain-create, expected one`,
			func(c *prove.Certificate) { c.Checker = "ownership" }},
		{`tree says of the schedule "/lock/_c_`,
			func(c *prove.Certificate) { c.Message = "c2 waits" }},
		{"the schedule has 1 fault, not 2", func(c *prove.Certificate) { c.Struck = 2 }},
	} {
		var c prove.Certificate
		if err := json.Unmarshal(data, &c); err != nil {
			t.Fatal(err)
		}
		x.change(&c)
		doctored, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		write(t, "doctored.json", string(doctored))
		r := simrun(t, "prove", "-verify", "doctored.json")
		if r.code != exitViolation || !strings.HasPrefix(r.out, "run again           "+x.want) ||
			strings.Count(r.out, "\n") != 1 {
			t.Errorf("%+v, want %s", r, x.want)
		}
	}
}

// The search goes on in another process; it is killed at several moments.
func TestAKilledProofComesToTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	args := []string{"prove", "-run", "^lock/lock$"}
	if r := simrun(t, append(args, "-cert", "whole.json")...); r.code != exitHeld {
		t.Fatalf("%+v", r)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	kills, life := 0, 200*time.Millisecond
	for ; ; kills, life = kills+1, life*8/5 {
		cmd := exec.Command(self, "-test.run=^TestAKilledProofItself$")
		cmd.Env = append(os.Environ(), "ZKSIM_PROVE="+
			strings.Join(append(args, "-cert", "pieces.json", "-checkpoint", "checkpoint", "-every", "30ms"), "\n"))
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		select {
		case err := <-done:
			if err != nil {
				t.Fatalf("%v: %s", err, &out)
			}
		case <-time.After(life):
			cmd.Process.Kill()
			<-done
			continue
		}
		break
	}
	whole, _ := os.ReadFile("whole.json")
	pieces, err := os.ReadFile("pieces.json")
	bound := regexp.MustCompile(`"collision": .*`) // which may differ
	whole, pieces = bound.ReplaceAll(whole, nil), bound.ReplaceAll(pieces, nil)
	if err != nil || !bytes.Equal(whole, pieces) || kills < 2 {
		t.Errorf("%d kills, %v:\n%s\n%s", kills, err, whole, pieces)
	}
	t.Log(kills, "kills")
}

// TestAKilledProofItself is the other process.
func TestAKilledProofItself(t *testing.T) {
	args := os.Getenv("ZKSIM_PROVE")
	if args == "" {
		t.Skip("not asked to")
	}
	if r := simrun(t, strings.Split(args, "\n")...); r.code != exitHeld {
		t.Fatalf("%+v", r)
	}
}

// TestRerunComesToTheSame proves with and without what is remembered of steps.
func TestRerunComesToTheSame(t *testing.T) {
	var digests []string
	for _, args := range [][]string{nil, {"-rerun"}, {"-rerun", "-reverse", "-p", "1"}} {
		r := simrun(t, append([]string{"prove", "-run", "^lock/lock$", "-most", "1"}, args...)...)
		text, _, ok := strings.Cut(r.out, ", P(collision)")
		if r.code != exitHeld || !ok {
			t.Fatalf("%v: %+v", args, r)
		}
		digests = append(digests, text)
	}
	if digests[1] != digests[0] || digests[2] != digests[0] {
		t.Errorf("%q", digests)
	}
}
