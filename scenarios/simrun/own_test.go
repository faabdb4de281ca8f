package simrun

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// ownMain is the tool of somebody else: two scenarios, one of which has a bug, and a mutant.
const ownMain = `// Mine runs my scenarios.
package main

import (
	"errors"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/scenarios"
	"zksim/scenarios/simrun"
)

func create(retry bool) func(p *scenarios.Process) {
	return func(p *scenarios.Process) {
		for {
			_, err := p.Conn.Create("/pool", nil, 0, zk.WorldACL(zk.PermAll))
			if err == nil || errors.Is(err, zk.ErrNodeExists) {
				return
			}
			if !retry {
				p.Fail(err)
				return
			}
		}
	}
}

func pool(name string, retry bool, caught ...string) scenarios.Scenario {
	return scenarios.Scenario{Name: name, Doc: "makes a pool", Clients: 2, Faults: faults.MustParse("disconnect=1"),
		Program: create(retry), Checkers: []checkers.Checker{checkers.Liveness{}}, Caught: caught}
}

func main() {
	simrun.Main(pool("pool/patient", true), pool("pool/hasty", false), pool("pool/mutant", false, "liveness"))
}
`

// ownTool makes a module of that tool, builds it and goes to its folder.
func ownTool(t *testing.T) {
	t.Helper()
	besideCheckout(t, "example.com/mine")
	write(t, "main.go", ownMain)
	build := exec.Command("go", "build", "-o", "mine", ".")
	build.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// line executes a command line with a shell.
func line(t *testing.T, command string) result {
	t.Helper()
	var out, errs strings.Builder
	c := exec.Command("sh", "-c", command)
	c.Stdout, c.Stderr = &out, &errs
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if err, exit := c.Run(), (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{c.ProcessState.ExitCode(), out.String(), errs.String()}
}

// foreign is what pages of mutants say of ours alone, and what they would say where nothing is known.
var foreign = regexp.MustCompile(`our own|shipped|was no better|[|] # [|]|\b0, |: [.]|[|] [|]`)

// Everything works for the scenarios of somebody else, and what is printed names the tool as it was called.
func TestAToolOfOnesOwnHasAllCommandsAndNamesItself(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module")
	}
	ownTool(t)
	commands := []struct {
		args, want string
		code       int
	}{
		{"list -short", "pool/hasty               makes a pool (must hold)\n", exitHeld},
		{"check", "3 scenarios: 1 held, 1 caught, 1 violated\n", exitViolation},
		{"check pool/hasty -o my", "\nFAIL  pool/hasty  seed ", exitViolation},
		{"prove pool/hasty", "violated: pool/hasty with 2 clients", exitViolation},
		{"prove pool/mutant pool/patient", "2 scenarios: 1 held, 1 caught\n", exitHeld},
		{"why my/pool.hasty/*/schedule.txt", "after disconnect c", exitHeld},
		{"shrink -o small.txt my/pool.hasty/*/schedule.full.txt", "", exitHeld},
		{"replay -v small.txt", "FAIL  liveness: ", exitViolation},
		{"museum -reps 1", "`./mine museum > docs/museum.md`", exitHeld},
		{"strategies -reps 1", "`./mine strategies", exitHeld},
		{"-h", "\"./mine COMMAND -h\" shows", exitHeld},
		{"check -h", "\n  ./mine check pool/patient -seeds ", exitHeld},
		{"prove -h", "\n  ./mine prove pool/mutant -json\n", exitHeld},
		{"herd -h", "Usage: ./mine herd [flags]\n", exitHeld},
		{"version", "mine ", exitHeld},
		{"check pool/hsaty", "mine check: no scenario is called \"pool/hsaty\"; \"./mine list\" shows them; did " +
			"you mean pool/hasty?\n", exitUsage},
		{"herd", "mine herd: this program has no variants to measure; see simrun.Tool\n", exitUsage},
		{"chekc", "mine: no command \"chekc\"; there are list, ", exitUsage},
		{"completion bash", "\ncomplete -o default -F _complete_mine 'mine'\n", exitHeld},
	}
	simrunWord := regexp.MustCompile(`\bsimrun\b`)
	for _, x := range commands {
		r := line(t, "./mine "+x.args)
		all := "\n" + r.out + r.err
		if r.code != x.code || !strings.Contains(all, x.want) {
			t.Errorf("mine %s: %+v, want %d and %q", x.args, r, x.code, x.want)
		}
		if named := strings.ReplaceAll(all, "see simrun.Tool", ""); simrunWord.MatchString(named) ||
			strings.Contains(named, "cmd/") {
			t.Errorf("mine %s speaks of another program: %s", x.args, simrunWord.FindString(named))
		}
	}
	for _, page := range []string{"museum", "strategies"} {
		r := line(t, "./mine "+page+" -reps 1")
		if foreign.MatchString(r.out) || !strings.Contains(r.out, "\n| `pool/mutant` | ") {
			t.Errorf("mine %s tells of other mutants, or has empty places: %s", page, r.out)
		}
	}
	printed := regexp.MustCompile(`(?m)^ +(?:reproduce|or) +(.*)$`)
	found := printed.FindAllStringSubmatch(line(t, "./mine check pool/hasty; ./mine prove pool/hasty").out, -1)
	if len(found) != 4 {
		t.Fatalf("%q", found)
	}
	for _, m := range found {
		if r := line(t, m[1]); r.code != exitViolation || !strings.HasPrefix(m[1], "./mine ") ||
			!strings.Contains(r.out, "liveness: ") {
			t.Errorf("%s: %+v", m[1], r)
		}
	}
	page, err := os.ReadFile("small.txt")
	if err != nil || !strings.HasPrefix(string(page), "zksim schedule 1\nscenario pool/hasty\n") {
		t.Errorf("%v: %s", err, page)
	}
	r := line(t, "go run . check pool/hasty")
	if m := printed.FindStringSubmatch(r.out); m == nil || !strings.HasPrefix(m[1], "go run . replay ") || line(t,
		m[1]).code != exitViolation {
		t.Errorf("%+v", r)
	}
}
