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

	"zksim/internal/shard"
	"zksim/scenarios/engine"
	"zksim/scenarios/pipeline"
)

// Flags of test binaries that import this package. In the environment they are called ZKSIM_SEEDS and so on, so
// that they reach all packages of go test ./..., also where a flag would be unknown to some.
var (
	seedsFlag    = testFlag("seeds", "seeds for scenarios.Check, as 17 or 1-500 (default 1-500)")
	scheduleFlag = testFlag("schedule", "file with a schedule to replay instead of anything else")
	shardFlag    = testFlag("shard", "i/n: only every n-th seed, the i-th part of the work; auto: as the environment says")
	forFlag      = testFlag("for", "time for each check or proof: as many seeds as it allows, or at most as long for "+
		"those of zksim.seeds")
	outFlag = testFlag("out", "folder for the pages of failures and an index (default: the folder of -artifacts, or, "+
		"without an index, a temporary one)")
)

// testFlag defines a flag in test binaries only.
func testFlag(name, usage string) *string {
	value := os.Getenv("ZKSIM_" + strings.ToUpper(name))
	if testing.Testing() {
		return flag.String("zksim."+name, value, usage)
	}
	return &value
}

// usualSeeds are the seeds of a check of which nothing else is said.
const usualSeeds = "1-500"

// options reads the flags. limited is whether there is a limit of time, which ends the work without harm.
func options() (o pipeline.Options, limit time.Duration, limited bool, err error) {
	o.Strategy = engine.Portfolio
	if *forFlag != "" {
		if limit, err = time.ParseDuration(*forFlag); err != nil || limit <= 0 {
			return o, 0, false, fmt.Errorf("-zksim.for is a time above 0, as 30s, not %q", *forFlag)
		}
	}
	limited = limit > 0 && *seedsFlag == ""
	if limited {
		o.Seeds = engine.Range{First: 1, Last: 1 << 62}
	} else if o.Seeds, err = engine.ParseRange(cmp.Or(*seedsFlag, usualSeeds)); err != nil {
		return o, 0, false, fmt.Errorf("-zksim.seeds: %w", err)
	}
	part, err := shard.Parse(*shardFlag, os.LookupEnv)
	if err != nil {
		return o, 0, false, fmt.Errorf("-zksim.shard: %w", err)
	}
	if part.Of > 1 { // one of one is the whole
		o.Shard, o.Shards = part.Remainder(), part.Of
	}
	return o, limit, limited, nil
}

// logShard says which part of the work a test does, if the environment has said so.
func logShard(t T) {
	t.Helper()
	if *shardFlag != shard.Auto {
		return
	}
	if part, err := shard.Parse(*shardFlag, os.LookupEnv); err == nil {
		t.Logf("-zksim.shard auto is %v, from %s", part, part.From)
	}
}

// within returns the context of a test, which ends after a limit of time; 0: none.
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
