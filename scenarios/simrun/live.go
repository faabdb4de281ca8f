package simrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"zksim/faults"
	"zksim/internal/zkserver"
	"zksim/model/history"
	"zksim/recipes/live"
	"zksim/scenarios/engine"
)

// liveLimit bounds everything about one run on a real ensemble, so that an ensemble that does not answer is an error
// and not a hang.
const liveLimit = 6 * time.Minute

// liveClients is how many clients there are on a real ensemble by default.
const liveClients = 10

// liveTick is the tick of servers that faults strike: they wait five ticks for each other.
const liveTick = 300 * time.Millisecond

// liveFlags checks the flags that were set.
func (c *checkFlags) liveFlags(set map[string]bool) error {
	if set["v"] && !set["faults"] {
		return errors.New("-v goes with -faults on a real ensemble: without faults there is nothing more to say")
	}
	if set["seeds"] && !set["faults"] {
		return errors.New("-seeds goes with -faults on a real ensemble: without them there is one run")
	}
	if set["session-timeout"] && (c.session < time.Millisecond || c.session > time.Hour) {
		return fmt.Errorf("-session-timeout is from 1ms to 1h, not %v", c.session)
	}
	for _, name := range []string{"shard", "strategy", "for", "p"} {
		if set[name] {
			return fmt.Errorf("-%s goes with -backend sim only: runs on a real ensemble come one after the other", name)
		}
	}
	return nil
}

// ownPlan stands for each scenario's own plan. A real ensemble does what it can of it.
const ownPlan = "own"

// liveCheck is the state of a check on a real ensemble.
type liveCheck struct {
	*checkFlags
	plan    faults.Plan  // of the current scenario
	own     bool         // each scenario has its own
	size    int          // of the ensemble
	mine    bool         // this process starts it
	seeds   engine.Range // only one of them without faults
	addrs   []string
	version string
	ours    *zkserver.Ensemble // nil: not started here
	log     serverLog
	usual   *history.History // of the current scenario, if faults are to strike it
	since   time.Time        // when the present run began
	t       tally
}

// seeded reports whether there is a run for each seed, as with any -faults: with none, a seed still decides what a
// program draws, and whether its first timers fire while other things happen.
func (x *liveCheck) seeded() bool { return x.checkFlags.plan != "" }

// live checks scenarios on a real ensemble.
func (c *checkFlags) live(ctx context.Context, a *app, selected []*engine.Scenario) (int, error) {
	x := &liveCheck{checkFlags: c}
	if err := x.parse(); err != nil {
		return 0, err
	}
	chosen := selected
	if c.plan == "" {
		chosen = slices.DeleteFunc(slices.Clone(selected), (*engine.Scenario).Broken)
	}
	if len(chosen) == 0 {
		return 0, errors.New("only mutants are selected: they need -faults, as their scenarios have them, or none")
	}
	if err := allValid(chosen); err != nil { // before there are servers
		return 0, err
	}
	sized, err := resized(chosen, 0, c.rounds)
	if err != nil {
		return 0, err
	}
	if err := x.aims(sized); err != nil {
		return 0, err
	}
	rec, err := c.recorder(a, sized)
	if err != nil {
		return 0, err
	}
	err = x.start(ctx)
	if err != nil && ctx.Err() != nil {
		return c.end(ctx, a, rec, &x.t, scenariosOf(sized), x.t.summary(len(chosen)))
	}
	if err != nil {
		return 0, rec.fails(ctx, err)
	}
	defer x.stop()
	err = rec.each(ctx, c.failfast, func(i int, out io.Writer) (outcome, error) {
		return x.scenario(ctx, a.to(out), &sized[i])
	})
	if err != nil {
		return 0, err
	}
	end := x.t.summary(len(chosen))
	if skipped := len(selected) - len(chosen); skipped > 0 {
		end = fmt.Sprintf("skipped %s: they need -faults\n", history.Counted(skipped, "mutant")) + end
	}
	return c.end(ctx, a, rec, &x.t, scenariosOf(sized), end)
}

// parse reads what the flags say.
func (x *liveCheck) parse() (err error) {
	c := x.checkFlags
	if c.clients < 0 {
		return fmt.Errorf("-clients cannot be negative, as %d is", c.clients)
	}
	if x.addrs, err = addresses(c.servers, c.nodes); err != nil {
		return err
	}
	if c.plan == ownPlan {
		x.own = true
		x.plan = faults.RealContract() // all that may be needed
	} else if x.plan, err = faults.ParseReal(c.plan); err != nil {
		return fmt.Errorf("-faults: %w", err)
	}
	x.plan = slices.DeleteFunc(x.plan, func(r faults.Rule) bool { return r.Budget == 0 }) // they strike nothing
	x.size, x.mine = cmp.Or(len(x.addrs), c.nodes), len(x.addrs) == 0
	if err = x.plan.Possible(x.size, x.mine); err != nil && !x.own {
		return fmt.Errorf("-faults: %w", err)
	}
	x.seeds = engine.Range{First: 1, Last: 1}
	if c.seeds != "" {
		if x.seeds, err = engine.ParseRange(c.seeds); err != nil {
			return fmt.Errorf("-seeds: %w", err)
		}
	}
	if c.plan == "" {
		c.clients = cmp.Or(c.clients, liveClients)
	}
	c.session = cmp.Or(c.session, live.DefaultSessionTimeout)
	return nil
}

