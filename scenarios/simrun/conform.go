package simrun

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"time"

	"zksim/internal/conform"
	"zksim/internal/files"
	"zksim/internal/zkserver"
	"zksim/scenarios/pipeline"
)

// conformFlags are the flags of conform.
type conformFlags struct {
	replay, servers, out string
	nodes, ops           int
	seed                 uint64
	lost                 []error // transcripts that could not be written
}

func conformance(ctx context.Context, a *app, args []string) (int, error) {
	var c conformFlags
	f := a.flags("conform")
	f.StringVar(&c.replay, "replay", "", "replay the recorded transcripts (*.jsonl) below `dir` instead of running "+
		"operations")
	f.StringVar(&c.servers, "servers", "", "`host:port,...` of all servers of a running ensemble; default: start "+
		"servers on this machine")
	f.IntVar(&c.nodes, "nodes", 1, "how many servers to start, 1 or 3")
	f.IntVar(&c.ops, "ops", 2000, "how many operations to execute, in sequences of about 60")
	f.Uint64Var(&c.seed, "seed", 1, "of the first sequence; each further one has the next seed")
	f.StringVar(&c.out, "o", "out", "`folder` for the transcripts of differences")
	if err := parse(f, args, 0); err != nil {
		return 0, err
	}
	given := map[string]bool{}
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if given["replay"] {
		if len(given) > 1 {
			return 0, errors.New("-replay takes no other flags")
		}
		return c.replayFolder(ctx, a)
	}
	return c.differential(ctx, a, given["servers"] && given["nodes"])
}

// differential runs operations on real servers and in the simulator.
func (c *conformFlags) differential(ctx context.Context, a *app, both bool) (_ int, err error) {
	switch {
	case both:
		return 0, errors.New("-servers and -nodes exclude each other")
	case c.nodes != 1 && c.nodes != 3:
		return 0, fmt.Errorf("-nodes is 1 or 3, not %d", c.nodes)
	case c.ops < 1:
		return 0, fmt.Errorf("-ops must be 1 or more, not %d", c.ops)
	}
	if err := files.Writable(c.out); err != nil {
		return 0, fmt.Errorf("-o: %w", err)
	}
	addrs, stop, err := c.ensemble(ctx)
	if err != nil && ctx.Err() != nil {
		a.interrupted("conform", nil)
		return exitInconclusive, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	progress := a.progress("conform", "operations", int64(c.ops))
	defer progress.clear()
	rep, err := conform.Run(ctx, conform.Options{Servers: addrs, Ops: c.ops, Seed: c.seed, Done: progress.add,
		Failed: func(f conform.Failure) error {
			progress.erase()
			c.difference(a, f, len(addrs))
			return nil
		}})
	progress.clear()
	interrupted := rep != nil && errors.Is(err, context.Canceled)
	if err != nil && !interrupted {
		return 0, err
	}
	code, err := c.summary(a, rep)
	if interrupted {
		a.interrupted("conform", nil)
		if code == exitHeld {
			code = exitInconclusive
		}
	}
	return code, errors.Join(err, unwritten(c.lost))
}

// ensemble returns the addresses of the servers to compare with.
func (c *conformFlags) ensemble(ctx context.Context) (addrs []string, stop func() error, err error) {
	if c.servers != "" {
		addrs = strings.Split(c.servers, ",")
		for _, addr := range addrs {
			if host, port, err := net.SplitHostPort(addr); err != nil || host == "" || port == "" {
				return nil, nil, fmt.Errorf("-servers is host:port,..., not %q", c.servers)
			}
		}
		return addrs, func() error { return nil }, nil
	}
	// Nothing may be cleaned up while a sequence runs.
	e, err := zkserver.Start(ctx, zkserver.Options{Servers: c.nodes, ContainerCheck: time.Hour})
	if errors.Is(err, zkserver.ErrUnavailable) {
		err = fmt.Errorf("%w; or give -servers host:port,... of a running one", err)
	}
	if err != nil {
		return nil, nil, err
	}
	return e.Addrs(), e.Stop, nil
}

// difference prints a difference and what leads to it, and writes its transcript.
func (c *conformFlags) difference(a *app, f conform.Failure, servers int) {
	last := len(f.Steps) - 1
	fmt.Fprintf(a.out, "DIFF  seed %d  step %d: %s\n", f.Seed, last, f.Relative(f.Steps[last].Op.String()))
	if !f.Repeated {
		fmt.Fprintln(a.out, "      the same operations gave no difference the second time")
	}
	for _, d := range f.Differences {
		fmt.Fprintf(a.out, "      %-10s %s\n      %-10s ZooKeeper  %s\n      %-10s simulator  %s\n", "differs", d.Field,
			"", f.Relative(d.Real), "", f.Relative(d.Sim))
	}
	fmt.Fprintf(a.out, "      minimal    %d of %d steps\n", len(f.Steps), f.Original)
	for i := range f.Steps {
		outcome := f.Steps[i].Real.Err
		if outcome == "" {
			outcome = "ok"
		}
		fmt.Fprintf(a.out, "      %8d   %s: %s\n", i, f.Relative(f.Steps[i].Op.String()), outcome)
	}
	server := fmt.Sprintf("-nodes %d", servers)
	if c.servers != "" {
		server = "-servers " + pipeline.Quote(c.servers)
	}
	name := fmt.Sprintf("seed-%d.jsonl", f.Seed)
	dir := filepath.Join(c.out, "conform")
	if err := files.Save(dir, name, func(w io.Writer) error { return f.Write(w, f.Seed, servers) }); err != nil {
		c.lost = append(c.lost, err)
		fmt.Fprintf(a.out, "      no transcript: %s\n", oneLine(err.Error()))
	} else {
		fmt.Fprintf(a.out, "      transcript %s\n", filepath.Join(dir, name))
	}
	fmt.Fprintf(a.out, "      reproduce  %s conform %s -seed %d -ops 1\n", a.command, server, f.Seed)
}

// summary prints the coverage and the totals.
func (c *conformFlags) summary(a *app, rep *conform.Report) (int, error) {
	if err := rep.Coverage.Write(a.out); err != nil {
		return 0, err
	}
	repeated := 0
	for _, f := range rep.Failures {
		if f.Repeated {
			repeated++
		}
	}
	fmt.Fprintf(a.out, "%d operations in %d sequences from seed %d on, %d servers, %.1f s, %.0f operations/s, %d "+
		"differences",
		rep.Ops, rep.Sequences, c.seed, rep.Servers, rep.Elapsed.Seconds(), float64(rep.Ops)/rep.Elapsed.Seconds(),
		len(rep.Failures))
	if once := len(rep.Failures) - repeated; once > 0 {
		fmt.Fprintf(a.out, ", %d of them only once", once)
	}
	fmt.Fprintln(a.out)
	switch {
	case repeated > 0:
		return exitViolation, nil
	case len(rep.Failures) > 0:
		return exitInconclusive, nil
	}
	return exitHeld, nil
}
