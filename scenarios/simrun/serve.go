package simrun

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"zksim/faults"
	"zksim/reports"
	"zksim/scenarios/serve"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	options        serve.Options
	plan, record   string
	control, token string
	long           time.Duration
	verbose        bool
}

// serveCommand is the ensemble behind real sockets.
func serveCommand(ctx context.Context, a *app, args []string) (_ int, err error) {
	var c serveFlags
	f := a.flags("serve")
	f.StringVar(&c.options.Listen, "listen", "127.0.0.1:2181", "`host:port` of the first server, the others of three "+
		"have the ports after it; or of all, with commas; port 0: free ones")
	f.IntVar(&c.options.Nodes, "nodes", 1, "how many servers there are, 1 or 3")
	f.Uint64Var(&c.options.Seed, "seed", 0, "draws which of the requests that a rule without nth fits are struck, and "+
		"how connections end; 0: the first ones, in order")
	f.StringVar(&c.plan, "faults", "none", "the `plan`, as \"lose-reply=1@client=c1,op=create,nth=1\"; contract: "+
		"everything that can happen to clients outside of the simulator")
	f.StringVar(&c.record, "record", "", "write the history to `file` when it ends")
	f.StringVar(&c.control, "control", "", "`host:port` of the control channel, HTTP with JSON; see docs/serve.md")
	f.StringVar(&c.token, "token", "", "`secret` that requests on the control channel need; obligatory where that is not "+
		"on loopback")
	f.DurationVar(&c.options.TickTime, "tick", 2*time.Second, "ZooKeeper's unit of time; sessions get timeouts of 2 to "+
		"20 of these")
	f.DurationVar(&c.options.Lag, "lag", 200*time.Millisecond, "how long what a fault suspends stays so")
	f.DurationVar(&c.options.ContainerCheck, "containers", time.Minute, "how often containers and ttl znodes that are "+
		"due are deleted")
	f.DurationVar(&c.long, "for", 0, "end after that `time`; 0: at a signal")
	f.BoolVar(&c.verbose, "v", false, "print each step as a line")
	if err := parse(f, args, 0); err != nil {
		return 0, err
	}
	if c.long < 0 {
		return 0, fmt.Errorf("-for must not be negative, not %v", c.long)
	}
	if c.options.Faults, err = faults.Parse(c.plan); c.plan == "contract" {
		c.options.Faults = serve.Contract()
	}
	if err != nil {
		return 0, fmt.Errorf("-faults: %w", err)
	}
	var record *output
	if c.record != "" {
		if record, err = a.openOutput("record", c.record); err != nil {
			return 0, err
		}
	}
	return c.serve(ctx, a, record)
}

// serve serves until the context is done or the time is over, and judges.
func (c *serveFlags) serve(ctx context.Context, a *app, record *output) (int, error) {
	var mu sync.Mutex // the steps are printed by others
	if c.verbose {
		c.options.Step = func(name string) {
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintln(a.out, name)
		}
	}
	e, err := serve.Start(c.options)
	if err != nil {
		return 0, err
	}
	defer e.Close()
	control := ""
	if c.control != "" {
		if control, err = e.Control(c.control, c.token); err != nil {
			return 0, err
		}
	}
	mu.Lock()
	if control != "" {
		fmt.Fprintf(a.out, "control  %s\n", control)
	}
	fmt.Fprintf(a.out, "ready    %s\n", e.Connect())
	mu.Unlock()
	var over <-chan time.Time
	if c.long > 0 {
		over = time.After(c.long)
	}
	select {
	case <-ctx.Done():
	case <-over:
	}
	j := e.Judge()
	h, _ := e.History()
	strikes, _ := e.Strikes()
	e.Close()
	for i := range strikes {
		fmt.Fprintf(a.out, "struck   %s\n", &strikes[i])
	}
	if record != nil {
		// The signal that ended the command does not end this.
		err = record.write(context.WithoutCancel(ctx), func(w io.Writer) error { return reports.WriteHistory(w, h) })
	}
	return sentence(a.out, &j), err
}

// sentence prints what the judges say, and returns the exit status.
func sentence(out io.Writer, j *serve.Judgement) int {
	for _, s := range j.Facts {
		fmt.Fprintf(out, "judged   %s\n", s)
	}
	for _, s := range j.Violations {
		fmt.Fprintf(out, "FAIL     %s\n", s)
	}
	for _, s := range j.Inconclusive {
		fmt.Fprintf(out, "unsure   %s\n", s)
	}
	switch {
	case len(j.Violations) > 0:
		return exitViolation
	case len(j.Inconclusive) > 0:
		return exitInconclusive
	}
	return exitHeld
}
