package simrun

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"zksim/internal/edit"
	"zksim/internal/pipeline"
	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/scenarios/prove"
	"zksim/sim"
)

// proveFlags are the flags of prove.
type proveFlags struct {
	run, plan, checkers, without, memory, checkpoint, cert, verify  string
	clients                                                         givenNumber
	rounds, servers, ticks, workers                                 int
	most                                                            givenNumber
	order                                                           uint64
	duration, every                                                 time.Duration
	interleave, slowWakes, offline, reverse, symmetry, audit, rerun bool
	wide                                                            bool // no flag says anything about the scope
	like                                                            like
	part                                                            partFlag
	obligations, kind                                               string
	split                                                           bool
	certificate                                                     *output // of -cert, nil: none
	proved                                                          *prove.Certificate
	again                                                           string // flags that lead to the same
	results
}

// scopeFlags defines the flags that say what to prove, and for how long.
func (c *proveFlags) scopeFlags(f *flag.FlagSet) {
	f.StringVar(&c.run, "run", "", "only scenarios whose names match this regular expression")
	f.Var(&c.clients, "clients", "number of clients; 0: the scenario's (default: 2, or 1 if the scenario has no more)")
	f.IntVar(&c.rounds, "rounds", 1, "rounds of each client; 0: the scenario's")
	f.IntVar(&c.servers, "servers", 0, "number of servers: 1, or 3 with lagging followers (default: the scenario's "+
		"smallest)")
	likeFlag(f, &c.like)
	f.StringVar(&c.plan, "faults", "", "fault plan (default: those faults of \""+prove.Losses+
		"\" that the scenario's plan has; for mutants the scenario's plan)")
	f.Var(&c.most, "most", "at most `n` faults in one run (default: as many as the plan allows)")
	f.IntVar(&c.ticks, "ticks", 0, "how many timers of a run may fire while something else can still happen (when "+
		"nothing else can, timers always fire)")
	f.StringVar(&c.checkers, "checkers", "", "only these checkers, separated by commas, or \"state\": those that do not "+
		"need the order of events, which leaves far less to explore (default: the scenario's)")
	f.Uint64Var(&c.order, "order", 1, "decides what ZooKeeper leaves open, such as the order of children, and random "+
		"names: 1 to 15")
	f.BoolVar(&c.interleave, "interleave", false, "interleave the steps of client code with everything else, goroutine "+
		"by goroutine")
	f.BoolVar(&c.offline, "offline", false, "let programs start before their clients are connected")
	f.BoolVar(&c.slowWakes, "slow-wakes", false, "let goroutines that waited for an event continue at any time after it")
	f.DurationVar(&c.duration, "for", time.Minute, "give up on a scenario after this long; the other scopes of a recipe "+
		"that is not refuted have as long again")
	f.StringVar(&c.memory, "mem", "2G", "give up when this much memory is in use, as 500M or 2G")
}

