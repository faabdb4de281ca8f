package simrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"zksim/checkers"
	"zksim/internal/zkserver"
	"zksim/model/history"
	"zksim/reports"
	"zksim/scenarios/engine"
	"zksim/scenarios/ensemble"
	"zksim/scenarios/pipeline"
)

// liveLimit bounds everything about one scenario on a real ensemble, so that an
// ensemble that does not answer is an error and no hang.
const liveLimit = 90 * time.Second

// liveClients is how many clients there are on a real ensemble by default.
const liveClients = 10

// live checks scenarios on a real ensemble.
func (c *checkFlags) live(ctx context.Context, a *app, selected []*engine.Scenario) (int, error) {
	if c.clients < 0 {
		return 0, fmt.Errorf("-clients cannot be negative, as %d is", c.clients)
	}
	c.clients = cmp.Or(c.clients, liveClients)
	sound := slices.DeleteFunc(slices.Clone(selected), (*engine.Scenario).Broken)
	if len(sound) == 0 {
		return 0, errors.New("-run selects mutants only: they need faults or seeds, and a real ensemble has none")
	}
	sized, err := resized(sound, 0, c.rounds)
	if err != nil {
		return 0, err
	}
	addrs, err := addresses(c.servers, c.nodes)
	if err != nil {
		return 0, err
	}
	rec, err := c.recorder(a, sized)
	if err != nil {
		return 0, err
	}
	var t tally
	addrs, stop, err := startEnsemble(ctx, addrs, c.nodes)
	if err != nil && ctx.Err() != nil {
		return c.end(ctx, a, rec, &t, scenariosOf(sized), t.summary(len(sound)))
	}
	if err != nil {
		return 0, rec.fails(ctx, err)
	}
	defer stop()
	for i := range sized {
		s := &sized[i]
		code, err := rec.scenario(s.Name, func(out io.Writer) (outcome, error) {
			return c.liveScenario(ctx, a.to(out), s, addrs, &t)
		})
		if err != nil {
			return 0, rec.fails(ctx, err)
		}
		if ctx.Err() != nil {
			break
		}
		if c.failfast && code != exitHeld {
			break
		}
	}
	end := t.summary(len(sound))
	if skipped := len(selected) - len(sound); skipped > 0 {
		end = fmt.Sprintf("skipped %d mutants: they need faults or seeds, and a real ensemble has none\n", skipped) + end
	}
	return c.end(ctx, a, rec, &t, scenariosOf(sized), end)
}

// addresses returns those in servers, none if a new ensemble of so many nodes is meant.
func addresses(servers string, nodes int) ([]string, error) {
	if nodes != 1 && nodes != 3 {
		return nil, fmt.Errorf("-nodes is 1 or 3, not %d", nodes)
	}
	if servers == "" {
		return nil, nil
	}
	addrs := strings.Split(servers, ",")
	for _, addr := range addrs {
		if i := strings.LastIndexByte(addr, ':'); i < 1 || i == len(addr)-1 {
			return nil, fmt.Errorf("-servers is host:port,..., not %q", servers)
		}
	}
	return addrs, nil
}

// startEnsemble returns the addresses of a running ensemble, or if there are none those of a new
// one of so many nodes, and what stops it.
func startEnsemble(ctx context.Context, addrs []string, nodes int) (_ []string, stop func(), err error) {
	if len(addrs) > 0 {
		return addrs, func() {}, nil
	}
	e, err := zkserver.Start(ctx, zkserver.Options{Servers: nodes})
	if errors.Is(err, zkserver.ErrUnavailable) {
		err = fmt.Errorf("%w; or give -servers host:port,... of a running one", err)
	}
	if err != nil {
		return nil, nil, err
	}
	return e.Addrs(), func() { e.Stop() }, nil
}

func (c *checkFlags) liveScenario(
	ctx context.Context, a *app, s *engine.Scenario, addrs []string, t *tally,
) (outcome, error) {
	dial, cancel := context.WithTimeout(ctx, liveLimit)
	defer cancel()
	h, v, err := ensemble.RunLive(dial, s, ensemble.LiveOptions{Servers: addrs, Clients: c.clients})
	rep := engine.Report{Scenario: s}
	if errors.Is(ctx.Err(), context.Canceled) { // programs may have given up for that reason
		rep.Status = engine.Inconclusive
		fmt.Fprintf(a.out, "unknown %-24s on ZooKeeper  %s\n", s.Name, interrupted)
		c.rows = append(c.rows, pipeline.RowOf(s, rep.Status, "on ZooKeeper: "+interrupted))
		return outcome{t.count(rep.Status), true}, nil
	}
	if err != nil {
		return outcome{}, err
	}
	var told *reports.RowFailure
	switch v.Level {
	case checkers.OK:
		fmt.Fprintf(a.out, "held    %-24s %d clients on ZooKeeper\n", s.Name, c.clients)
	case checkers.Violated:
		rep.Status = engine.Violation
		fmt.Fprintf(a.out, "FAIL    %-24s on ZooKeeper  %s: %s\n", s.Name, v.Checker, reports.Printable(v.Message))
		dir := filepath.Join(c.out, pipeline.FileName(s), "zookeeper")
		f, err := liveFailure(s, h, v, len(addrs))
		if err == nil {
			err = pipeline.WriteReport(dir, f)
		}
		if err != nil {
			c.noReport(a, fmt.Errorf("%s fails (%s), but no report can be written: %w", s.Name, v.Checker, err))
			break
		}
		fmt.Fprintf(a.out, "        report     %s\n", filepath.Join(dir, "index.html"))
		told = reports.NewRowFailure(f, "on ZooKeeper", c.pageOf(dir))
	default:
		rep.Status = engine.Inconclusive
		fmt.Fprintf(a.out, "unknown %-24s on ZooKeeper  %s: %s\n", s.Name, v.Checker, reports.Printable(v.Message))
	}
	row := pipeline.RowOf(s, rep.Status, fmt.Sprintf("%d clients on ZooKeeper", c.clients))
	if row.Failure = told; v.Level != checkers.OK {
		row.Says += ": " + v.Checker + ": " + v.Message
	}
	c.rows = append(c.rows, row)
	return outcome{t.count(rep.Status), false}, nil
}

// liveFailure is that of a run on a real ensemble.
func liveFailure(s *engine.Scenario, h *history.History, v checkers.Verdict, servers int) (f *reports.Failure,
	err error) {
	f = reports.Recorded(h)
	f.Doc, f.Source, f.Verdict, f.Property = s.Doc, s.Notes().Source, v, pipeline.Property(s, v)
	f.Report = reports.Report{Format: reports.Format, Scenario: s.Name, Backend: "zookeeper", Servers: servers,
		Clients: h.Clients, Rounds: s.Rounds,
		Faults: "none", Steps: len(h.Events), Struck: []string{}, Reproduce: []string{}}
	f.Report.SetVerdict(v)
	f.Search, err = pipeline.Drawing(s, h)
	return f, err
}
