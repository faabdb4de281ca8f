package shard_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zksim/internal/shard"
)

// in returns an environment from "NAME=value" words.
func in(text string) func(string) (string, bool) {
	env := map[string]string{}
	for word := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(word, "=")
		env[name] = value
	}
	return func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
}

const slurm3of8 = "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=8 SLURM_ARRAY_TASK_COUNT=8 "

func TestAutoReadsWhatEachEngineSays(t *testing.T) {
	for _, x := range []struct{ env, want, from string }{
		{slurm3of8, "3/8", "(Slurm)"},
		{"SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=4", "1/4", "of 0-3"},
		{"JOB_COMPLETION_INDEX=0 ZKSIM_JOB_TOTAL=5", "1/5", "(Kubernetes)"},
		{"ZKSIM_JOB_INDEX=4 ZKSIM_JOB_TOTAL=5", "5/5", "ZKSIM_JOB_INDEX=4"},
		{"TEST_SHARD_INDEX=1 TEST_TOTAL_SHARDS=2", "2/2", "(Bazel)"},
		{"CI_NODE_INDEX=1 CI_NODE_TOTAL=3", "1/3", "(GitLab)"},
		{"CIRCLE_NODE_INDEX=1 CIRCLE_NODE_TOTAL=3", "2/3", "(CircleCI)"},
		{"CIRCLE_NODE_INDEX=0 CIRCLE_NODE_TOTAL=1", "1/1", "(CircleCI)"},
		{"BUILDKITE_PARALLEL_JOB=6 BUILDKITE_PARALLEL_JOB_COUNT=7", "7/7", "(Buildkite)"},
		{"CIRCLE_NODE_INDEX=0 CIRCLE_NODE_TOTAL=1 TEST_SHARD_INDEX=1 TEST_TOTAL_SHARDS=2", "2/2", "(Bazel)"},
		{"TEST_SHARD_INDEX=1 TEST_TOTAL_SHARDS=2 CIRCLE_NODE_INDEX=0 CIRCLE_NODE_TOTAL=1", "2/2", "(Bazel)"},
		{"CI_NODE_TOTAL=1 " + slurm3of8, "3/8", "(Slurm)"},
		{slurm3of8 + "ZKSIM_JOB_INDEX=2 ZKSIM_JOB_TOTAL=8", "3/8", "(Slurm)"},
		{slurm3of8 + "CI_NODE_INDEX= CI_NODE_TOTAL=", "3/8", "(Slurm)"},
	} {
		p, err := shard.Parse(shard.Auto, in(x.env))
		if err != nil || p.String() != x.want || !strings.Contains(p.From, x.from) {
			t.Errorf("%s: %v from %q, %v", x.env, p, p.From, err)
		}
	}
}

func TestHalfOfAPairAndAContradictionAreErrors(t *testing.T) {
	for _, x := range []struct{ env, want string }{
		{"", "auto finds no part in the environment, expected"},
		{"CI_NODE_TOTAL=1", "auto finds no part"},
		{"JOB_COMPLETION_INDEX=0", "JOB_COMPLETION_INDEX is set, and ZKSIM_JOB_TOTAL is not"},
		{"ZKSIM_JOB_TOTAL=3", "ZKSIM_JOB_TOTAL is set, and neither"},
		{"TEST_SHARD_INDEX=0", "TEST_TOTAL_SHARDS is not"},
		{"TEST_TOTAL_SHARDS=2", "TEST_SHARD_INDEX is not"},
		{"CI_NODE_TOTAL=2", "CI_NODE_INDEX is not"},
		{"CI_NODE_INDEX=0 CI_NODE_TOTAL=2", "expected an index from 1 to one of 2 parts"},
		{"CIRCLE_NODE_INDEX=2 CIRCLE_NODE_TOTAL=2", "expected an index from 0"},
		{"CIRCLE_NODE_INDEX=-1 CIRCLE_NODE_TOTAL=2", `CIRCLE_NODE_INDEX is "-1", expected a number`},
		{"BUILDKITE_PARALLEL_JOB=two BUILDKITE_PARALLEL_JOB_COUNT=7", `is "two", expected a number`},
		{"SLURM_ARRAY_TASK_ID=3", "SLURM_ARRAY_TASK_MIN is not"},
		{"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=1", "say i/n"},
		{"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=8 SLURM_ARRAY_TASK_COUNT=4", "all tasks"},
		{"ZKSIM_JOB_INDEX=0 ZKSIM_JOB_TOTAL=4294967295", "is one of 4294967295 parts, expected at most 100000"},
		{slurm3of8 + "CI_NODE_INDEX=4 CI_NODE_TOTAL=8", "contradicts itself: SLURM_ARRAY_TASK_ID=3 of 1-8 (Slurm) is 3/8, " +
			"and CI_NODE_INDEX=4 CI_NODE_TOTAL=8 (GitLab) is 4/8"},
	} {
		if p, err := shard.Parse(shard.Auto, in(x.env)); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, %v", x.env, p, err)
		}
	}
}

func TestBazelLearnsThatShardsAreHeeded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "status")
	env := "TEST_SHARD_INDEX=0 TEST_TOTAL_SHARDS=2 TEST_SHARD_STATUS_FILE="
	if _, err := shard.Parse("1/2", in(env+file)); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is there although the flag has the numbers")
	}
	if _, err := shard.Parse(shard.Auto, in(env+file)); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	if _, err := shard.Parse(shard.Auto, in(env+filepath.Dir(file))); err == nil {
		t.Error("a file that cannot be written is no error")
	}
}

func TestPartsAreAllOfAListAndEachThingIsInOne(t *testing.T) {
	for n := uint64(1); n <= 7; n++ {
		for i := range 20 {
			in := 0
			for k := uint64(1); k <= n; k++ {
				if (shard.Part{Index: k, Of: n}).Has(i) {
					in++
				}
			}
			if in != 1 || !(shard.Part{}).Has(i) {
				t.Errorf("%d of %d parts have %d", in, n, i)
			}
		}
	}
	for _, text := range []string{"0/4", "5/4", "1", "x/2", "1/0", "AUTO", strings.Repeat("9", 100)} {
		if p, err := shard.Parse(text, in("")); err == nil || !strings.Contains(err.Error(), "as 2/4, or auto") {
			t.Errorf("%s: %v, %v", text, p, err)
		}
	}
	if _, err := shard.Parse("1/100001", in("")); err == nil || !strings.Contains(err.Error(), "at most 100000") {
		t.Error("more parts than can be counted: ", err)
	}
}