func proveCommand(ctx context.Context, a *app, args []string) (int, error) {
	var c proveFlags
	f := a.flags("prove")
	c.scopeFlags(f)
	f.IntVar(&c.workers, "p", 0, "number of parallel workers (default: one per core)")
	f.StringVar(&c.without, "without", "", "reductions to switch off, separated by commas: "+reductions("and"))
	f.BoolVar(&c.symmetry, "symmetry", false, "treat clients that the scenario calls alike as interchangeable, which is "+
		"sound only if the code does not depend on the order of names")
	f.BoolVar(&c.audit, "audit", false, "check that code remembers nothing but what it says it keeps (see Forget in "+
		"package recipes)")
	f.BoolVar(&c.rerun, "rerun", false, "run the code for every transition instead of remembering what steps do; a "+
		"completed search has the same numbers")
	f.BoolVar(&c.reverse, "reverse", false, "search in another order; a completed search has the same numbers")
	f.StringVar(&c.checkpoint, "checkpoint", "", "file to save the search to, and to resume it from if it exists (one "+
		"scenario only)")
	f.DurationVar(&c.every, "every", 0, "how often to save the checkpoint (default 1m0s)")
	f.StringVar(&c.cert, "cert", "", "file to write the certificate to (one scenario only)")
	f.StringVar(&c.verify, "verify", "", "derive the certificate in this file again, in another order and, if the limits "+
		"allow it, with no reduction but monitors")
	c.dividedFlags(f)
	c.flags(f)
	names, err := c.parse(f, args)
	if err != nil {
		return 0, err
	}
	o, err := c.options()
	if err != nil {
		return 0, err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // most garbage is from finished runs
	// Just above the memory that may be in use, garbage is collected more often, so that it is not most of the memory.
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(o.Memory + o.Memory/8))
	if c.obligations != "" || c.kind != "" {
		return c.obliged(ctx, a, f, names, o)
	}
	if c.verify != "" {
		if len(names) > 0 {
			return 0, fmt.Errorf("%q does not go with -verify: the certificate names its scenario", names[0])
		}
		if name := other(f, "verify", "for", "mem", "p", "rerun"); name != "" {
			return 0, fmt.Errorf("-%s does not go with -verify: the certificate says what to prove", name)
		}
		return c.verification(ctx, a, o)
	}
	selected, err := c.pick(a, names)
	if err != nil {
		return 0, err
	}
	if !c.split {
		if selected, err = c.ofPart(a, selected); err != nil {
			return 0, err
		}
	}
	if len(selected) > 1 && (c.checkpoint != "" || c.cert != "") {
		return 0, fmt.Errorf("-checkpoint and -cert are for one scenario, not for %d", len(selected))
	}
	if c.split {
		c.again = given(f, "run", "p", "o", "json", "junit", "split", "shard", "for", "mem")
		return c.splitScope(ctx, a, selected, o)
	}
	c.wide = other(f, notScope...) == ""
	c.again = given(f, "run", "p", "o", "json", "junit", "cert", "checkpoint", "every", "shard")
	if err := c.outputs(a, &o); err != nil {
		return 0, err
	}
	return c.all(ctx, a, selected, o)
}

// dividedFlags defines the flags that say which part of a work to do.
func (c *proveFlags) dividedFlags(f *flag.FlagSet) {
	f.StringVar(&c.obligations, "obligations", "", "file with the list of what to prove. Without -shard: write it, and "+
		"keep the times that it has; with -shard: prove a part of it, for merge")
	f.StringVar(&c.kind, "kind", "", "with -obligations and -shard: only obligations whose kind matches this regular "+
		"expression")
	f.BoolVar(&c.split, "split", false, "explore one part of a single scope, the one that -shard says; merge counts a "+
		"state once, even if several parts reach it")
	c.part.flag(f, "every n-th scenario, or obligation")
}

// pick returns the scenarios to prove.
func (c *proveFlags) pick(a *app, names []string) ([]*engine.Scenario, error) {
	selected, err := a.pick(c.run, names...)
	alike := func(s *engine.Scenario) bool { return s.Alike() != nil }
	if err == nil && c.symmetry && !slices.ContainsFunc(selected, alike) {
		return nil, errors.New("-symmetry: no scenario says which clients are alike, expected one with Scenario.Symmetric")
	}
	return selected, err
}

