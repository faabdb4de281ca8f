// Package shard says which part of a work this process does: the part that a flag says or, with "auto", the part that
// the engine that started it has put into the environment. It does not know what the work is.
package shard

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Most is the largest number of parts: missing parts are counted one by one.
const Most = 100_000

// Auto is the text that stands for what the environment says.
const Auto = "auto"

// Part is part Index of Of, from 1 on. The zero value is the whole work, undivided.
type Part struct {
	Index, Of uint64
	// From says where the numbers come from, like "CI_NODE_INDEX=2 CI_NODE_TOTAL=4 (GitLab)"; empty: from a flag.
	From string
}

// String is "2/4", "" for the zero value.
func (p Part) String() string {
	if p.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", p.Index, p.Of)
}

// Remainder is the remainder, modulo p.Of, of the numbers that belong to the part; 0 for the zero value.
func (p Part) Remainder() uint64 {
	if p.Of == 0 {
		return 0
	}
	return p.Index % p.Of
}

// Has reports whether element i of a list, from 0 on, belongs to the part.
func (p Part) Has(i int) bool { return p.Of == 0 || uint64(i)%p.Of == p.Index-1 }

// Parse reads "i/n" with i from 1 to n, "auto", or "", which is the zero value. getenv is usually [os.LookupEnv]. With
// "auto" it also creates the file TEST_SHARD_STATUS_FILE, which tells Bazel that a test heeds its shards.
func Parse(text string, getenv func(string) (string, bool)) (Part, error) {
	switch text {
	case "":
		return Part{}, nil
	case Auto:
		return fromEnvironment(getenv)
	}
	a, b, _ := strings.Cut(text, "/")
	i, err1 := strconv.ParseUint(a, 10, 32)
	n, err2 := strconv.ParseUint(b, 10, 32)
	if err1 != nil || err2 != nil || i < 1 || i > n {
		if len(text) > 60 {
			text = text[:60] + "..."
		}
		return Part{}, fmt.Errorf("a shard is i/n with i from 1 to n, as 2/4, or auto, not %q", text)
	}
	if n > Most {
		return Part{}, tooMany(text, n)
	}
	return Part{Index: i, Of: n}, nil
}

func tooMany(said string, parts uint64) error {
	return fmt.Errorf("%s is one of %d parts, expected at most %d", said, parts, Most)
}

// pair is two variables with which an engine tells a process its part.
type pair struct {
	engine       string
	index, total string
	first        uint64 // index of the first part
	// always says that total is also set, to 1, for work that is not divided.
	always bool
}

// pairs are the known pairs. Kubernetes has no variable for the number of parts, so a manifest sets ZKSIM_JOB_TOTAL.
// GitHub has none at all, so a workflow sets both from strategy.job-index and strategy.job-total.
var pairs = []pair{
	{engine: "Kubernetes", index: "JOB_COMPLETION_INDEX", total: ownTotal},
	{engine: "ZKSIM_JOB_INDEX", index: "ZKSIM_JOB_INDEX", total: ownTotal},
	{engine: "Bazel", index: "TEST_SHARD_INDEX", total: "TEST_TOTAL_SHARDS"},
	{engine: "GitLab", index: "CI_NODE_INDEX", total: "CI_NODE_TOTAL", first: 1, always: true},
	{engine: "CircleCI", index: "CIRCLE_NODE_INDEX", total: "CIRCLE_NODE_TOTAL", always: true},
	{engine: "Buildkite", index: "BUILDKITE_PARALLEL_JOB", total: "BUILDKITE_PARALLEL_JOB_COUNT"},
}

const (
	ownTotal   = "ZKSIM_JOB_TOTAL"
	statusFile = "TEST_SHARD_STATUS_FILE"
)

var errNone = errors.New("auto finds no part in the environment, expected that of an array of Slurm, an Indexed " +
	"Job of Kubernetes (with ZKSIM_JOB_TOTAL), Bazel, GitLab, CircleCI, Buildkite, or ZKSIM_JOB_INDEX and ZKSIM_JOB_TOTAL")

// fromEnvironment returns the part that the environment names. Engines can be nested: one that has not divided its work
// (part 1 of 1) gives way to another. Two that have divided it contradict each other unless they say the same.
func fromEnvironment(getenv func(string) (string, bool)) (Part, error) {
	e := environment{getenv}
	list, err := e.all()
	if err != nil {
		return Part{}, err
	}
	var found Part
	for _, p := range list {
		switch {
		case p.Of > Most:
			return Part{}, tooMany(p.From, p.Of)
		case found.Of <= 1 && (found.Of == 0 || p.Of > 1):
			found = p
		case p.Of > 1 && (p.Index != found.Index || p.Of != found.Of):
			return Part{}, fmt.Errorf("the environment contradicts itself: %s is %v, and %s is %v; say which with i/n",
				found.From, found, p.From, p)
		}
	}
	if found.Of == 0 {
		return Part{}, errNone
	}
	return found, e.heeded()
}

