package workload

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/scenarios/engine"
)

// DoubleBarrier is a double barrier under test. It may also be [Losing] and tell its [Round].
type DoubleBarrier interface {
	// Enter waits until as many clients as there are participants are inside, and Leave until all leave. When ctx is done
	// they return the error of ctx.
	Enter(ctx context.Context) error
	Leave(ctx context.Context) error
	// Placed tells the znode by which the client is inside, once Enter has returned.
	Placed
}

// Round is a double barrier that numbers its rounds. The number is the same for all clients that are inside together,
// and greater in later rounds. Without it the checkers rounds and exit have nothing to judge.
type Round interface{ Round() int64 }

// FullDoubleBarrier is a double barrier that reports all that can be judged.
type FullDoubleBarrier interface {
	DoubleBarrier
	Losing
	Round
}

// someDoubleBarrier is a double barrier with those methods of a [FullDoubleBarrier] that the recipe has.
type someDoubleBarrier struct {
	held
	enter, leave func(ctx context.Context) error
	round        func() int64
}

func (b someDoubleBarrier) Enter(ctx context.Context) error { return b.enter(ctx) }
func (b someDoubleBarrier) Leave(ctx context.Context) error { return b.leave(ctx) }
func (b someDoubleBarrier) Round() int64                    { return b.round() }

// DoubleBarriers returns the scenario of a user's double barrier: four clients meet in threes, under every fault. The
// number of participants is an argument because it is smaller when a run has fewer clients.
func DoubleBarriers[B DoubleBarrier](
	name string, newBarrier func(p *engine.Process, participants int) B,
) engine.Scenario {
	s := preset(name, "a double barrier under every fault", 2)
	s.Clients = 4
	s.Goals = []engine.Goal{goalLostWrite, GoalGaveUp("enter"), GoalGaveUp("leave"), GoalEndInside}
	m := Meeting{More: 1, Enter: Unhurried, Leave: Cancelled, Stay: 2,
		NewBarrier: func(p *engine.Process, n int) FullDoubleBarrier { return doubleBarrierOf(p, newBarrier(p, n)) }}
	return BaseDoubleBarrier(s, m).Without(unless(has[B, Round](), nil, "rounds", "exit")...)
}

// doubleBarrierOf adds to a double barrier what the programs need.
func doubleBarrierOf(p *engine.Process, b DoubleBarrier) someDoubleBarrier {
	x := someDoubleBarrier{held: heldBy(p, b), enter: patient(p, b.Enter), leave: thorough(p, b.Leave),
		round: func() int64 { return 0 }}
	if y, ok := b.(Round); ok {
		x.round = y.Round
	}
	return x
}

// Meeting is how clients meet at a double barrier.
type Meeting struct {
	Enter      Limiter // of each Enter and Leave
	Leave      Limiter
	More       int  // how many more clients than participants there are
	Stay       int  // steps inside, one in a brief run; see [UntilLost]
	AtWork     bool // stay long, with two goroutines in each process
	NewBarrier func(p *engine.Process, n int) FullDoubleBarrier
}

// program makes the program of each client.
func (m Meeting) program() func(p *engine.Process) {
	return func(p *engine.Process) {
		n := max(p.Clients-m.More, 2)
		b := m.NewBarrier(p, n)
		o := p.Register(b.Znodes)
		Rounds(p, func(int) error { return m.meet(p, o, b, n) })
	}
}

// meet makes one round. It returns only errors that a barrier must not have.
func (m Meeting) meet(p *engine.Process, o engine.Object, b FullDoubleBarrier, n int) error {
	ctx, end := m.Enter(o)
	o.Record(history.Event{Kind: history.Invoke, Op: "enter", Value: int64(n)})
	err := b.Enter(ctx)
	answer := history.Event{Kind: history.Return, Op: "enter", Err: err, OK: errors.Is(err, context.Canceled)}
	if err == nil {
		answer.Path, answer.Value = first(b), b.Round()
	}
	o.Record(answer)
	end()
	if err != nil {
		return IgnoreCanceled(err)
	}
	m.stay(p, o, b.Lost())
	ctx, end = m.Leave(o)
	defer end()
	o.Invoke("leave")
	err = b.Leave(ctx)
	o.Return("leave", err, context.Canceled)
	return IgnoreCanceled(err)
}

// stay is what a client does inside.
func (m Meeting) stay(p *engine.Process, o engine.Object, lost <-chan zk.Event) {
	if m.Stay == UntilLost {
		remain(p, o, lost, UntilLost, nil)
		return
	}
	for k := 0; k < Repeat(p, m.Stay) && len(lost) == 0; k++ {
		p.Step()
	}
	if len(lost) > 0 {
		o.Lost()
	}
}

// BaseDoubleBarrier returns s with what all scenarios of double barriers have in common.
func BaseDoubleBarrier(s engine.Scenario, m Meeting) engine.Scenario {
	s = WithDefaults(s, 3)
	s.Program = m.program()
	role := func(int, int) int { return 0 }
	if m.AtWork {
		m.Stay, role = longWork, func(id, _ int) int { return id % 2 }
		s.Program = byTwo(m.program())
	}
	if !s.Broken() {
		s = s.Symmetric(role)
	}
	if s.SafetySteps == 0 {
		s.SafetySteps = limitedSteps
	}
	s.Checkers = []checkers.Checker{checkers.Entry{}, checkers.Claim{Of: checkers.ClaimedPlace}, checkers.Exit{},
		checkers.Rounds{}, checkers.Gather{}, checkers.Liveness{}, checkers.Quiescence{}, checkers.Tree{}, checkers.Steps{}}
	return s
}

// GoalRounds is the goal that all clients were in all rounds.
var GoalRounds = engine.Goal{Name: "all rounds", Reached: func(h *history.History) bool {
	ended := slices.IndexFunc(h.Finished[1:], func(ended bool) bool { return !ended }) < 0
	for _, e := range h.Events {
		ended = ended && (e.Kind != history.Return || e.Op != "enter" || e.Err == nil)
	}
	return ended && len(h.Failed) == 0
}}

// Goals of double barriers.
var (
	GoalEndInside = engine.Goal{Name: "a session that ends inside", Reached: func(h *history.History) bool {
		for i, e := range h.Events {
			if e.Kind == history.Return && e.Op == "enter" && e.Err == nil {
				for _, d := range h.Events[i:] {
					if d.Kind == history.Deleted && d.Client == 0 && d.Path == e.Path {
						return true
					}
				}
			}
		}
		return false
	}}
	GoalOutside = engine.Goal{Name: "a client that watches a member of a round that it is not in",
		Reached: func(h *history.History) bool {
			author := map[string]int32{}
			entering := map[int32]bool{}
			for _, e := range h.Events {
				switch e.Kind {
				case history.Invoke:
					entering[e.Client] = e.Op == "enter"
				case history.Created:
					author[e.Path] = e.Client
				case history.Call:
					if (e.Op == "getW" || e.Op == "existsW") && entering[e.Client] && author[e.Path] != e.Client &&
						strings.Contains(e.Path, "/member-") {
						return true
					}
				}
			}
			return false
		}}
)
