package conform

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"time"

	"zksim/model"
	"zksim/sim"
)

// Options are the settings of [Run]. Servers and Ops must be set.
type Options struct {
	// Servers are the addresses of a standalone server or of all members of an ensemble. The simulated ensemble has the
	// same size. Containers and expired TTL znodes should not be cleaned up while sequences run. The default interval of a
	// minute makes that unlikely.
	Servers []string

	Ops  int        // least number of operations to execute
	Like model.Like // product whose semantics the simulated servers have
	Seed uint64     // of the first sequence; each next one adds 1

	// Done, if not nil, is called after every operation.
	Done func()
	// Failed, if not nil, is called with every sequence that has a difference.
	Failed func(Failure)
}

// sequenceOps is the number of operations of a sequence.
const sequenceOps = 60

const (
	shrinkTries = 120
	maxFailures = 10
)

// Failure is a sequence on which the two sides differ.
type Failure struct {
	Sequence        // as short as it could be made
	Seed     uint64 // of the generated sequence
	Original int    // length of that sequence
	// Repeated says that executing the operations again led to a difference again. If not, the difference may be due to
	// the time that passed.
	Repeated bool
}

// Report is the result of a run.
type Report struct {
	Servers   int
	Sequences int
	Ops       int // not counting those of shrinking
	Failures  []Failure
	Coverage  Coverage
	Elapsed   time.Duration
}

// Run executes random operations on real servers and on the simulator, until there were enough operations or too many
// differences. An error means that the comparison could not be made, or wraps ctx.Err(). The report covers what was
// compared until then, or is nil.
func Run(ctx context.Context, o Options) (*Report, error) {
	begin := time.Now()
	dial, cancel := context.WithTimeout(ctx, patience)
	e, err := connect(dial, o.Servers)
	cancel()
	if err != nil {
		return nil, err
	}
	defer e.close()
	b := newBench(e, o.Like)
	defer b.world.Close()
	rep := &Report{Servers: len(o.Servers), Coverage: Coverage{}}
	defer func() { rep.Elapsed = time.Since(begin) }()
	for seed := o.Seed; rep.Ops < o.Ops && len(rep.Failures) < maxFailures; seed++ {
		g := newGenerator(newDice(seed), len(o.Servers), loopback(o.Servers))
		q, err := b.run(ctx, &generated{g, sequenceOps})
		if ctx.Err() != nil {
			return rep, ctx.Err() // the reason why the rest went wrong
		}
		if err != nil {
			return rep, fmt.Errorf("sequence of seed %d: %w", seed, err)
		}
		rep.Sequences++
		rep.Ops += len(q.Steps)
		rep.Coverage.sequence(q)
		for range q.Steps {
			if o.Done != nil {
				o.Done()
			}
		}
		if len(q.Differences) == 0 {
			continue
		}
		f, err := b.minimize(ctx, q, seed)
		if err != nil {
			return rep, err
		}
		rep.Failures = append(rep.Failures, f)
		if o.Failed != nil {
			o.Failed(f)
		}
	}
	return rep, nil
}

// newDice returns the source of choices for the command line.
func newDice(seed uint64) *rand.Rand {
	const stream = 0x636f6e666f726d // "conform"
	return rand.New(rand.NewPCG(seed, stream))
}

// loopback reports whether all servers see this machine at 127.0.0.1.
func loopback(servers []string) bool {
	return !slices.ContainsFunc(servers, func(s string) bool {
		host, _, err := net.SplitHostPort(s)
		return err != nil || host != "127.0.0.1"
	})
}

// bench makes pairs of sides, each below its own root, and runs scripts on them.
type bench struct {
	sides func(root string) (real, sim side, err error)
	world *sim.World
	name  string
	roots int
}

func newBench(e *ensemble, like model.Like) *bench {
	w := sim.NewWorld()
	return &bench{world: w, name: fmt.Sprintf("/conform-%x", uint64(e.admins[0].SessionID())),
		sides: func(root string) (side, side, error) {
			l, err := newLiveSide(e, root)
			if err != nil {
				return nil, nil, err
			}
			return l, newSimSide(w, len(e.servers), like, root), nil
		}}
}

func (b *bench) run(ctx context.Context, s script) (*Sequence, error) {
	b.roots++
	root := fmt.Sprintf("%s-%d", b.name, b.roots)
	real, simulated, err := b.sides(root)
	if err != nil {
		return nil, err
	}
	defer real.close()
	defer simulated.close()
	q, err := play(ctx, real, simulated, s)
	q.Root = root
	if err != nil {
		return q, fmt.Errorf("step %d: %w", len(q.Steps), err)
	}
	return q, nil
}

// minimize shrinks a sequence with a difference.
func (b *bench) minimize(ctx context.Context, q *Sequence, seed uint64) (Failure, error) {
	f := Failure{Sequence: *q, Seed: seed, Original: len(q.Steps)}
	var broken error
	fails := func(ops []Op) bool {
		if broken != nil {
			return false
		}
		shorter, err := b.run(ctx, &fixed{ops: ops})
		if err != nil {
			broken = err
			return false
		}
		if len(shorter.Differences) == 0 {
			return false
		}
		f.Sequence = *shorter
		return true
	}
	if f.Repeated = fails(q.ops()); f.Repeated {
		shrink(f.Sequence.ops(), shrinkTries, fails)
	}
	return f, broken
}
