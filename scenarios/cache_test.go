package scenarios_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestGoTestRunsACheckAgainWhenTheEnvironmentSaysOtherwise has the command go test, which keeps results, notice each
// variable: what is wrong in one is told although the check has passed before, and a folder for results is filled.
func TestGoTestRunsACheckAgainWhenTheEnvironmentSaysOtherwise(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a test binary")
	}
	run := func(env ...string) string {
		c := exec.Command("go", "test", "-vet=off", "-run", "^TestCheckOfAMutant$", "zksim/scenarios")
		c.Env = append(append(os.Environ(), "ZKSIM_TEST_MUST_HOLD="), env...)
		out, _ := c.CombinedOutput()
		return string(out)
	}
	usual := []string{"ZKSIM_SEEDS=1-3", "ZKSIM_SHARD=auto", "ZKSIM_JOB_INDEX=0", "ZKSIM_JOB_TOTAL=1", "ZKSIM_FOR=1h",
		"ZKSIM_OUT="}
	run(usual...)
	if out := run(usual...); !strings.Contains(out, "(cached)") {
		t.Fatalf("go test keeps no result: %s", out)
	}
	for env, want := range map[string]string{"ZKSIM_SEEDS=nine": "ZKSIM_SEEDS: ", "ZKSIM_SHARD=3/2": "ZKSIM_SHARD: ",
		"ZKSIM_JOB_INDEX=one": "ZKSIM_SHARD: ", "ZKSIM_FOR=soon": "ZKSIM_FOR ", "ZKSIM_LIKE=etcd": "ZKSIM_LIKE: ",
		"ZKSIM_SCHEDULE=none.txt": "none.txt"} {
		if out := run(append(usual, env)...); !strings.Contains(out, want) {
			t.Errorf("%s: %s", env, out)
		}
	}
	dir := t.TempDir()
	run(append(usual, "ZKSIM_OUT="+dir)...)
	indexHas(t, dir, "caught")
}
