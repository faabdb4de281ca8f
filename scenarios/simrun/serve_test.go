package simrun

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// serveUntil runs serve until f, which gets the lines that it has printed up to the connect string and that, returns.
func serveUntil(t *testing.T, f func(connect, control string), args ...string) result {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	errs := &strings.Builder{}
	ended := make(chan int)
	go func() {
		code := (&app{command: "simrun", out: in, err: errs}).main(ctx, append([]string{"serve"}, args...))
		in.Close()
		ended <- code
	}()
	lines, control, all := bufio.NewScanner(out), "", ""
	for lines.Scan() {
		all += lines.Text() + "\n"
		switch word, value, _ := strings.Cut(lines.Text(), " "); word {
		case "control":
			control = strings.TrimSpace(value)
		case "ready":
			go func() { f(strings.TrimSpace(value), control); cancel() }()
		}
	}
	return result{<-ended, all, errs.String()}
}

func TestServeServesUntilASignalAndSaysWhatStruck(t *testing.T) {
	t.Chdir(t.TempDir())
	r := serveUntil(t, func(connect, _ string) {
		c, _, err := zk.Connect(strings.Split(connect, ","), 10*time.Second, zk.WithLogInfo(false))
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		if _, err := c.Create("/a", []byte("x"), 0, zk.WorldACL(zk.PermAll)); err != zk.ErrConnectionClosed {
			t.Error(err)
		}
	}, "-listen", "127.0.0.1:0", "-nodes", "3", "-faults", "lose-reply=1@client=c1,op=create,nth=1", "-record",
		"history.jsonl", "-v", "-control", "127.0.0.1:0")
	for _, want := range []string{"control  http://127.0.0.1:", "\nserve c1\n", "\nlose-reply c1\n", "\nreplicate s2\n",
		"\nstruck   lose-reply c1 create /a\n", "\njudged   znodes: 1 judged, all linearizable in zxid order\n"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%s\nexpected %q", r.out, want)
		}
	}
	if r.code != exitHeld || r.err != "" {
		t.Errorf("%+v", r)
	}
	if text, err := os.ReadFile("history.jsonl"); err != nil || !strings.Contains(string(text), `"lose-reply c1"`) {
		t.Errorf("%s, %v", text, err)
	}
	judged := r.out[strings.Index(r.out, "\njudged ")+1:]
	if r := simrun(t, "judge", "history.jsonl"); r.code != exitHeld || r.out != judged {
		t.Errorf("%+v, expected %q", r, judged)
	}
	if r := simrun(t, "grep", "lose-reply of c1, later c1 acquired", "history.jsonl"); r.code != exitViolation {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "grep", "lose-reply of c1", "history.jsonl"); r.code != exitHeld {
		t.Errorf("%+v", r)
	}
	r = simrun(t, "judge", "-guard", "/a=/b", "history.jsonl")
	if r.code != exitUsage || !strings.Contains(r.err, "knows no locks, expected no -guard") {
		t.Errorf("%+v", r)
	}
}

func TestServeNeverPassesInSilence(t *testing.T) {
	t.Chdir(t.TempDir())
	r := simrun(t, "serve", "-listen", "127.0.0.1:0", "-for", "1ms", "-faults", "contract", "-seed", "3")
	if r.code != exitInconclusive || !strings.Contains(r.out, "unsure   the rule lose-request=2 has never struck\n") ||
		!strings.Contains(r.out, "unsure   no client has asked for anything\n") {
		t.Errorf("%+v", r)
	}
	for args, want := range map[string]string{
		"-nodes 2":                         "2 servers, expected 1 or 3",
		"-listen nowhere":                  "expected host:port",
		"-faults crash":                    "end your own",
		"-faults lose-repl":                `-faults: fault plan: "lose-repl"`,
		"-for -1s":                         "must not be negative",
		"-control 0.0.0.0:0":               "expected a token",
		"-record nowhere/":                 "is a folder",
		"-tick 1us":                        "-tick 1µs, -lag 200ms, -containers 1m0s, expected whole milliseconds",
		"-tick 0":                          "-tick 0s, ",
		"-nodes 0":                         "-nodes 0, expected 1 or 3",
		"-containers 0":                    "-containers 0s, expected whole milliseconds, at least one",
		"-token x":                         "-token is for -control and -admin",
		"-faults lose-reply=0":             "it never strikes, expected 1 or more",
		"-listen 127.0.0.1:65535 -nodes 3": "a port from 0 to 65533",
	} {
		if !strings.Contains(args, "-listen") {
			args += " -listen 127.0.0.1:0"
		}
		if r := simrun(t, append([]string{"serve"}, strings.Fields(args)...)...); r.code != exitUsage ||
			!strings.Contains(r.err, want) || strings.Count(r.err, "serve:") != 1 || strings.Count(r.err, "\n") != 1 {
			t.Errorf("%s: %+v, expected %q", args, r, want)
		}
	}
}

