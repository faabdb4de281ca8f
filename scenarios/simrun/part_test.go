package simrun

import (
	"strings"
	"testing"
)

// engines are the variables that say which part a process does. An empty one is not set.
var engines = []string{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_COUNT",
	"JOB_COMPLETION_INDEX", "ZKSIM_JOB_INDEX", "ZKSIM_JOB_TOTAL", "TEST_SHARD_INDEX", "TEST_TOTAL_SHARDS",
	"CI_NODE_INDEX", "CI_NODE_TOTAL", "CIRCLE_NODE_INDEX", "CIRCLE_NODE_TOTAL", "BUILDKITE_PARALLEL_JOB",
	"BUILDKITE_PARALLEL_JOB_COUNT"}

func TestAutoTakesThePartThatTheEnvironmentSays(t *testing.T) {
	t.Chdir(t.TempDir())
	add(t, holds)
	for _, name := range engines {
		t.Setenv(name, "")
	}
	r := simrun(t, "check", "test/holds", "-shard", "auto")
	if r.code != exitUsage || !strings.Contains(r.err, "-shard: auto finds no part in the environment, expected that of") {
		t.Errorf("%+v", r)
	}
	t.Setenv("CIRCLE_NODE_INDEX", "1")
	if r = simrun(t, "check", "test/holds", "-shard", "auto"); r.code != exitUsage ||
		!strings.Contains(r.err, "CIRCLE_NODE_INDEX is set, and CIRCLE_NODE_TOTAL is not, expected both") {
		t.Errorf("%+v", r)
	}
	t.Setenv("CIRCLE_NODE_TOTAL", "3")
	r = simrun(t, "check", "test/holds", "-shard", "auto", "-seeds", "1-100")
	if r.code != exitHeld || !strings.Contains(r.out, "33 runs") ||
		r.err != "simrun check: -shard auto is 2/3, from CIRCLE_NODE_INDEX=1 CIRCLE_NODE_TOTAL=3 (CircleCI)\n" {
		t.Errorf("%+v", r)
	}
	r = simrun(t, "prove", "-shard", "auto", "test/holds", "lock/fan-out", "barrier/barrier", "-most", "0")
	if !strings.Contains(r.out, "with 2 clients") || !strings.HasSuffix(r.out, "\n1 scenario: 1 held\n") {
		t.Errorf("%+v", r)
	}
}