// ofPart returns the scenarios of the part that -shard names.
func (c *proveFlags) ofPart(a *app, selected []*engine.Scenario) (list []*engine.Scenario, err error) {
	part, err := c.part.read(a, "prove")
	if err != nil {
		return nil, err
	}
	for i, s := range selected {
		if part.Has(i) {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("-shard: there is nothing to prove in part %v of %s", part,
			history.Counted(len(selected), "scenario"))
	}
	return list, nil
}

// notScope are the flags that say nothing about a scope. A certificate and a checkpoint belong to a scope.
var notScope = []string{"run", "for", "mem", "p", "shard", "o", "json", "junit"}

// given returns the flags that are set, except some, with a blank before each.
func given(f *flag.FlagSet, but ...string) (text string) {
	f.Visit(func(x *flag.Flag) {
		switch value := x.Value.String(); {
		case slices.Contains(but, x.Name):
		case isSwitch(x) && value == "true":
			text += " -" + x.Name
		case isSwitch(x):
			text += fmt.Sprintf(" -%s=%s", x.Name, value)
		default:
			text += fmt.Sprintf(" -%s %s", x.Name, pipeline.Quote(value))
		}
	})
	return text
}

// other returns the first set flag that is not among the known ones, "" if there is none.
func other(f *flag.FlagSet, known ...string) (name string) {
	f.Visit(func(x *flag.Flag) {
		if name == "" && !slices.Contains(known, x.Name) {
			name = x.Name
		}
	})
	return name
}

// outputs checks that all files can be written, before there is anything to lose.
func (c *proveFlags) outputs(a *app, o *prove.Options) error {
	err := separate(namedFile{"cert", c.cert}, namedFile{"checkpoint", c.checkpoint}, namedFile{"junit", c.junit})
	if err != nil {
		return err
	}
	for _, x := range []namedFile{{"cert", c.cert}, {"checkpoint", c.checkpoint}} {
		if err := c.beside(x); err != nil {
			return err
		}
	}
	if err := c.begin(); err != nil {
		return err
	}
	if c.checkpoint != "" {
		file, err := a.openOutput("prove", "checkpoint", c.checkpoint)
		if err != nil {
			return err
		}
		if !file.replaced {
			return fmt.Errorf("-checkpoint: %s is no regular file, which a search can be read from again", c.checkpoint)
		}
		o.Checkpoint = file.file
	}
	if c.cert != "" {
		var err error
		if c.certificate, err = a.openOutput("prove", "cert", c.cert); err != nil {
			return err
		}
		if c.json && c.cert == stdStream {
			return errors.New("-json and -cert - both write to the standard output")
		}
	}
	return nil
}

// sameFile reports whether two names are of one file, whether it exists or not.
func sameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return filepath.Clean(a) == filepath.Clean(b) || err1 == nil && err2 == nil && os.SameFile(x, y)
}

// options reads the flags that say how to search.
func (c *proveFlags) options() (o prove.Options, err error) {
	if c.duration <= 0 {
		return o, fmt.Errorf("-for is a time above 0, not %v", c.duration)
	}
	if c.every < 0 {
		return o, fmt.Errorf("-every is a time above 0, not %v", c.every)
	}
	if c.every > 0 && c.checkpoint == "" {
		return o, errors.New("-every goes with -checkpoint only")
	}
	if c.order == 0 || c.order >= sim.FirstDrawn {
		return o, fmt.Errorf("-order is a number from 1 to %d, not %d", sim.FirstDrawn-1, c.order)
	}
	if c.workers < 0 {
		return o, errors.New("-p cannot be negative")
	}
	o = prove.Options{Reductions: prove.Every, Workers: c.workers, Checkpoint: c.checkpoint,
		Every: cmp.Or(c.every, time.Minute), Reverse: c.reverse, Audit: c.audit, Rerun: c.rerun}
	o.Reductions.Symmetry = c.symmetry
	if o.Memory, err = parseMemory(c.memory); err != nil {
		return o, err
	}
	switches := o.Reductions.Switches()
	for _, name := range words(c.without) {
		i := slices.IndexFunc(switches, func(x prove.Switch) bool { return x.Name == name })
		if i < 0 {
			var known []string
			for _, x := range switches {
				known = append(known, x.Name)
			}
			return o, fmt.Errorf("-without names %s, not %q%s", reductions("or"), name, edit.Meant(name, known))
		}
		*switches[i].On = false
	}
	return o, nil
}

// words splits a list at its commas.
func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
}

// reductions lists the reductions that can be switched off, with word before the last.
func reductions(word string) string {
	var list []string
	for _, x := range new(prove.Reductions).Switches() {
		list = append(list, x.Name)
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " " + word + " " + list[last]
}

// parseMemory reads a number of bytes with the unit M or G.
func parseMemory(s string) (int64, error) {
	shift := map[byte]int{'M': 20, 'G': 30}
	if len(s) > 1 && shift[s[len(s)-1]] != 0 {
		if n, err := strconv.ParseInt(s[:len(s)-1], 10, 32); err == nil && n > 0 {
			return n << shift[s[len(s)-1]], nil
		}
	}
	return 0, fmt.Errorf("-mem is a number above 0 with the unit M or G, as 500M, not %q", s)
}
