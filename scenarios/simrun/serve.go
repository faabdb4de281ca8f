package simrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"zksim/checkers"
	"zksim/internal/judge"
	"zksim/internal/pipeline"
	"zksim/model/history"
	"zksim/reports"
	"zksim/scenarios/serve"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	options        serve.Options
	plan, record   string
	page           string
	control, token string
	admin          string
	like           like
	long           time.Duration
	verbose        bool
}

// serveCommand runs the simulated ensemble behind real sockets.
func serveCommand(ctx context.Context, a *app, args []string) (_ int, err error) {
	var c serveFlags
	f := a.flags("serve")
	f.StringVar(&c.options.Listen, "listen", "127.0.0.1:2181", "`host:port` of the first server (the others of three use "+
		"the next ports), or of all, separated by commas; port 0: free ports")
	f.IntVar(&c.options.Nodes, "nodes", 1, "number of servers, 1 or 3")
	likeFlag(f, &c.like)
	f.Uint64Var(&c.options.Seed, "seed", 0, "draws which requests a rule without nth strikes, how connections end, and "+
		"the order of children; 0: the first requests, FIN, and the order of a real server")
	f.StringVar(&c.plan, "faults", "none", "fault `plan`, as \"lose-reply=1@client=c1,op=create,nth=1\"; contract: "+
		"everything that can happen to clients outside the simulator")
	f.StringVar(&c.record, "record", "", "at the end, write the history and the requests to `file`, for replay, shrink "+
		"and check")
	f.StringVar(&c.page, "o", "", "`folder` for the page of a violation (default: no page)")
	f.StringVar(&c.control, "control", "", "`host:port` of the control channel, JSON over HTTP; see docs/serve.md")
	f.StringVar(&c.admin, "admin", "", "`host:port` of the first server's admin server, JSON over HTTP below /commands "+
		"like ZooKeeper's; the others use the next ports")
	f.StringVar(&c.token, "token", "", "`secret` that requests to the control channel and the admin server need; "+
		"required where these are not on loopback")
	f.DurationVar(&c.options.TickTime, "tick", 2*time.Second, "ZooKeeper's tickTime; session timeouts are 2 to 20 of "+
		"these")
	f.DurationVar(&c.options.Lag, "lag", 200*time.Millisecond, "how long a fault suspends something, such as a connection")
	f.DurationVar(&c.options.ContainerCheck, "containers", time.Minute, "how often to delete containers and ttl znodes "+
		"that are due")
	f.DurationVar(&c.long, "for", 0, "end after this `time`; 0: at a signal")
	f.BoolVar(&c.verbose, "v", false, "print a line for each step")
	if err := parse(f, args, 0); err != nil {
		return 0, err
	}
	if err := c.check(); err != nil {
		return 0, err
	}
	if err := reportFolder(c.page); err != nil {
		return 0, err
	}
	c.options.Like, c.options.Record = c.like.Like, c.record != ""
	var record *output
	if c.record != "" {
		if record, err = a.openOutput("serve", "record", c.record); err != nil {
			return 0, err
		}
	}
	return c.serve(ctx, a, record)
}

// check checks the flags and reads the plan.
func (c *serveFlags) check() (err error) {
	switch o := &c.options; {
	case c.long < 0:
		return fmt.Errorf("-for must not be negative, not %v", c.long)
	case o.Nodes == 0:
		return errors.New("-nodes 0, expected 1 or 3")
	case !inMilliseconds(o.TickTime) || !inMilliseconds(o.Lag) || !inMilliseconds(o.ContainerCheck):
		return fmt.Errorf("-tick %v, -lag %v, -containers %v, expected whole milliseconds, at least one", o.TickTime,
			o.Lag, o.ContainerCheck)
	case c.token != "" && c.control == "" && c.admin == "":
		return errors.New("-token is for -control and -admin, expected one of these")
	}
	if c.options.Faults, err = serve.ParsePlan(c.plan); err != nil {
		return fmt.Errorf("-faults: %w", err)
	}
	return nil
}

func inMilliseconds(d time.Duration) bool { return d > 0 && d%time.Millisecond == 0 }

