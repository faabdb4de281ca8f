package catalog

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/mutants"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// committer is a participant of a transaction under test.
type committer interface {
	Begin(ctx context.Context, data []byte, sites ...string) error
	Join(ctx context.Context) ([]byte, error)
	Vote(ctx context.Context, yes bool) error
	Outcome(ctx context.Context) (recipes.Decision, error)
	Finish(ctx context.Context) (recipes.Decision, error)
	Forget(ctx context.Context) error
	Znodes() []string
}

// newCommitter makes a participant; site is empty for the coordinator.
type newCommitter func(p *engine.Process, dir, site string) committer

// commitPatience is how long a participant waits for others, a number of times: they may have crashed.
const commitPatience = 10 * time.Second

func newTransaction(f recipes.Form) newCommitter {
	return func(p *engine.Process, dir, site string) committer {
		return recipes.NewTransaction(p.Conn, p.Env, dir, recipes.TransactionOptions{Site: site, Form: f})
	}
}

func newBrokenTransaction(f mutants.Flaw) newCommitter {
	return func(p *engine.Process, dir, site string) committer {
		return mutants.NewTransaction(p.Conn, p.Env, dir, site, f)
	}
}

const commitDir = "/commit"

// transactions makes a program of one transaction a round. Participants lose patience after so many tries. All clients
// are sites, and the first one is also the coordinator. In every second transaction the second client votes no.
func transactions(tries int, maker newCommitter) func(p *engine.Process) {
	return func(p *engine.Process) {
		workload.Rounds(p, func(r int) error {
			dir := p.Path(commitDir + "/" + strconv.Itoa(r))
			return oneTransaction(p, dir, p.ID != 2 || r%2 == 0, workload.Repeat(p, tries), maker)
		})
	}
}

