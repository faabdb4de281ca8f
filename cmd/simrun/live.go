package main

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
	"zksim/model/history"
	"zksim/recipes/live/zkserver"
	"zksim/reports"
	"zksim/scenarios"
)

// liveLimit bounds everything about one scenario on a real ensemble, so that an
// ensemble that does not answer is an error and no hang.
const liveLimit = 90 * time.Second

// liveClients is how many clients there are on a real ensemble by default.
const liveClients = 10

// live checks scenarios on a real ensemble.
func (c *checkFlags) live(ctx context.Context, a *app, selected []*scenarios.Scenario) (int, error) {
	if c.clients < 0 {
		return 0, fmt.Errorf("-clients cannot be negative, as %d is", c.clients)
	}
	c.clients = cmp.Or(c.clients, liveClients)
	sound := slices.DeleteFunc(slices.Clone(selected), (*scenarios.Scenario).Broken)
	if len(sound) == 0 {
		return 0, errors.New("-run selects broken recipes only: they need faults or seeds, and a real ensemble has none")
	}
	sized, err := resized(sound, 0, c.rounds)
	if err != nil {
		return 0, err
	}
	if c.reports {
		if err := writable(c.out); err != nil {
			return 0, fmt.Errorf("-o: %w", err)
		}
	}
	addrs, stop, err := ensemble(ctx, c.servers, c.nodes)
	if err != nil && ctx.Err() != nil {
		return c.ended(ctx, a, &tally{}), nil
	}
	if err != nil {
		return 0, err
	}
	defer stop()
	rec, err := newRecorder(a.out, c.json, c.junit)
	if err != nil {
		return 0, err
	}
	var t tally
	for i := range sized {
		s := &sized[i]
		code, err := rec.scenario(s.Name, func(out io.Writer) (int, error) { return c.liveScenario(ctx, a.to(out), s, addrs, &t) })
		if err != nil && errors.Is(ctx.Err(), context.Canceled) {
			break
		}
		if err != nil {
			return 0, errors.Join(err, rec.close())
		}
		if c.failfast && code != exitHeld {
			break
		}
	}
	end := t.summary(len(sound)) + "\n"
	if skipped := len(selected) - len(sound); skipped > 0 {
		end = fmt.Sprintf("skipped %d broken recipes: they need faults or seeds, and a real ensemble has none\n", skipped) + end
	}
	if err := errors.Join(rec.print("", end), rec.close()); err != nil {
		return 0, err
	}
	return c.ended(ctx, a, &t), nil
}

// ensemble returns the addresses in servers, or if that is empty those of a new
// ensemble of so many nodes, and what stops it.
func ensemble(ctx context.Context, servers string, nodes int) (addrs []string, stop func(), err error) {
	if nodes != 1 && nodes != 3 {
		return nil, nil, fmt.Errorf("-nodes is 1 or 3, not %d", nodes)
	}
	if servers == "" {
		e, err := zkserver.Start(ctx, zkserver.Options{Servers: nodes})
		if errors.Is(err, zkserver.ErrUnavailable) {
			err = fmt.Errorf("%w; or give -servers host:port,... of a running one", err)
		}
		if err != nil {
			return nil, nil, err
		}
		return e.Addrs(), func() { e.Stop() }, nil
	}
	addrs = strings.Split(servers, ",")
	for _, addr := range addrs {
		if i := strings.LastIndexByte(addr, ':'); i < 1 || i == len(addr)-1 {
			return nil, nil, fmt.Errorf("-servers is host:port,..., not %q", servers)
		}
	}
	return addrs, func() {}, nil
}

func (c *checkFlags) liveScenario(ctx context.Context, a *app, s *scenarios.Scenario, addrs []string, t *tally) (int, error) {
	dial, cancel := context.WithTimeout(ctx, liveLimit)
	defer cancel()
	h, v, err := scenarios.RunLive(dial, s, scenarios.LiveOptions{Servers: addrs, Clients: c.clients})
	if err != nil {
		return 0, err
	}
	rep := scenarios.Report{Scenario: s}
	switch v.Level {
	case checkers.OK:
		fmt.Fprintf(a.out, "held    %-24s %d clients on ZooKeeper\n", s.Name, c.clients)
	case checkers.Violated:
		rep.Status = scenarios.Violation
		fmt.Fprintf(a.out, "FAIL    %-24s on ZooKeeper  %s: %s\n", s.Name, v.Checker, reports.Printable(v.Message))
		dir := c.folder(s, "zookeeper")
		f, err := liveFailure(s, h, v, len(addrs))
		if err == nil {
			err = writeReport(dir, f)
		}
		if err != nil {
			return 0, fmt.Errorf("%s fails (%s), but no report can be written: %w", s.Name, v.Checker, err)
		}
		fmt.Fprintf(a.out, "        report     %s\n", filepath.Join(dir, "index.html"))
	default:
		rep.Status = scenarios.Inconclusive
		fmt.Fprintf(a.out, "unknown %-24s on ZooKeeper  %s: %s\n", s.Name, v.Checker, reports.Printable(v.Message))
	}
	return t.count(rep), nil
}

// liveFailure is that of a run on a real ensemble.
func liveFailure(s *scenarios.Scenario, h *history.History, v checkers.Verdict, servers int) (f *reports.Failure, err error) {
	f = reports.Recorded(h)
	f.Doc, f.Source, f.Verdict, f.Property = s.Doc, s.Source, v, property(s, v)
	f.Report = reports.Report{Format: reports.Format, Scenario: s.Name, Backend: "zookeeper", Servers: servers, Clients: h.Clients, Rounds: s.Rounds,
		Faults: "none", Steps: len(h.Events), Struck: []string{}, Reproduce: []string{}}
	f.Report.SetVerdict(v)
	f.Search, err = drawn(s, h)
	return f, err
}
