package prove

import (
	"fmt"
	"strings"
	"sync"

	"zksim/internal/hash"
	"zksim/sim"
)

// audit watches a search that forgets nothing, and compares the result with what code says that it forgets. From states
// that are said to be the same, the same steps must lead to states that are said to be the same, and runs must end with
// the same verdict.
type audit struct {
	mu   sync.Mutex
	next map[uint64]successor // by the hash of a state, as code sees it, and of a step's name
	says string               // what is wrong
}

// AuditError is the error of an audit that finds that code keeps more than it says. It names two schedules after which
// the states are said to be the same but behave differently.
type AuditError string

// Error implements error.
func (e AuditError) Error() string { return string(e) }

type successor struct {
	class uint64
	way   edge
}

// compare records that an edge leads from a state to another one, or to a verdict. It returns an earlier edge that
// differs.
func (a *audit) compare(e edge, step string, class uint64) (other edge, differs bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := uint64(hash.Hash(e.from.class).String(step))
	x, known := a.next[key]
	if !known {
		a.next[key] = successor{class, e}
	}
	return x.way, known && x.class != class
}

// check compares the edge that a worker takes in an audit.
func (w *worker) check(world *sim.World, what string, class uint64) {
	if w.next.from == nil {
		return
	}
	other, differs := w.audit.compare(w.next, world.Name(w.next.by)+what, class)
	if !differs {
		return
	}
	way := strings.Join(world.Schedule(), ", ")
	w.pool.stop()
	before := strings.Join(w.steps(other), ", ")
	w.audit.mu.Lock()
	defer w.audit.mu.Unlock()
	w.audit.says = fmt.Sprintf("%s: what is given to the function that recipes.Forget returns is not all that code has "+
		"kept:\n%s\nleads elsewhere than\n%s", w.scenario.Name, way, before)
}

// steps returns the names of the steps to an edge.
func (w *worker) steps(e edge) []string {
	x := &steps{world: w, prefix: e.path(nil)}
	r := newWorker(w.search).runner
	defer r.Close()
	r.Explore(w.scenario, w.schedule, x)
	return x.names
}

// steps is a chooser that takes the steps of an edge.
type steps struct {
	world  *worker
	prefix []sim.Transition
	names  []string
}

// Choose implements [sim.Chooser].
func (x *steps) Choose(world *sim.World) (sim.Transition, bool, error) {
	if !x.world.scope.Interleave {
		if t, ok := world.Prompt(x.world.scope.SlowWakes); ok {
			return t, true, nil
		}
	}
	if len(x.prefix) == 0 {
		x.names = world.Schedule()
		return sim.Transition{}, false, errKnown
	}
	t := x.prefix[0]
	x.prefix = x.prefix[1:]
	return t, true, nil
}
