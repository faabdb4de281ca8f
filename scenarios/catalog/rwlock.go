package catalog

import (
	"context"
	"errors"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/recipes/broken"
	"zksim/scenarios/engine"
)

// sharedLocker is a read/write lock under test.
type sharedLocker interface {
	locker
	RLock(ctx context.Context) error
	TryRLock(ctx context.Context) error
	RUnlock(ctx context.Context) error
}

// downgrader is one whose writer can become a reader.
type downgrader interface {
	Downgrade(ctx context.Context) error
}

const rwDir = "/rw"

// sharedRounds makes a program in which each client reads, writes, and writes and
// downgrades in turn, beginning with another; one attempt in five is impatient.
func sharedRounds(newLocker func(p *engine.Process) sharedLocker) func(p *engine.Process) {
	return func(p *engine.Process) {
		l := newLocker(p)
		o := p.Register(l.Znodes)
		for r := range p.Rounds {
			if err := sharedOnce(p, o, l, (p.ID+r)%3, (p.ID+2*r)%5 == 0); err != nil {
				p.Fail(err)
				return
			}
		}
	}
}

// What a client wants of a read/write lock.
const (
	toRead = iota
	toWrite
	toDowngrade
)

// sharedOnce is one round. It returns only errors that a lock must not have.
func sharedOnce(p *engine.Process, o engine.Object, l sharedLocker, want int, try bool) error {
	op, lock := "lock", l.Lock
	switch {
	case want == toRead && try:
		op, lock = "tryrlock", l.TryRLock
	case want == toRead:
		op, lock = "rlock", l.RLock
	case try:
		op, lock = "trylock", l.TryLock
	}
	if ok, err := o.Attempt(op, lock); !ok {
		return err
	}
	if want == toRead {
		return readAndUnlock(p, o, l)
	}
	znodes := l.Znodes()
	o.Acquired(znodes[len(znodes)-1], l.Token())
	work(p, o, l, 2)
	if d, ok := l.(downgrader); ok && want == toDowngrade && len(l.Lost()) == 0 {
		return downgrade(p, o, l, d)
	}
	o.Released()
	return o.Unlock(l.Unlock)
}

// downgrade goes on as a reader. That it owns the lock as such it says before the
// call, since from then on others may read.
func downgrade(p *engine.Process, o engine.Object, l sharedLocker, d downgrader) error {
	share(o, l)
	ctx, end := p.Interruptible()
	o.Invoke("downgrade")
	err := d.Downgrade(ctx)
	o.Return("downgrade", err, errors.Is(err, recipes.ErrLost))
	end()
	switch {
	case err == nil:
		return readAndUnlock(p, o, l)
	case errors.Is(err, recipes.ErrLost), errors.Is(err, context.Canceled):
		o.Released()
		return nil
	}
	return err
}

// share records that the holder may believe that it holds the lock for reading.
func share(o engine.Object, l sharedLocker) {
	o.Record(history.Event{Kind: history.Acquired, Op: "read", Path: l.Znodes()[0], Value: l.Token()})
}

// readAndUnlock is what a reader does that has got the lock.
func readAndUnlock(p *engine.Process, o engine.Object, l sharedLocker) error {
	share(o, l)
	lost := l.Lost()
	for range 3 {
		p.Step()
		if len(lost) > 0 {
			o.Lost()
			break
		}
		o.Read(l.Token())
	}
	o.Released()
	return o.Must("runlock", l.RUnlock)
}

func newRWLock(p *engine.Process) sharedLocker {
	return recipes.NewRWLock(p.Conn, p.Env, p.Path(rwDir), recipes.LockOptions{})
}

func newBrokenRW(f broken.Flaw) func(p *engine.Process) sharedLocker {
	return func(p *engine.Process) sharedLocker { return broken.NewRWLock(p.Conn, p.Env, p.Path(rwDir), f) }
}

// rwScenario is what all scenarios of read/write locks have in common.
func rwScenario(s engine.Scenario) engine.Scenario {
	s.Setup = []model.Request{{Op: model.OpCreate, Path: rwDir, ACL: zk.WorldACL(zk.PermAll)}}
	s.Checkers = append([]checkers.Checker{checkers.Ownership{}, checkers.Belief{}, checkers.Fenced{}, checkers.Liveness{},
		checkers.Refusal{}, checkers.Quiescence{}, checkers.Tree{}, checkers.Steps{}}, s.Checkers...)
	return withDefaults(s, 3)
}

var rwFaults = append(faults.Contract(), faults.Rule{Fault: "sequence", Budget: 2, Aim: faults.Aim{Path: rwDir}})

