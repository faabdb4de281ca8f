package engine_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"zksim/checkers"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// pool is an [engine.Worker] for all runners. The runs of some seeds are violated.
type pool struct {
	mu       sync.Mutex
	orders   []engine.Order
	violated []uint64
	running  func(seed uint64) // if not nil, is called in each run
}

func (p *pool) Run(o *engine.Order) (*engine.Reply, error) {
	if p.running != nil {
		p.running(o.Seed)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.orders = append(p.orders, *o)
	r := &engine.Reply{Result: engine.Result{Steps: 1}}
	if slices.Contains(p.violated, o.Seed) {
		r.Verdict = checkers.Verdict{Level: checkers.Violated, Checker: "steps"}
	}
	return r, nil
}

func (p *pool) Close() {}

// scenario returns one whose runs the pool makes.
func (p *pool) scenario() engine.Scenario {
	return engine.Scenario{Name: "test/ahead", Doc: "runs elsewhere", Clients: 1,
		Outside:   func(*sim.World, func() error) error { panic("runs are elsewhere") },
		Elsewhere: func() (engine.Worker, error) { return p, nil }}
}

// TestWorkersAreToldWhatTheyAreAskedForNext has runs made elsewhere: each seed of the shard is asked for once, and what
// was announced is what comes; but few seeds are announced when few are left, for the sake of the other workers.
func TestWorkersAreToldWhatTheyAreAskedForNext(t *testing.T) {
	for _, x := range []struct {
		workers       int
		shard, shards uint64
		violated      []uint64
	}{{workers: 1}, {workers: 3}, {workers: 1, shard: 1, shards: 3}, {workers: 1, violated: []uint64{70, 75}}} {
		p := &pool{violated: x.violated}
		rep := run(t, p.scenario(), engine.Options{Seeds: engine.Range{First: 1, Last: 200}, Workers: x.workers,
			Shard: x.shard, Shards: x.shards})
		var want, asked, next []uint64
		for seed := uint64(1); seed <= 200 && (x.violated == nil || seed <= x.violated[0]); seed++ {
			if x.shards == 0 || seed%x.shards == x.shard {
				want = append(want, seed)
			}
		}
		announced := 0
		for _, o := range p.orders {
			if x.workers == 1 && len(next) > 0 && next[0] != o.Seed {
				t.Errorf("seed %d is asked for, expected %d", o.Seed, next[0])
			}
			next, asked = o.Then, append(asked, o.Seed)
			announced += len(next)
			if left := int(200 - o.Seed); len(next) > left/(2*x.workers)+1 {
				t.Errorf("after seed %d of 200, %d are announced to one of %d workers", o.Seed, len(next), x.workers)
			}
		}
		if slices.Sort(asked); x.violated != nil { // then a replay follows, and more
			asked = asked[:min(len(asked), len(want))]
		}
		if !slices.Equal(asked, want) || announced < len(want) {
			t.Errorf("%+v: %d announced, asked for %v", x, announced, asked)
		}
		if x.violated != nil && (rep.Status != engine.Violation || rep.Failure.Schedule.Seed != x.violated[0]) {
			t.Errorf("%v, seed %d, expected the violation of the first", rep.Status, rep.Failure.Schedule.Seed)
		}
	}
}

// TestAFailureBeyondSeedsThatWereNotRunIsFound has time be up while one of two workers is at its first seed, and the
// other one has found something.
func TestAFailureBeyondSeedsThatWereNotRunIsFound(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	found := make(chan bool)
	p := &pool{violated: []uint64{17}, running: func(seed uint64) {
		switch seed {
		case 1:
			<-found
			cancel()
		case 17:
			close(found)
		}
	}}
	s := p.scenario()
	rep, err := engine.Run(ctx, &s, engine.Options{Seeds: engine.Range{First: 1, Last: 200}, Workers: 2})
	if err != nil || rep.Status != engine.Violation || rep.Failure.Schedule.Seed != 17 || rep.Runs != 2 || rep.Cut {
		t.Errorf("%v, %v of seed %d after %d runs, cut short %v; expected a violation by seed 17 after 2", err, rep.Status,
			rep.Failure.Schedule.Seed, rep.Runs, rep.Cut)
	}
}