// environment reads variables. An empty variable counts as not set.
type environment struct {
	lookup func(string) (string, bool)
}

func (e environment) get(name string) (value string, set bool) {
	value, set = e.lookup(name)
	return value, set && value != ""
}

// number reads a variable; set is false if it is not set.
func (e environment) number(name string) (n uint64, set bool, err error) {
	text, set := e.get(name)
	if !set {
		return 0, false, nil
	}
	if n, err = strconv.ParseUint(text, 10, 32); err != nil {
		return 0, true, fmt.Errorf("%s is %.40q, expected a number", name, text)
	}
	return n, true, nil
}

// all returns the parts that the environment names, Slurm's first.
func (e environment) all() (list []Part, err error) {
	if p, err := e.slurm(); err != nil {
		return nil, err
	} else if p.Of > 0 {
		list = append(list, p)
	}
	own := false
	for _, x := range pairs {
		if _, set := e.get(x.index); x.total == ownTotal && !set {
			continue
		}
		own = own || x.total == ownTotal
		p, err := e.pair(x)
		if err != nil {
			return nil, err
		}
		if p.Of > 0 {
			list = append(list, p)
		}
	}
	if _, set := e.get(ownTotal); set && !own {
		return nil, fmt.Errorf("%s is set, and neither JOB_COMPLETION_INDEX nor ZKSIM_JOB_INDEX is, expected one of them",
			ownTotal)
	}
	return list, nil
}

// pair reads the variables of an engine.
func (e environment) pair(x pair) (Part, error) {
	i, hasIndex, err1 := e.number(x.index)
	n, hasTotal, err2 := e.number(x.total)
	if err := errors.Join(err1, err2); err != nil {
		return Part{}, err
	}
	switch {
	case !hasIndex && (!hasTotal || x.always && n == 1):
		return Part{}, nil
	case !hasTotal:
		return Part{}, fmt.Errorf("%s is set, and %s is not, expected both", x.index, x.total)
	case !hasIndex:
		return Part{}, fmt.Errorf("%s is set, and %s is not, expected both", x.total, x.index)
	case i < x.first || i-x.first >= n:
		return Part{}, fmt.Errorf("%s is %d and %s is %d, expected an index from %d to one of %d parts", x.index, i,
			x.total, n, x.first, n)
	}
	return Part{Index: i - x.first + 1, Of: n,
		From: fmt.Sprintf("%s=%d %s=%d (%s)", x.index, i, x.total, n, x.engine)}, nil
}

// slurm reads the variables of a task of an array. An array must begin with 0 or 1 and have no holes. Any other array
// may repeat a few tasks of an earlier one, and nobody knows how many parts that had.
func (e environment) slurm() (Part, error) {
	const id, least, most, count = "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX",
		"SLURM_ARRAY_TASK_COUNT"
	var n [4]uint64
	var missing, there []string
	for k, name := range []string{id, least, most, count} {
		x, set, err := e.number(name)
		if err != nil {
			return Part{}, err
		}
		if n[k] = x; set {
			there = append(there, name)
		} else {
			missing = append(missing, name)
		}
	}
	switch {
	case len(there) == 0:
		return Part{}, nil
	case len(missing) > 0:
		return Part{}, fmt.Errorf("%s is set, and %s is not, expected both", there[0], missing[0])
	case n[1] > 1 || n[2] < n[1] || n[2]-n[1]+1 != n[3] || n[0] < n[1] || n[0] > n[2]:
		return Part{}, fmt.Errorf("task %d of a Slurm array of %d tasks from %d to %d, expected an array of all tasks from "+
			"0 or 1 on, as --array=1-8; say i/n for one that runs again", n[0], n[3], n[1], n[2])
	}
	return Part{Index: n[0] - n[1] + 1, Of: n[3],
		From: fmt.Sprintf("%s=%d of %d-%d (Slurm)", id, n[0], n[1], n[2])}, nil
}

// heeded tells Bazel that the test heeds its shards. Without the file Bazel assumes that each shard runs everything.
func (e environment) heeded() error {
	name, set := e.get(statusFile)
	if !set {
		return nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return fmt.Errorf("%s: %w", statusFile, err)
	}
	return f.Close()
}
