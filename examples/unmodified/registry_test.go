package unmodified_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"example.com/unmodified"
	"zksim/scenarios/zktest"
)

const dir = "/services"

// service lets one service join, checks that it is listed once, and lets it leave.
func service(join func(conn *zk.Conn, dir, name string) *unmodified.Registry) func(c *zktest.Cluster) {
	return func(c *zktest.Cluster) {
		conn := c.Connect()
		for {
			if _, err := conn.Create(dir, nil, 0, zk.WorldACL(zk.PermAll)); err == nil || err == zk.ErrNodeExists {
				break
			}
			time.Sleep(time.Second)
		}
		r := join(conn, dir, "web")
		for len(r.Peers()) == 0 {
			time.Sleep(time.Second)
		}
		c.Sometimes("the service is listed", true)
		if n := count(r.Peers()); n != 1 {
			c.Errorf("the service is listed %d times: %v", n, r.Peers())
		}
		r.Leave()
	}
}

func count(list []string) (n int) {
	for _, name := range list {
		if strings.HasPrefix(name, "web-") {
			n++
		}
	}
	return n
}

// plan has only faults that do not end a session, because this registry does not register again in a new one.
const plan = "lose-request=2 lose-reply=2 disconnect=2 watch-delay=1"

func TestJoin(t *testing.T) {
	zktest.Run(t, service(unmodified.Join), zktest.Faults(plan), zktest.Caught("always"))
}

func TestJoinSafely(t *testing.T) {
	zktest.Run(t, service(unmodified.JoinSafely), zktest.Faults(plan))
}

// TestPlanted is TestJoin as written by someone who does not know the bug, so it fails. TestWhatOneSees runs it.
func TestPlanted(t *testing.T) {
	if os.Getenv("UNMODIFIED_PLANTED") == "" {
		t.Skip("run by TestWhatOneSees")
	}
	zktest.Run(t, service(unmodified.Join), zktest.Faults(plan))
}

// run runs TestPlanted in a folder and returns what it prints.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, append([]string{"-test.run", "^TestPlanted$"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "UNMODIFIED_PLANTED=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("TestPlanted passes:\n%s", out)
	}
	return string(out)
}

var (
	minimal  = regexp.MustCompile(`minimal +(\d+) of \d+ steps`)
	schedule = regexp.MustCompile(`reproduce  go test example.com/unmodified -run '\^TestPlanted\$' -zksim.schedule (\S+)`)
)

// TestWhatOneSees checks what a user gets: a failure shrunk to fewer than ten steps, a page about it, and a printed
// line that reproduces the failure ten times out of ten.
func TestWhatOneSees(t *testing.T) {
	dir := t.TempDir()
	out := run(t, dir, "-zksim.out", "out")
	small, line := minimal.FindStringSubmatch(out), schedule.FindStringSubmatch(out)
	if small == nil || line == nil {
		t.Fatalf("not found, or no line to replay it:\n%s", out)
	}
	if n, _ := strconv.Atoi(small[1]); n >= 10 {
		t.Errorf("%d steps, expected fewer than 10:\n%s", n, out)
	}
	for range 10 {
		if again := run(t, dir, "-zksim.schedule", line[1]); !strings.Contains(again, "the service is listed 2 times") {
			t.Errorf("not found again:\n%s", again)
		}
	}
	pages, _ := filepath.Glob(filepath.Join(dir, "out", "*", "index.html"))
	if len(pages) != 1 {
		t.Fatalf("pages: %v", pages)
	}
	page, err := os.ReadFile(pages[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"the service is listed 2 times", "lose-reply c1", "create /services/web-"} {
		if !strings.Contains(string(page), text) {
			t.Errorf("the page lacks %q", text)
		}
	}
}