var rwlockScenarios = []engine.Scenario{
	rwScenario(engine.Scenario{
		Name: "rwlock/rwlock", Doc: "the read/write lock with downgrade under every fault",
		Source: "ZooKeeper recipes page, Shared Locks",
		Rounds: 3, Program: sharedRounds(newRWLock), Faults: rwFaults,
		Goals: []engine.Goal{goalExpiry,
			{Name: "two readers at once", Reached: func(h *history.History) bool { return mostReaders(h) >= 2 }},
			{Name: "a downgrade while a writer waits", Reached: downgradedBeforeWriter},
			{Name: "a lost reply after the multi that creates two znodes", Reached: lostAfter("multi", created)},
			{Name: "a downgrade that finds the lock lost", Reached: returned("downgrade", recipes.ErrLost)},
			{Name: "a reader that is refused", Reached: returned("tryrlock", recipes.ErrLocked)}},
	}),
	rwScenario(engine.Scenario{
		Name: "rwlock/fan-out", Doc: "an unlock wakes only clients that can go on, and one in vain",
		Source: "ZooKeeper recipes page, herd effect", Clients: 6,
		Program:  func(p *engine.Process) { sharedFanOut(p, newRWLock) },
		Checkers: []checkers.Checker{checkers.Herd{PerEvent: 1, InVain: true}},
		Goals:    []engine.Goal{{Name: "three readers at once", Reached: func(h *history.History) bool { return mostReaders(h) >= 3 }}},
	}).Without("refusal"), // nobody tries

	rwScenario(engine.Scenario{
		Name: "rwlock/sibling-wait", Doc: "a reader waits for any writer, later ones included", Row: int(broken.SiblingWait),
		Source: "ZooKeeper recipes page, Shared Locks, its wording", Rounds: 2, Program: sharedRounds(newBrokenRW(broken.SiblingWait)),
		Caught: []string{"quiescence"}, Wakes: "the schedule alone",
	}),
	rwScenario(engine.Scenario{
		Name: "rwlock/downgrade", Doc: "a writer takes a read at the end of the queue and gives up the write", Row: int(broken.Downgrade),
		Source: "CURATOR-276, CURATOR-621", Rounds: 3, Program: sharedRounds(newBrokenRW(broken.Downgrade)),
		Caught: []string{"ownership", "belief"}, Wakes: "the schedule alone",
	}),
	rwScenario(engine.Scenario{
		Name: "rwlock/watch-directory", Doc: "everybody who waits watches the directory", Row: int(broken.WatchDirectory),
		Source: "derived from the herd effect", Clients: 6, Program: func(p *engine.Process) { sharedFanOut(p, newBrokenRW(broken.WatchDirectory)) },
		Checkers: []checkers.Checker{checkers.Herd{PerEvent: 1, InVain: true}},
		Caught:   []string{"herd"}, Wakes: "nothing is needed",
	}),
	rwScenario(engine.Scenario{
		Name: "rwlock/readers-queue", Doc: "a reader waits for everybody ahead of it", Row: int(broken.ReadersQueue),
		Source: "derived from a lock without kinds", Rounds: 4, Program: sharedRounds(newBrokenRW(broken.ReadersQueue)),
		Caught: []string{"refusal"}, Wakes: "the schedule alone",
	}),
}

// sharedFanOut is one patient round: two of three clients read.
func sharedFanOut(p *engine.Process, newLocker func(p *engine.Process) sharedLocker) {
	l := newLocker(p)
	want := toRead
	if p.ID%3 == 0 {
		want = toDowngrade
	}
	if err := sharedOnce(p, p.Register(l.Znodes), l, want, false); err != nil {
		p.Fail(err)
	}
}

// mostReaders returns how many clients held the lock for reading at once.
func mostReaders(h *history.History) (most int) {
	reading := map[int32]bool{}
	for _, e := range h.Events {
		switch e.Kind {
		case history.Acquired:
			if e.Op == "read" {
				reading[e.Object] = true
			}
		case history.Released, history.Lost:
			delete(reading, e.Object)
		}
		most = max(most, len(reading))
	}
	return most
}

// downgradedBeforeWriter reports whether a writer became a reader while another
// client's write znode was in the queue.
func downgradedBeforeWriter(h *history.History) bool {
	writers := map[string]int32{}
	for _, e := range h.Events {
		switch {
		case e.Kind == history.Created && strings.Contains(e.Path, "-write-"):
			writers[e.Path] = e.Client
		case e.Kind == history.Deleted:
			delete(writers, e.Path)
		case e.Kind == history.Return && e.Op == "downgrade" && e.Err == nil:
			for _, c := range writers { // order-free: any
				if c != e.Client {
					return true
				}
			}
		}
	}
	return false
}