// serve serves until the context is done or the time is over, and judges.
func (c *serveFlags) serve(ctx context.Context, a *app, record *output) (int, error) {
	var steps *stepPrinter
	if c.verbose {
		steps = newStepPrinter()
		c.options.Step = steps.add
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
	var admin []string
	if c.admin != "" {
		if admin, err = e.Admin(c.admin, c.token); err != nil {
			return 0, err
		}
	}
	for _, url := range admin {
		fmt.Fprintf(a.out, "admin    %s\n", url)
	}
	if control != "" {
		fmt.Fprintf(a.out, "control  %s\n", control)
	}
	fmt.Fprintf(a.out, "ready    %s\n", e.Connect())
	if steps != nil {
		go steps.run(a.out)
	}
	await(ctx, c.long)
	e.Close()
	return c.ended(ctx, a, e, steps, record)
}

// ended judges what was served, and writes the requested files.
func (c *serveFlags) ended(
	ctx context.Context, a *app, e *serve.Ensemble, steps *stepPrinter, record *output,
) (_ int, err error) {
	var unread error
	if steps != nil {
		unread = steps.end()
	}
	if record != nil && (unread == nil || record.replaced) {
		// The signal that ended the command does not end this.
		err = record.write(context.WithoutCancel(ctx), e.WriteRecording)
	}
	if unread != nil {
		return 0, errors.Join(err, unread)
	}
	strikes, _ := e.Strikes()
	for i := range strikes {
		fmt.Fprintf(a.out, "struck   %s\n", reports.Printable(strikes[i].String()))
	}
	j := e.Judge()
	code := servedSentence(a.out, &j, e.RecordingGap())
	switch {
	case err != nil || c.page == "":
	case len(j.Violations) > 0:
		h, _ := e.History()
		err = servedPage(a, c.page, c.record, &c.options, h, strikes, &j)
	case len(j.Before) > 0:
		fmt.Fprintln(a.out, "report   none: what was found before a reset has no page, since its history is gone")
	}
	return code, err
}

// await waits until the context is done or, if long is not 0, until that time is over.
func await(ctx context.Context, long time.Duration) {
	if long > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, long)
		defer cancel()
	}
	<-ctx.Done()
}

// servedSentence prints what the judges say of a served ensemble, and returns the exit status.
func servedSentence(out io.Writer, j *serve.Judgement, gap string) int {
	all := j.Judgement
	if gap != "" {
		all.Inconclusive = append(all.Inconclusive, "the recording cannot be replayed: "+gap)
	}
	all.Violations = slices.Concat(j.Before, j.Violations)
	return sentence(out, &all)
}

// sentence prints what the judges say, and returns the exit status.
func sentence(out io.Writer, j *judge.Judgement) int {
	for _, s := range j.Facts {
		fmt.Fprintf(out, "judged   %s\n", reports.Printable(s))
	}
	for _, s := range j.Violations {
		fmt.Fprintf(out, "FAIL     %s\n", reports.Printable(s))
	}
	for _, s := range j.Inconclusive {
		fmt.Fprintf(out, "unsure   %s\n", reports.Printable(s))
	}
	switch {
	case len(j.Violations) > 0:
		return exitViolation
	case len(j.Inconclusive) > 0:
		return exitInconclusive
	}
	return exitHeld
}

// servedPage writes the page of a violation. A served run has no schedule, but its recording may be replayed.
func servedPage(
	a *app, dir, record string, o *serve.Options, h *history.History, strikes []serve.Strike, j *serve.Judgement,
) error {
	name, text, _ := strings.Cut(j.Violations[0], ": ")
	v := checkers.Verdict{Level: checkers.Violated, Checker: name, Message: text, Event: -1}
	f := reports.Recorded(h)
	f.Doc, f.Verdict, f.Property = "what clients asked a served ensemble for", v, servedProperties[name]
	f.Report = reports.Report{Format: reports.Format, Scenario: "serve", Backend: "serve", Servers: max(o.Nodes, 1),
		Clients: h.Clients, Faults: o.Faults.String(), Steps: h.Steps}
	f.Report.SetVerdict(v)
	f.Report.Also = j.Violations[1:]
	for i := range strikes {
		f.Report.Struck = append(f.Report.Struck, strikes[i].String())
	}
	if record != "" {
		f.Report.Reproduce = []string{a.command + " replay " + pipeline.QuoteFile(record),
			a.command + " shrink " + pipeline.QuoteFile(record)}
	}
	if err := pipeline.WriteReport(dir, f); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "report   %s\n", filepath.Join(dir, "index.html"))
	return nil
}

// servedProperties is what each judge of a served ensemble checks.
var servedProperties = map[string]string{
	"znodes":    "what clients were answered is linearizable, in the order of the zxids",
	"left over": "a client that goes closes its session, or its ephemerals stay until that expires",
	"reported":  "what the test that uses the server asks for",
}
