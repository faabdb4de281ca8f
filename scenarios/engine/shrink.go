package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/sim"
)

// The limits of one Shrink. The first takes a few seconds; the second is for runs that take long to judge. Both are
// counts, so that a schedule shrinks to the same on all machines.
const (
	shrinkSteps    = 10_000_000 // of all runs
	shrinkAttempts = 10_000
)

// ShrinkOptions say how far [Runner.Shrink] goes; the zero value has the usual limits.
type ShrinkOptions struct {
	Attempts int                      // runs after which it gives up; 0: 10,000
	Progress func(attempts, left int) // if not nil, called after every run, with the steps that are left
}

// Shrunk is the result of [Runner.Shrink].
type Shrunk struct {
	Result
	Attempts int    // runs that it took
	Cut      string // why the schedule may not be minimal, such as "interrupted"; empty if it is
}

// Shrink looks for a small schedule that the same checker finds violated for the same reason. It tries fewer clients
// and rounds, fewer faults in the plan, and fewer steps, leaving out parts from halves down to single steps. It ends
// when no single client, round, fault or step can go any more, and no client or round together with a part of the
// steps. When a limit is reached or ctx is done it returns the smallest schedule so far, and says so. What a shortened
// schedule leaves open happens fairly and without faults, so the remaining faults and order are those that matter. A
// schedule that violates nothing is returned as it is. If runs may part, a schedule counts if four of five of its runs
// fail.
func (r *Runner) Shrink(ctx context.Context, s *Scenario, from Schedule, o ShrinkOptions) (Shrunk, error) {
	best, err := r.Replay(s, from)
	if err != nil || best.Verdict.Level != checkers.Violated {
		return Shrunk{Result: best}, err
	}
	best.Schedule.Checker, best.Schedule.Names = best.Verdict.Checker, from.Names
	o.Attempts = cmp.Or(o.Attempts, shrinkAttempts)
	x := shrinker{Runner: r, ShrinkOptions: o, ctx: ctx, scenario: s, best: best.Schedule,
		checker: best.Verdict.Checker, reason: best.reason()}
	x.idle = !x.over() && x.calm(x.best)
	for smaller := true; smaller; {
		smaller = x.fewerRounds(x.try)
		smaller = x.fewerClients(x.try) || smaller
		smaller = x.fewerFaults() || smaller
		smaller = x.leaveOut() || smaller
		smaller = x.earlierCalm() || smaller
		smaller = smaller || x.fewerRounds(x.tryParts) || x.fewerClients(x.tryParts)
	}
	if x.oneFault() {
		x.leaveOut()
	}
	small := x.best
	if small.Loose() {
		if small.Again, err = Repeat(s, small, small.Again.Of); err != nil {
			return Shrunk{Result: best}, err
		}
	}
	best, err = r.Replay(s, small)
	best.Schedule.Names, best.Schedule.Again = small.Names, small.Again
	return Shrunk{Result: best, Attempts: x.attempts, Cut: x.cut}, err
}

// shrinker is one Shrink in progress.
type shrinker struct {
	*Runner
	ShrinkOptions
	ctx      context.Context
	scenario *Scenario
	best     Schedule // the smallest failing one so far
	checker  string
	reason   string
	idle     bool // it fails at its first size even if nothing is prescribed
	steps    int
	attempts int
	cut      string // why something was left untried
}

// over reports whether a limit is reached although there may be more to try.
func (x *shrinker) over() bool {
	switch {
	case errors.Is(x.ctx.Err(), context.DeadlineExceeded):
		x.cut = fmt.Sprintf("given up after %s, as time is short", history.Counted(x.attempts, "run"))
	case x.ctx.Err() != nil:
		x.cut = "interrupted"
	case x.attempts >= x.Attempts:
		x.cut = fmt.Sprintf("given up after %s", history.Counted(x.attempts, "run"))
	case x.steps >= shrinkSteps:
		x.cut = fmt.Sprintf("given up after %s of %s", history.Counted(x.steps, "step"), history.Counted(x.attempts, "run"))
	}
	return x.cut != ""
}

// leaveOut tries to leave out each part of the steps, with smaller and smaller parts, and ends after a pass over single
// names that leaves out none.
func (x *shrinker) leaveOut() (shorter bool) {
	for size := max(1, len(x.best.Names)/2); ; {
		found := false
		for at := 0; at < len(x.best.Names) && !x.over(); {
			p := x.best
			p.Names = slices.Delete(slices.Clone(p.Names), at, min(at+size, len(p.Names)))
			if x.try(p) {
				found = true
			} else {
				at += size
			}
		}
		shorter = shorter || found
		if size == 1 && !found || x.over() {
			return shorter
		}
		size = max(1, size/2)
	}
}

// fewerRounds tries fewer rounds, beginning with one.
func (x *shrinker) fewerRounds(try func(p Schedule) bool) bool {
	_, rounds := x.scenario.Size(&x.best)
	for n := 1; n < rounds; n++ {
		p := x.best
		if p.Rounds = n; x.resize(p, try) {
			return true
		}
	}
	return false
}

// fewerClients tries to leave out each client. Later clients are renamed.
func (x *shrinker) fewerClients(try func(p Schedule) bool) (fewer bool) {
	clients, _ := x.scenario.Size(&x.best)
	for c := clients; c > 0 && clients > minClients; c-- {
		p := x.best
		p.Clients, p.Names, p.Faults = clients-1, namesWithout(p.Names, c), p.Faults.Without(c)
		if x.resize(p, try) {
			fewer, clients = true, clients-1
		}
	}
	return fewer
}

