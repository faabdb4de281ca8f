//go:build linux

package simrun

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zksim/internal/ensemble"
	"zksim/internal/zkserver"
	"zksim/scenarios/engine"
)

// sleepyJava makes commands run a script that never serves in place of ZooKeeper. It returns a function that waits
// until the script runs, and the folder in which temporary folders appear.
func sleepyJava(t *testing.T) (runs func(), tmp string) {
	t.Helper()
	root := t.TempDir()
	tmp = filepath.Join(root, "tmp")
	for _, dir := range []string{tmp, filepath.Join(root, "bin")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const script = "#!/bin/sh\n: >$JAVA_HOME/runs\nexec sleep 1000\n"
	for name, text := range map[string]string{"bin/java": script, "z.jar": ""} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("JAVA_HOME", root)
	t.Setenv(zkserver.EnvZooKeeper, filepath.Join(root, "z.jar"))
	t.Setenv("TMPDIR", tmp)
	return func() {
		awaits(t, "a server runs", func() bool {
			_, err := os.Stat(filepath.Join(root, "runs"))
			return err == nil
		})
	}, tmp
}

func TestAnInterruptEndsTheStartOfServers(t *testing.T) {
	for name, args := range map[string][]string{
		"herd":    {"herd", "-backend", "zookeeper", "-variants", "^lock/sequential$", "-clients", "1"},
		"conform": {"conform", "-ops", "10"},
		"check":   {"check", "-backend", "zookeeper", "lock/lock"},
	} {
		t.Run(name, func(t *testing.T) {
			runs, tmp := sleepyJava(t)
			t.Chdir(t.TempDir())
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			results := make(chan result, 1)
			go func() { results <- simrunUntil(ctx, args...) }()
			runs()
			interrupt()
			r := <-results
			if r.code != exitInconclusive || !strings.HasPrefix(r.err, "simrun "+name+": interrupted") {
				t.Errorf("%+v", r)
			}
			if left, _ := filepath.Glob(tmp + "/*"); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// Otherwise the verdicts so far would be lost, and the run would end as if the servers had failed.
func TestAnInterruptWhileServersAreReplacedIsNoError(t *testing.T) {
	runs, tmp := sleepyJava(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	x := &liveCheck{checkFlags: &checkFlags{results: results{out: t.TempDir()}, nodes: 1}, ours: &zkserver.Ensemble{}}
	r := &liveResult{status: engine.Held}
	errs := make(chan error, 1)
	go func() {
		_, err := x.judge(ctx, &engine.Scenario{Name: "my/lock"}, r, 7, nil, &ensemble.Aborted{Cause: errors.New("dead")})
		errs <- err
	}()
	runs()
	interrupt()
	if err := <-errs; err != nil || r.status != engine.Inconclusive || r.says != "seed 7 was aborted: dead" {
		t.Errorf("%v, %v, %q", err, r.status, r.says)
	}
	if left, _ := filepath.Glob(tmp + "/*"); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}
