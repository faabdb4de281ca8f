package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"zksim/checkers"
	"zksim/recipes/live/zkserver"
	"zksim/reports"
	"zksim/scenarios"
)

// liveLimit bounds everything about one scenario on a real ensemble, so that an
// ensemble that does not answer is an error and no hang.
const liveLimit = 90 * time.Second

// live checks scenarios on a real ensemble.
func (c *checkFlags) live(ctx context.Context, a *app, selected []*scenarios.Scenario) (int, error) {
	if c.clients < 1 {
		return 0, fmt.Errorf("-clients must be 1 or more, not %d", c.clients)
	}
	if !slices.ContainsFunc(selected, func(s *scenarios.Scenario) bool { return !s.Broken() }) {
		return 0, errors.New("-run selects broken recipes only: they need faults or seeds, and a real ensemble has none")
	}
	addrs, stop, err := ensemble(ctx, c.servers, c.nodes)
	if err != nil {
		return 0, err
	}
	defer stop()
	rec, err := newRecorder(a.out, c.json, c.junit)
	if err != nil {
		return 0, err
	}
	var t tally
	skipped := 0
	for _, s := range selected {
		if s.Broken() {
			skipped++
			continue
		}
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
	end := t.summary(len(selected)-skipped) + "\n"
	if skipped > 0 {
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
	_, v, err := scenarios.RunLive(dial, s, scenarios.LiveOptions{Servers: addrs, Clients: c.clients})
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
	default:
		rep.Status = scenarios.Inconclusive
		fmt.Fprintf(a.out, "unknown %-24s on ZooKeeper  %s: %s\n", s.Name, v.Checker, reports.Printable(v.Message))
	}
	return t.count(rep), nil
}