// resize tries another number of clients or rounds, unless any run of that size may fail, for example because there is
// nobody to wait for.
func (x *shrinker) resize(p Schedule, try func(p Schedule) bool) bool {
	return !x.over() && (x.idle || !x.calm(p)) && try(p)
}

// tryParts tries to leave out a part of the steps but keep the faults in it, the longest parts first. What fails in a
// later round, or after what another client did, may need the earlier steps only to get there. A smaller run is there
// at once, and does not fail with all steps of the larger one.
func (x *shrinker) tryParts(p Schedule) bool {
	all, step := p.Names, len(p.Names)/partEnds+1
	for size := len(all) / step * step; size > 0; size -= step {
		for at := 0; at+size <= len(all); at += step {
			kept := slices.DeleteFunc(slices.Clone(all[at:at+size]), func(name string) bool {
				f, _ := faultOf(name)
				return f == nil
			})
			if p.Names = slices.Concat(all[:at], kept, all[at+size:]); x.try(p) {
				return true
			}
		}
	}
	return false
}

// partEnds is at how many places those parts can end, at most.
const partEnds = 16

// fewerFaults tries to leave out each rule of the plan, and lower budgets.
func (x *shrinker) fewerFaults() (fewer bool) {
	for i := len(x.best.Faults) - 1; i >= 0; i-- {
		p := x.best
		p.Faults = slices.Delete(slices.Clone(p.Faults), i, i+1)
		if x.try(p) {
			fewer = true
			continue
		}
		for budget := 1; budget < min(x.best.Faults[i].Budget, len(p.Names)+1); budget++ {
			p.Faults = slices.Clone(x.best.Faults)
			if p.Faults[i].Budget = budget; x.try(p) {
				fewer = true
				break
			}
		}
	}
	return fewer
}

// earlierCalm tries to end the faults when those of the scenario end.
func (x *shrinker) earlierCalm() bool {
	p := x.best
	p.Safety = 0
	return x.best.Safety > 0 && x.try(p)
}

// try runs a schedule, skipping names that have become impossible. If it fails in the same way, try keeps the steps of
// it that happened.
func (x *shrinker) try(p Schedule) bool {
	if x.over() {
		return false
	}
	var ch *sim.Replay
	failed := x.mostly(&p, func() bool {
		ch = &sim.Replay{Names: p.Names, Loose: true}
		res := x.violated(p, ch)
		return res.Verdict.Checker == x.checker && res.reason() == x.reason
	})
	if !failed {
		return false
	}
	p.Names = x.names()[:ch.Taken]
	x.best = p
	return true
}

// How many runs are made of a schedule whose runs may part, and how many of them may hold.
const (
	partingRuns  = 5
	partingHolds = 1
)

// mostly reports whether a run fails. If runs of its schedule may part it reports whether most of them do; the last one
// made is then a failing one.
func (x *shrinker) mostly(p *Schedule, fails func() bool) bool {
	if !p.Loose() {
		return fails()
	}
	for failed, held := 0, 0; failed < partingRuns-partingHolds; {
		if fails() {
			failed++
		} else if held++; held > partingHolds {
			return false
		}
	}
	return true
}

// calm reports whether the checker finds a violation in a run of the same size in which nothing is prescribed and no
// fault strikes.
func (x *shrinker) calm(p Schedule) bool {
	p.Names, p.Faults = nil, nil
	return x.mostly(&p, func() bool { return x.violated(p, &sim.Replay{}).Verdict.Checker == x.checker })
}

// violated runs a schedule. If there is no violation the result is empty.
func (x *shrinker) violated(p Schedule, ch sim.Chooser) Result {
	res, err := x.run(x.scenario, p, ch)
	x.steps += res.cost()
	x.attempts++
	if x.Progress != nil {
		x.Progress(x.attempts, len(x.best.Names))
	}
	if err != nil || res.Verdict.Level != checkers.Violated {
		return Result{}
	}
	return res
}

// reason is the checker's message without the names of the run, or the kind of what code said is broken, if it has one.
func (r *Result) reason() string {
	if e := r.broken(); e != nil {
		return reason(cmp.Or(e.Data, r.Verdict.Message))
	}
	return reason(r.Verdict.Message)
}

// broken returns the event by which code says that something is broken, if that is the violation; else nil.
func (r *Result) broken() *history.Event {
	i, h := r.Verdict.Event, r.History
	if h == nil || i < 0 || i >= len(h.Events) || h.Events[i].Op != checkers.ToldBroken {
		return nil
	}
	return &h.Events[i]
}

// reason returns a checker's message without the clients, znodes and numbers of the run.
func reason(message string) string {
	words := strings.FieldsFunc(message, func(r rune) bool { return strings.ContainsRune(" ,;:", r) })
	return strings.Join(slices.DeleteFunc(words,
		func(word string) bool { return strings.ContainsAny(word, "0123456789/") }), " ")
}

// namesWithout leaves out the transitions of a client and renames the clients after it.
func namesWithout(names []string, client int) []string {
	var kept []string
	for _, name := range names {
		verb, who, _ := strings.Cut(name, " c")
		digits := strings.IndexFunc(who+" ", func(r rune) bool { return r < '0' || r > '9' })
		switch c, err := strconv.Atoi(who[:digits]); {
		case err != nil || c < client:
			kept = append(kept, name)
		case c > client:
			kept = append(kept, fmt.Sprintf("%s c%d%s", verb, c-1, who[digits:]))
		}
	}
	return kept
}