// aims reports whether all scenarios have the clients that the plan aims at.
func (x *liveCheck) aims(sized []engine.Scenario) error {
	for _, s := range sized {
		s.Clients = cmp.Or(x.clients, s.Clients)
		if err := s.Aims(x.plan); err != nil && !x.own {
			return err
		}
	}
	return nil
}

// oneOrThree refuses ensembles of any size except 1 and 3.
func oneOrThree(nodes int) error {
	if nodes != 1 && nodes != 3 {
		return fmt.Errorf("-nodes is 1 or 3, not %d", nodes)
	}
	return nil
}

// addresses returns the addresses in servers, or none if a new ensemble of nodes servers is wanted.
func addresses(servers string, nodes int) ([]string, error) {
	if err := oneOrThree(nodes); err != nil {
		return nil, err
	}
	if servers == "" {
		return nil, nil
	}
	addrs := strings.Split(servers, ",")
	for _, addr := range addrs {
		if host, port, err := net.SplitHostPort(addr); err != nil || host == "" || port == "" {
			return nil, fmt.Errorf("-servers is host:port,..., not %q", servers)
		}
	}
	return addrs, nil
}

// numeric returns addresses without host names: clients resolve names, and only its address tells which server they
// dial.
func numeric(addrs []string) (list []string, err error) {
	for _, addr := range addrs {
		to, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			return nil, fmt.Errorf("-servers: %w", err)
		}
		list = append(list, to.String())
	}
	return list, nil
}

// anyListens returns an error if no server accepts a connection: a client would try again until its time is up.
func anyListens(ctx context.Context, addrs []string) error {
	d := net.Dialer{Timeout: 10 * time.Second}
	var all error
	for _, addr := range addrs {
		conn, err := d.DialContext(ctx, "tcp", addr)
		if err == nil {
			conn.Close()
			return nil
		}
		all = errors.Join(all, err)
	}
	return fmt.Errorf("-servers: %s", oneLine(all.Error()))
}

// startEnsemble returns addrs if there are any, the addresses of a running ensemble. Otherwise it starts one and
// returns its addresses; stop stops it.
func startEnsemble(ctx context.Context, addrs []string, o zkserver.Options) (_ []string, stop func() error, err error) {
	if len(addrs) > 0 {
		return addrs, func() error { return nil }, anyListens(ctx, addrs)
	}
	e, err := zkserver.Start(ctx, o)
	if err != nil {
		return nil, nil, orGiveServers(err)
	}
	return e.Addrs(), e.Stop, nil
}

// orGiveServers adds to an error what else can be done where no server can be started.
func orGiveServers(err error) error {
	if errors.Is(err, zkserver.ErrUnavailable) {
		return fmt.Errorf("%w; or give -servers host:port,... of a running one", err)
	}
	return err
}

// start starts servers, unless -servers names some.
func (x *liveCheck) start(ctx context.Context) (err error) {
	if x.servers != "" {
		if x.addrs, err = numeric(x.addrs); err != nil {
			return err
		}
		return anyListens(ctx, x.addrs)
	}
	o := zkserver.Options{Servers: x.nodes, Log: &x.log, Links: x.nodes == 3 && len(x.plan) > 0}
	if o.Links {
		o.TickTime = liveTick
	}
	o.MinSessionTimeout, o.MaxSessionTimeout = min(x.session, 2*cmp.Or(o.TickTime, 500*time.Millisecond)), x.session
	if o.MinSessionTimeout%time.Millisecond != 0 {
		return fmt.Errorf("-session-timeout is in whole milliseconds, not %v", x.session)
	}
	e, err := zkserver.Start(ctx, o)
	if err != nil {
		return orGiveServers(err)
	}
	x.ours, x.addrs, x.version = e, e.Addrs(), e.Version(ctx, 0)
	return nil
}

// stop stops what was started.
func (x *liveCheck) stop() {
	if x.ours != nil {
		x.ours.Stop()
		x.ours = nil
	}
}

// renew replaces servers that a run has left in an unknown state, unless ctx is done: then nobody needs servers, and
// what has been found out so far is still to be told.
func (x *liveCheck) renew(ctx context.Context) error {
	if x.ours == nil {
		return nil
	}
	x.stop()
	if err := x.startAgain(ctx); ctx.Err() == nil {
		return err
	}
	return nil
}

// startTries is how often servers that have already served are started: on a busy machine they may not be ready in
// time.
const startTries = 3

func (x *liveCheck) startAgain(ctx context.Context) (err error) {
	for range startTries {
		if err = x.start(ctx); err == nil || ctx.Err() != nil {
			break
		}
	}
	return err
}
