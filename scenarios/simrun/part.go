package simrun

import (
	"flag"
	"fmt"
	"os"

	"zksim/internal/shard"
)

// partFlag is the flag -shard.
type partFlag struct{ text string }

// flag defines it; what says what a part is.
func (p *partFlag) flag(f *flag.FlagSet, what string) {
	f.StringVar(&p.text, "shard", "", "i/n: "+what+", the i-th part of the work; auto: the part that Slurm, Kubernetes, "+
		"Bazel, GitLab, CircleCI or Buildkite says in the environment, or ZKSIM_JOB_INDEX and ZKSIM_JOB_TOTAL do")
}

// read returns the part, and says where it comes from if that is not the flag.
func (p *partFlag) read(a *app, command string) (shard.Part, error) {
	part, err := shard.Parse(p.text, os.LookupEnv)
	if err != nil {
		return part, fmt.Errorf("-shard: %w", err)
	}
	if part.From != "" {
		a.says(command, "-shard auto is %v, from %s", part, part.From)
	}
	return part, nil
}
