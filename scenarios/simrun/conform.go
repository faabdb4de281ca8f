package simrun

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"zksim/internal/conform"
	"zksim/internal/files"
	"zksim/internal/pipeline"
	"zksim/internal/transcript"
	"zksim/internal/zkserver"
	"zksim/model/history"
)

// conformFlags are the flags of conform.
type conformFlags struct {
	replay, servers, out string
	report               string
	nodes, ops           int
	seed                 uint64
	like                 like
	lost                 []error // transcripts that could not be written
}

func conformance(ctx context.Context, a *app, args []string) (int, error) {
	var c conformFlags
	f := a.flags("conform")
	f.StringVar(&c.replay, "replay", "", "replay the recorded transcripts (*.jsonl) below `dir` instead of running "+
		"operations")
	f.StringVar(&c.servers, "servers", "", "`host:port,...` of all servers of a running ensemble (default: start "+
		"servers on this machine)")
	f.IntVar(&c.nodes, "nodes", 1, "number of servers to start, 1 or 3")
	f.IntVar(&c.ops, "ops", 2000, "number of operations to run, in sequences of about 60")
	f.Uint64Var(&c.seed, "seed", 1, "seed of the first sequence; each further one has the next seed")
	likeFlag(f, &c.like)
	f.StringVar(&c.out, "o", "out", "`folder` for the transcripts of differences")
	f.StringVar(&c.report, "report", "", "write a Markdown page of the differences to `file`, each with the shortest "+
		"sequence and the recipes that may break; - is standard output")
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
	case c.ops < 1:
		return 0, fmt.Errorf("-ops must be 1 or more, not %d", c.ops)
	}
	addrs, err := addresses(c.servers, c.nodes)
	if err != nil {
		return 0, err
	}
	if err := reportFolder(c.out); err != nil {
		return 0, err
	}
	var page *output
	if c.report != "" {
		if page, err = a.openOutput("conform", "report", c.report); err != nil {
			return 0, err
		}
	}
	if c.report == stdStream { // nothing else may be in the page
		a = a.to(a.err)
	}
	// Nothing may be cleaned up while a sequence runs.
	addrs, stop, err := startEnsemble(ctx, addrs, zkserver.Options{Servers: c.nodes, ContainerCheck: time.Hour})
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
	rep, err := conform.Run(ctx, conform.Options{Servers: addrs, Ops: c.ops, Seed: c.seed, Like: c.like.Like,
		Done: progress.add,
		Failed: func(f conform.Failure) {
			progress.erase()
			c.difference(a, f, len(addrs))
		}})
	progress.clear()
	if rep == nil && ctx.Err() != nil {
		a.interrupted("conform", nil)
		return exitInconclusive, nil
	}
	interrupted := errors.Is(err, context.Canceled)
	if err != nil && !interrupted {
		return 0, err
	}
	code, err := c.summary(a, rep)
	if err == nil && page != nil {
		text := &conformPage{servers: strings.Join(addrs, ","), report: rep, seed: c.seed, calls: callers(a.all),
			command: a.command + " conform " + c.server(len(addrs))}
		err = page.write(context.WithoutCancel(ctx), text.write)
	}
	if interrupted {
		a.interrupted("conform", nil)
		code = cmp.Or(code, exitInconclusive)
	}
	return code, errors.Join(err, unwritten(c.lost))
}

// server returns the flags that say which servers are compared.
func (c *conformFlags) server(n int) string {
	text := fmt.Sprintf("-nodes %d", n)
	if c.servers != "" {
		text = "-servers " + pipeline.Quote(c.servers)
	}
	return text + c.like.arg()
}

// difference prints a difference and what leads to it, and writes its transcript.
func (c *conformFlags) difference(a *app, f conform.Failure, servers int) {
	last := len(f.Steps) - 1
	fmt.Fprintf(a.out, "DIFF  seed %d  step %d: %s\n", f.Seed, last, f.Relative(f.Steps[last].Op.String()))
	if !f.Repeated {
		fmt.Fprintln(a.out, "      the same operations gave no difference the second time: the server may have removed an\n"+
			"      empty container or an outdated ttl znode, which it does at times of its own")
	}
	for _, d := range f.Differences {
		fmt.Fprintf(a.out, "      %-10s %s\n      %-10s ZooKeeper  %s\n      %-10s simulator  %s\n", "differs", d.Field,
			"", f.Relative(d.Real), "", f.Relative(d.Sim))
	}
	fmt.Fprintf(a.out, "      minimal    %d of %s\n", len(f.Steps), history.Counted(f.Original, "step"))
	for i := range f.Steps {
		fmt.Fprintf(a.out, "      %8d   %s: %s\n", i, f.Relative(f.Steps[i].Op.String()), cmp.Or(f.Steps[i].Real.Err, "ok"))
	}
	name := fmt.Sprintf("seed-%d.jsonl", f.Seed)
	dir := filepath.Join(c.out, "conform")
	if err := files.Save(dir, name, func(w io.Writer) error { return f.Write(w, f.Seed, servers) }); err != nil {
		c.lost = append(c.lost, err)
		fmt.Fprintf(a.out, "      no transcript: %s\n", oneLine(err.Error()))
	} else {
		fmt.Fprintf(a.out, "      transcript %s\n", filepath.Join(dir, name))
	}
	fmt.Fprintf(a.out, "      reproduce  %s conform %s -seed %d -ops 1\n", a.command, c.server(servers), f.Seed)
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
	fmt.Fprintf(a.out, "%s in %s from seed %d on, %s, %.1f s, %.0f operations/s, %s",
		history.Counted(rep.Ops, "operation"), history.Counted(rep.Sequences, "sequence"), c.seed,
		history.Counted(rep.Servers, "server"), rep.Elapsed.Seconds(), float64(rep.Ops)/rep.Elapsed.Seconds(),
		history.Counted(len(rep.Failures), "difference"))
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

// replayFolder replays recordings of a real server against the model.
func (c *conformFlags) replayFolder(ctx context.Context, a *app) (int, error) {
	r, err := conform.Replay(ctx, c.replay, func(file string, d transcript.Difference) {
		fmt.Fprintf(a.out, "%s: %s\n", file, d)
	})
	if ctx.Err() != nil {
		a.interrupted("conform", nil)
		return exitInconclusive, nil
	}
	if err != nil {
		return 0, err
	}
	if n := len(r.Skipped); n > 0 {
		a.says("conform", "left out %s of a client library, as %s", history.Counted(n, "recording"), r.Skipped[0])
	}
	fmt.Fprintf(a.out, "%s, %s, %s\n", history.Counted(r.Transcripts, "transcript"), history.Counted(r.Steps, "step"),
		history.Counted(r.Differences, "difference"))
	if r.Differences > 0 {
		return exitViolation, nil
	}
	return exitHeld, nil
}