// oneTransaction returns only errors that a participant must not have.
func oneTransaction(p *engine.Process, dir string, yes bool, tries int, maker newCommitter) error {
	coordinator, begun := newParticipant(p, dir, "", tries, maker), false
	if p.ID == 1 {
		err := coordinator.begin()
		if err != nil && !impatient(err) {
			return err
		}
		begun = err == nil // otherwise it is withdrawn, unless sites have voted
	}
	site := newParticipant(p, dir, "c"+strconv.Itoa(p.ID), tries, maker)
	err := site.wait("join", func(ctx context.Context) error {
		_, err := site.Join(ctx)
		return err
	})
	if err == nil {
		err = site.vote(yes)
	}
	if begun {
		if err := coordinator.learn(true); err != nil {
			return err
		}
	}
	switch {
	case err == nil:
		err = site.learn(true)
	case impatient(err): // it has promised nothing, but others may wait for it
		err = site.learn(false)
	}
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// participant is a committer that records what it does.
type participant struct {
	committer
	p     *engine.Process
	o     engine.Object
	dir   string
	tries int
	again func() participant // the same participant, as after a restart
}

func newParticipant(p *engine.Process, dir, site string, tries int, maker newCommitter) participant {
	c := maker(p, dir, site)
	return participant{c, p, p.Register(c.Znodes), dir, tries,
		func() participant { return newParticipant(p, dir, site, tries, maker) }}
}

// impatient reports whether an operation ended because its context did.
func impatient(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// do runs and records an operation that may be cancelled.
func (c participant) do(op string, f func(ctx context.Context) error) error {
	ctx, end := c.p.Interruptible()
	defer end()
	return c.record(op, func() error { return f(ctx) })
}

// wait is like do, for an operation that waits for others.
func (c participant) wait(op string, f func(ctx context.Context) error) (err error) {
	for range c.tries {
		err = c.do(op, func(ctx context.Context) error {
			ctx, stop := c.p.Env.WithTimeout(ctx, commitPatience)
			defer stop()
			return f(ctx)
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	return err
}

func (c participant) record(op string, f func() error) error {
	c.o.Record(history.Event{Kind: history.Invoke, Op: op, Path: c.dir, Value: int64(c.p.Clients)})
	err := f()
	c.o.Record(history.Event{Kind: history.Return, Op: op, Path: c.dir, Err: err, OK: impatient(err) ||
		errors.Is(err, recipes.ErrVoted)})
	return err
}

// begin begins the transaction.
func (c participant) begin() error {
	var sites []string
	for i := range c.p.Clients {
		sites = append(sites, "c"+strconv.Itoa(i+1))
	}
	return c.do("begin", func(ctx context.Context) error { return c.Begin(ctx, []byte("data"), sites...) })
}

// vote votes. A site that does not know whether its yes counts tries to take it
// back.
func (c participant) vote(yes bool) error {
	if yes {
		err := c.do("vote-yes", func(ctx context.Context) error { return c.Vote(ctx, true) })
		if err == nil || errors.Is(err, zk.ErrNoNode) {
			return err
		}
	}
	err := c.record("vote-no", func() error { return c.Vote(context.Background(), false) })
	if errors.Is(err, recipes.ErrVoted) {
		return nil // it counts
	}
	return err
}

// learn waits for the decision, or asks for one if that takes too long, and learns it again, as after a restart; in a
// brief run only some do. The error zk.ErrNoNode is for clients on which the transaction has no claim: they have
// neither begun it nor voted.
func (c participant) learn(claim bool) error {
	var d recipes.Decision
	err := c.wait("outcome", func(ctx context.Context) (err error) {
		d, err = c.Outcome(ctx)
		return err
	})
	if impatient(err) {
		err = c.record("finish", func() (err error) {
			d, err = c.Finish(context.Background())
			return err
		})
	}
	if claim && errors.Is(err, zk.ErrNoNode) {
		return errors.New("the transaction is gone before the decision was learned")
	}
	if err != nil {
		return err
	}
	c.o.Record(history.Event{Kind: history.Told, Op: d.String(), Path: c.dir})
	if workload.Follows(c.p) {
		c = c.again()
		if d, err = c.Outcome(context.Background()); err != nil {
			return fmt.Errorf("the decision is not there any more: %v", err)
		}
		c.o.Record(history.Event{Kind: history.Told, Op: d.String(), Path: c.dir})
	}
	return c.Forget(context.Background())
}

// commitScenario is what all scenarios of two-phase commit have in common.
func commitScenario(s engine.Scenario) engine.Scenario {
	s.Setup = []model.Request{engine.Mkdir(commitDir)}
	s.Checkers = []checkers.Checker{checkers.Atomicity{}, checkers.Validity{}, checkers.Liveness{}, checkers.Quiescence{},
		checkers.Tree{}, checkers.Steps{}}
	if s.Clients == 0 {
		s.Clients = 3
	}
	return s
}

func commitForm(name, doc string, f recipes.Form, goals ...engine.Goal) engine.Scenario {
	return commitScenario(engine.Scenario{
		Name: "commit/" + name, Doc: doc,
		Rounds: 2, Program: transactions(3, newTransaction(f)), Faults: faults.Contract(), Servers: []int{1, 3},
		Goals: append([]engine.Goal{goalCommit, goalAbort, goalLostVote, goalBeaten, goalOrphan}, goals...),
	})
}

// toTheCoordinator is a judge: a vote may notify no site other than the one that voted.
func toTheCoordinator(h *history.History) error {
	for i := range h.Events {
		e := &h.Events[i]
		_, site, vote := strings.Cut(e.Path, "/site-")
		if e.Kind == history.Notify && vote && e.Client != 1 && site != fmt.Sprint("c", e.Client) {
			return fmt.Errorf("c%d, which is not the coordinator, is notified of the vote of %s", e.Client, site)
		}
	}
	return nil
}

// commitMutant is a scenario of a broken transaction that must be caught.
func commitMutant(f mutants.Flaw, s engine.Scenario) engine.Scenario {
	s = mutated(f, s)
	s.Program, s.Rounds = transactions(1, newBrokenTransaction(f)), 2
	return commitScenario(s)
}

// commitScenarios are the scenarios of two-phase commit.
var commitScenarios = []engine.Scenario{
	commitForm("all-sites", "every site watches all votes and decides, under every fault", recipes.AllSites),
	commitForm("coordinator", "only the coordinator watches the votes, under every fault", recipes.ByCoordinator),
	commitForm("ephemeral-sites", "sites that fail before their vote are noticed, under every fault",
		recipes.EphemeralSites, goalFailedSite),
	commitScenario(engine.Scenario{
		Name: "commit/early", Doc: "a coordinator begins in new sessions, while earlier ones live on", Rounds: 3,
		Program: transactions(3, newTransaction(recipes.AllSites)), Faults: early,
		Goals: []engine.Goal{workload.GoalLostMulti},
	}),
	commitScenario(engine.Scenario{
		Name: "commit/fan-out", Doc: "a vote notifies the coordinator and no site", Rounds: 2, Clients: 4,
		Program: transactions(3, newTransaction(recipes.ByCoordinator)), Finally: toTheCoordinator,
		Heeds: []string{"notify"}, Goals: []engine.Goal{goalAbort},
	}),

	commitMutant(mutants.PartialSites, engine.Scenario{}),
	commitMutant(mutants.BlindVote, engine.Scenario{Faults: faults.MustParse("lose-reply=2@op=set"), Clients: 2}),
	commitMutant(mutants.HastyAbort, engine.Scenario{}),
	commitMutant(mutants.OwnDecision, engine.Scenario{}),
	commitMutant(mutants.ForgetEarly, engine.Scenario{}),
	commitMutant(mutants.EndlessWait, engine.Scenario{Faults: faults.MustParse("crash=1")}),
	commitMutant(mutants.BlindAbort, engine.Scenario{}),
}

var (
	goalCommit = engine.Goal{Name: "a transaction that is committed with nobody in a hurry",
		Reached: func(h *history.History) bool {
			hurried := map[string]bool{}
			for i := range h.Events {
				switch e := &h.Events[i]; {
				case e.Kind == history.Invoke && e.Op == "finish":
					hurried[e.Path] = true
				case e.Kind == history.Told && e.Op == "committed" && !hurried[e.Path]:
					return true
				}
			}
			return false
		}}
	goalAbort = engine.Goal{Name: "a transaction that is aborted", Reached: workload.Told("aborted")}
	// goalLostVote is a vote whose site is told that the outcome is unknown.
	goalLostVote = engine.Goal{Name: "a lost reply after a vote",
		Reached: workload.LostAfter("", func(e *history.Event) bool {
			return e.Kind == history.Changed && (e.Data == "yes" || e.Data == "no")
		})}
	// goalBeaten is a client that gives up waiting just before the last vote.
	goalBeaten = engine.Goal{Name: "a commit while somebody asks for an abort", Reached: func(h *history.History) bool {
		asked := map[string]bool{}
		for i := range h.Events {
			switch e := &h.Events[i]; {
			case e.Kind == history.Invoke && e.Op == "finish":
				asked[e.Path] = true
			case e.Kind == history.Created && e.Data == "committed" && asked[strings.TrimSuffix(e.Path, "/decision")]:
				return true
			}
		}
		return false
	}}
	// goalOrphan is a decision without the coordinator.
	goalOrphan = engine.Goal{Name: "a decision after the crash of the coordinator",
		Reached: func(h *history.History) bool {
			crashed := false
			for i := range h.Events {
				e := &h.Events[i]
				crashed = crashed || e.Kind == history.Crashed && e.Client == 1
				if crashed && e.Kind == history.Created && strings.HasSuffix(e.Path, "/decision") && e.Client != 1 {
					return true
				}
			}
			return false
		}}
	// goalFailedSite is an abort because a site has failed, when nobody gave up waiting.
	goalFailedSite = engine.Goal{Name: "a transaction that is aborted because a site has failed",
		Reached: func(h *history.History) bool {
			failed := false
			for i := range h.Events {
				e := &h.Events[i]
				switch {
				case e.Kind == history.Deleted && e.Session != 0 && e.Client == 0:
					failed = true
				case e.Kind == history.Invoke && (e.Op == "finish" || e.Op == "vote-no"):
					return false
				case e.Kind == history.Told && e.Op == "aborted":
					return failed
				}
			}
			return false
		}}
)
