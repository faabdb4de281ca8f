package simrun

import (
	"bufio"
	"context"
	"io"
	"os"
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
		"\nstruck   lose-reply c1 create /a\n", "\njudged   znodes: of 1 the operations"} {
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
		"-tick 1us":                        "expected whole milliseconds",
		"-listen 127.0.0.1:65535 -nodes 3": "a port from 0 to 65535",
	} {
		if !strings.Contains(args, "-listen") {
			args += " -listen 127.0.0.1:0"
		}
		if r := simrun(t, append([]string{"serve"}, strings.Fields(args)...)...); r.code != exitUsage ||
			!strings.Contains(r.err, want) || strings.Count(r.err, "\n") != 1 {
			t.Errorf("%s: %+v, expected %q", args, r, want)
		}
	}
}