// fences returns the code blocks of a language in a page.
func fences(t *testing.T, page, language string) (list []string) {
	t.Helper()
	text, err := os.ReadFile("../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(text), "```"+language+"\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		list = append(list, block)
	}
	return list
}

// Each line of curl on the page of serve is executed, on three servers with a client.
func TestTheOrdersOnThePageOfServeWork(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	lines := fences(t, "docs/serve.md", "sh")
	if len(lines) != 1 || strings.Count(lines[0], "\n") < 10 {
		t.Fatalf("the page has %q", lines)
	}
	t.Chdir(t.TempDir())
	r := serveUntil(t, func(connect, control string) {
		c, events, err := zk.Connect(strings.Split(connect, ",")[1:2], 10*time.Second, zk.WithLogInfo(false))
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		for ev := range events {
			if ev.State == zk.StateHasSession {
				break
			}
		}
		for line := range strings.Lines(lines[0]) {
			cmd := exec.Command("sh", "-c", line)
			cmd.Env = append(os.Environ(), "CONTROL="+control)
			if out, err := cmd.CombinedOutput(); err != nil || len(out) == 0 && strings.HasPrefix(line, "curl") {
				t.Errorf("%s: %v\n%s", line, err, out)
			}
		}
	}, "-listen", "127.0.0.1:0", "-nodes", "3", "-control", "127.0.0.1:0")
	if r.code == exitUsage {
		t.Errorf("%+v", r)
	}
}

// freePorts returns the first of n ports in a row that are free now.
func freePorts(t *testing.T, n int) int {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		first, free := l.Addr().(*net.TCPAddr).Port, true
		l.Close()
		for k := range n {
			l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first+k))
			if free = free && err == nil; err == nil {
				l.Close()
			}
		}
		if free {
			return first
		}
	}
	t.Fatal("there are no free ports in a row")
	return 0
}

// The lines of the README are executed as they stand, but for the ports and the place of the program.
func TestTheLinesOfTheReadmeWork(t *testing.T) {
	const cli = "/usr/share/zookeeper/bin/zkCli.sh"
	if _, err := os.Stat(cli); err != nil && os.Getenv("ZKSIM_REQUIRE_ZOOKEEPER") == "" {
		t.Skip(err)
	}
	blocks := fences(t, "README.md", "sh")
	if len(blocks) != 1 || strings.Count(blocks[0], "\n") != 4 {
		t.Fatalf("the README has %q", blocks)
	}
	binary, port := build(t), freePorts(t, 4)
	serves := fmt.Sprintf("%s serve -listen 127.0.0.1:%d", binary, port+1)
	script := strings.NewReplacer("go build -o /tmp/simrun ./cmd/simrun ", "", "/tmp/simrun serve", serves,
		"zkCli.sh", "timeout 60 "+cli, "127.0.0.1:2181", fmt.Sprintf("127.0.0.1:%d", port+1),
		"127.0.0.1:2180", fmt.Sprintf("127.0.0.1:%d", port)).Replace(blocks[0])
	t.Chdir(t.TempDir())
	out, _ := exec.Command("sh", "-c", script+"\nkill $!\nwait $!\n").CombinedOutput()
	for _, want := range []string{"ready    127.0.0.1:", `"fault": "lose-reply"`,
		"struck   lose-reply c1 create /lock\n"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("expected %q in\n%s", want, out)
		}
	}
}

func TestAnOutputThatNobodyReadsStopsNeitherClientsNorTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	defer out.Close()
	errs := &strings.Builder{}
	ended := make(chan int, 1)
	go func() {
		ended <- (&app{command: "simrun", out: in, err: errs}).main(ctx, []string{"serve", "-v", "-listen", "127.0.0.1:0"})
	}()
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal(lines.Err())
	}
	c, _, err := zk.Connect([]string{strings.Fields(lines.Text())[1]}, 10*time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range maxStepQueue + 100 {
		if _, _, err := c.Exists("/"); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if code := <-ended; code != exitUsage || !strings.Contains(errs.String(), "the output is not read") {
		t.Errorf("%d, %s", code, errs)
	}
}

func TestStepsThatAreNotShownAreCountedWhereTheyAreMissing(t *testing.T) {
	p := newStepPrinter()
	for i := range maxStepQueue + 5 {
		p.add(strconv.Itoa(i))
	}
	<-p.queue
	p.add("later")
	p.add("last")
	var out strings.Builder
	go p.run(&out)
	if err := p.end(); err != nil {
		t.Fatal(err)
	}
	want := strconv.Itoa(maxStepQueue-1) + "\n... 5 steps not shown\nlater\n... 1 step not shown\n"
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("%s, expected %s", out.String()[max(0, out.Len()-100):], want)
	}
}
