package jobs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"example.com/unmodified/jobs"
	"zksim/scenarios/zktest"
)

const folder = "/jobs"

// service submits two orders to each of two instances. Each order may be done at most once.
func service(c *zktest.Cluster) {
	conn := c.Connect()
	for {
		if _, err := conn.Create(folder, nil, 0, zk.WorldACL(zk.PermAll)); err == nil || err == zk.ErrNodeExists {
			break
		}
		time.Sleep(time.Second)
	}
	var mu sync.Mutex
	times := map[string]int{}
	do := func(order string) {
		mu.Lock()
		defer mu.Unlock()
		if times[order]++; times[order] > 1 {
			c.Errorf("an order is done %d times", times[order])
		}
	}
	var all []*jobs.Service
	for range 2 {
		all = append(all, jobs.Start(c.Connect(), folder, 3, do))
	}
	for i, s := range all {
		for k := range 2 {
			s.Submit(fmt.Sprintf("%d-%d", i+1, k+1))
		}
	}
	time.Sleep(time.Minute)
	for _, s := range all {
		s.Stop()
	}
}

func TestService(t *testing.T) { zktest.Run(t, service, zktest.Caught("always")) }

// TestPlanted is TestService as written by someone who does not know the bug, so it fails. TestWhatOneSees runs it.
func TestPlanted(t *testing.T) {
	if os.Getenv("UNMODIFIED_PLANTED") == "" {
		t.Skip("run by TestWhatOneSees")
	}
	zktest.Run(t, service)
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
	schedule = regexp.MustCompile(`reproduce  go test \S+ -run '\^TestPlanted\$' -zksim.schedule (\S+)`)
)

// TestWhatOneSees checks what a user gets: a failure shrunk to fewer than ten steps, a page about it, and a printed
// line that reproduces the failure ten times out of ten, although runs diverge on an unmodified toolchain. Some diverge
// so much, above all on a busy machine, that they are reported unshrunk. Then the test tries other seeds.
func TestWhatOneSees(t *testing.T) {
	dir := t.TempDir()
	var out string
	var small, line []string
	for first := 1; first < 1000 && (small == nil || line == nil); first += 100 {
		out = run(t, dir, "-zksim.out", "out", "-zksim.seeds", fmt.Sprintf("%d-%d", first, first+99))
		small, line = minimal.FindStringSubmatch(out), schedule.FindStringSubmatch(out)
	}
	if small == nil || line == nil {
		t.Fatalf("not found, or not shrunk:\n%s", out)
	}
	if n, _ := strconv.Atoi(small[1]); n >= 10 {
		t.Errorf("%d steps, expected fewer than 10:\n%s", n, out)
	}
	for range 10 {
		if again := run(t, dir, "-zksim.schedule", line[1]); !strings.Contains(again, "an order is done 2 times") {
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
	for _, text := range []string{"an order is done 2 times", "3 clients", "create /jobs/job-"} {
		if !strings.Contains(string(page), text) {
			t.Errorf("the page lacks %q", text)
		}
	}
}
