package scenarios

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"zksim/internal/pipeline"
	"zksim/internal/shard"
	"zksim/model"
	"zksim/scenarios/engine"
)

// Flags of test binaries that import this package. Each also has an environment variable, ZKSIM_SEEDS and so on, which
// reaches all packages of go test ./..., even those that do not know the flag.
var (
	seedsFlag    = testFlag("seeds", "seeds for checks, as 17 or 1-500 (default 1-500)")
	scheduleFlag = testFlag("schedule", "file with a schedule to replay instead of anything else")
	shardFlag    = testFlag("shard", "i/n: only every n-th seed, the i-th part of the work; auto: as the environment says")
	forFlag      = testFlag("for", "time for each check or proof: as many seeds as it allows, or at most as long for "+
		"those of zksim.seeds")
	likeFlag = testFlag("like", "what the servers behave like, whatever scenarios say: zookeeper, zookeeper-3.6, "+
		"zookeeper-3.9 or keeper")
	outFlag = testFlag("out", "folder for the pages of failures and an index (default: the folder of -artifacts, or, "+
		"without an index, a temporary one)")
)

// setting is the value of a flag or, if the flag is not given, of its environment variable. The variable is read each
// time that the value is asked for: go test runs a cached test again if a variable that the test has read has changed,
// but does not know of variables that were read before tests began.
type setting struct{ variable, given string }

// testFlag defines a flag in test binaries only.
func testFlag(name, usage string) *setting {
	s := &setting{variable: "ZKSIM_" + strings.ToUpper(name)}
	if testing.Testing() {
		flag.Var(s, "zksim."+name, usage)
	}
	return s
}

// String implements [flag.Value].
func (s *setting) String() string {
	if s.given != "" || s.variable == "" { // package flag makes such a value to learn the default
		return s.given
	}
	value, _ := os.LookupEnv(s.variable)
	return value
}

// Set implements [flag.Value].
func (s *setting) Set(text string) error {
	s.given = text
	return nil
}

// name returns the name of the flag, or of the variable, that the value comes from.
func (s *setting) name() string {
	if s.given == "" {
		return s.variable
	}
	return "-zksim." + strings.ToLower(strings.TrimPrefix(s.variable, "ZKSIM_"))
}

// usualSeeds are the seeds of a check if no flag says otherwise.
const usualSeeds = "1-500"

// options reads the flags. limited is whether there is a time limit that ends the work without failing it.
func options() (o pipeline.Options, limit time.Duration, limited bool, err error) {
	o.Strategy = engine.Portfolio
	if text := forFlag.String(); text != "" {
		if limit, err = time.ParseDuration(text); err != nil || limit <= 0 {
			return o, 0, false, fmt.Errorf("%s is a time above 0, as 30s, not %q", forFlag.name(), text)
		}
	}
	seeds := seedsFlag.String()
	limited = limit > 0 && seeds == ""
	if limited {
		o.Seeds = engine.Range{First: 1, Last: 1 << 62}
	} else if o.Seeds, err = engine.ParseRange(cmp.Or(seeds, usualSeeds)); err != nil {
		return o, 0, false, fmt.Errorf("%s: %w", seedsFlag.name(), err)
	}
	part, err := readShard()
	if err != nil {
		return o, 0, false, err
	}
	if part.Of > 1 { // one of one is the whole
		o.Shard, o.Shards = part.Remainder(), part.Of
	}
	return o, limit, limited, nil
}

// bazelTotal is a variable of Bazel. rules_go deals out the tests of a go_test to its shards, each test to one of them:
// the seeds that this shard left to others would be run by none.
const bazelTotal = "TEST_TOTAL_SHARDS"

// readShard returns the part of the work that the flag names.
func readShard() (part shard.Part, err error) {
	text := shardFlag.String()
	if total := os.Getenv(bazelTotal); text == shard.Auto && total != "" && total != "1" {
		err = fmt.Errorf("auto cannot divide seeds where Bazel divides tests (%s=%.40s), expected no %s, or i/n",
			bazelTotal, total, shardFlag.name())
	} else {
		part, err = shard.Parse(text, os.LookupEnv)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", shardFlag.name(), err)
	}
	return part, err
}

// setLike gives a scenario the servers that the flag names, if it is given.
func setLike(s *Scenario) error {
	name := likeFlag.String()
	if name == "" {
		return nil
	}
	like, err := model.ParseLike(name)
	if err != nil {
		return fmt.Errorf("%s: %w", likeFlag.name(), err)
	}
	s.Like = like
	return nil
}

// logShard logs which part of the work a test does, if the environment decides that.
func logShard(t T) {
	t.Helper()
	if shardFlag.String() != shard.Auto {
		return
	}
	if part, err := readShard(); err == nil {
		t.Logf("%s auto is %v, from %s", shardFlag.name(), part, part.From)
	}
}

// within returns the context of a test, which ends after a time limit; 0: none.
func within(t T, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx := context.Background()
	if x, ok := t.(interface{ Context() context.Context }); ok {
		ctx = x.Context()
	}
	if limit == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}
