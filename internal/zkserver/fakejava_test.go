//go:build unix

package zkserver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fakeJava makes Start run a shell script in place of Java, and returns the
// folder in which temporary folders appear.
func fakeJava(t *testing.T, script string) string {
	t.Helper()
	root := t.TempDir()
	java := touch(t, root, "bin", "java")
	if err := os.WriteFile(java, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("JAVA_HOME", root)
	t.Setenv(EnvZooKeeper, touch(t, root, "zookeeper.jar"))
	tmp := filepath.Join(root, "tmp")
	if err := os.Mkdir(tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", tmp)
	return tmp
}

func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestStartTriesOtherPortsWhenAServerDiesAndThenQuotesIt(t *testing.T) {
	tmp := fakeJava(t, `
echo run >>"$JAVA_HOME/runs"
echo "java.net.BindException: Address already in use" >&2
printf "no newline"
exit 7
`)
	_, err := Start(t.Context(), Options{})
	if err == nil {
		t.Fatal("no error")
	}
	const want = `zkserver: server 1 died (exit status 7), its last lines:
    java.net.BindException: Address already in use
    no newline`
	if err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	runs, err := os.ReadFile(filepath.Join(os.Getenv("JAVA_HOME"), "runs"))
	if got := strings.Count(string(runs), "run"); got != startAttempts {
		t.Errorf("%d attempts (%v), want %d", got, err, startAttempts)
	}
	wantEmpty(t, tmp)
}

func TestStartSaysWhenAServerDiedInSilence(t *testing.T) {
	fakeJava(t, "exit 0")
	_, err := Start(t.Context(), Options{})
	const want = "zkserver: server 1 died (exit status 0), it logged nothing"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestStartGivesUpOnServersThatNeverServe(t *testing.T) {
	tmp := fakeJava(t, "echo waiting for godot; exec sleep 60")
	begin := time.Now()
	_, err := Start(t.Context(), Options{Servers: 3, StartTimeout: 1500 * time.Millisecond})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v, want DeadlineExceeded", err)
	}
	for _, want := range []string{
		"zkserver: not ready after ",
		"server 1 does not serve, its last lines:\n    waiting for godot",
		"server 3 does not serve",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in\n%v", want, err)
		}
	}
	if d := time.Since(begin); d > 10*time.Second {
		t.Errorf("took %v", d)
	}
	wantEmpty(t, tmp)
}

func TestStartEndsWithItsContext(t *testing.T) {
	tmp := fakeJava(t, "echo waiting for godot; exec sleep 60")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	begin := time.Now()
	_, err := Start(ctx, Options{})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "waiting for godot") {
		t.Errorf("got %v, want DeadlineExceeded and the last lines", err)
	}
	if d := time.Since(begin); d > 10*time.Second {
		t.Errorf("took %v", d)
	}
	wantEmpty(t, tmp)
}

func TestTheLogNamesTheServer(t *testing.T) {
	fakeJava(t, "echo hello; exec sleep 60")
	var log strings.Builder
	_, err := Start(t.Context(), Options{Servers: 3, StartTimeout: 1500 * time.Millisecond, Log: &log})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"server 1: hello\n", "server 2: hello\n", "server 3: hello\n"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is not in\n%s", want, log.String())
		}
	}
}
