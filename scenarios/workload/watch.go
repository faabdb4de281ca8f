package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
)

// The znodes that are watched. The parent of all exists from the beginning.
const (
	watchRoot = "/watch"
	WatchDir  = "/watch/dir"
	WatchItem = "/watch/dir/a"
)

// Watcher is a watcher of the data of a znode under test.
type Watcher interface {
	// Run reports the data of the znode and its stat whenever they have changed, with a nil stat when there is no such
	// znode. When ctx is done it returns the error of ctx. It is called again when it returns an error of the connection.
	Run(ctx context.Context, told func(data []byte, stat *zk.Stat)) error
}

// Cache is a watcher of the children of a znode under test.
type Cache interface {
	// Run reports the names of the children, in any order, and the stat of their parent whenever they have changed, with a
	// nil stat when there is no such parent. It ends as in [Watcher].
	Run(ctx context.Context, told func(names []string, stat *zk.Stat)) error
}

// Watchers returns the scenario of a user's watcher of data: three clients watch a znode that all write, under every
// fault. The znode, which is at path, comes and goes.
func Watchers[W Watcher](name string, newWatcher func(p *engine.Process, path string) W) engine.Scenario {
	s := engine.Scenario{Name: name, Doc: "a watcher under every fault", Rounds: 3}
	s.Program = watchAnd(writeOnce, Watching{Kind: checkers.WatchData, Path: WatchItem,
		Run: func(ctx context.Context, p *engine.Process, o engine.Object) error {
			path := p.Path(WatchItem)
			w := newWatcher(p, path)
			return patient(p, func(ctx context.Context) error {
				return w.Run(ctx, func(data []byte, stat *zk.Stat) { TellData(o, path, data, stat) })
			})(ctx)
		}})
	return BaseWatcher(s)
}

// Caches is [Watchers] for a user's watcher of children.
func Caches[C Cache](name string, newCache func(p *engine.Process, path string) C) engine.Scenario {
	s := engine.Scenario{Name: name, Doc: "a watcher of children under every fault", Rounds: 3}
	s.Program = watchAnd(writeOnce, Watching{Kind: checkers.WatchChildren, Path: WatchDir,
		Run: func(ctx context.Context, p *engine.Process, o engine.Object) error {
			path := p.Path(WatchDir)
			c := newCache(p, path)
			return patient(p, func(ctx context.Context) error {
				return c.Run(ctx, func(names []string, stat *zk.Stat) { TellChildren(o, path, names, stat) })
			})(ctx)
		}})
	return BaseWatcher(s)
}

// Watching is a watcher under test. Run records in o what it is told, until ctx is done.
type Watching struct {
	Kind string // one of checkers.WatchData and so on
	Path string // of the znode
	Run  func(ctx context.Context, p *engine.Process, o engine.Object) error
}

// WatchAndWrite makes a program that watches, writes, and rests. In a brief run leaders write, and followers watch.
func WatchAndWrite(w Watching) func(p *engine.Process) { return watchAnd(write, w) }

func watchAnd(write func(p *engine.Process), w Watching) func(p *engine.Process) {
	return func(p *engine.Process) {
		if Follows(p) {
			o, stop := Watch(p, w)
			defer func() {
				Rest(p, Repeat(p, 20), o)
				stop()
			}()
		}
		if Leads(p) {
			write(p)
		}
	}
}

// WatchTheOthers makes a program in which the first client watches one znode that the others change in each of many
// rounds.
func WatchTheOthers(w Watching) func(p *engine.Process) {
	return func(p *engine.Process) {
		if p.ID == 1 {
			o, stop := Watch(p, w)
			Rest(p, Repeat(p, 200), o)
			stop()
			return
		}
		WriteOne(p, "+", "")
		for range p.Rounds {
			WriteOne(p, "+/a", "")
			WriteOne(p, "=/a", "x")
		}
	}
}

// Watch starts a watcher and returns the function that stops it.
func Watch(p *engine.Process, w Watching) (o engine.Object, stop func()) {
	o = p.Register(nil)
	outer, end := p.Interruptible()
	ctx, cancel := context.WithCancel(outer)
	done := make(chan zk.Event, 1)
	o.Record(history.Event{Kind: history.Invoke, Op: w.Kind, Path: p.Path(w.Path)})
	p.Env.Go("watcher", func() {
		defer recipes.Forget(p.Env)()
		err := w.Run(ctx, p, o)
		o.Return(w.Kind, err, context.Canceled)
		switch {
		case err == nil:
			p.Fail(errors.New("the watcher has ended without an error, expected that of its context, when it is done"))
		case !errors.Is(err, context.Canceled):
			p.Fail(fmt.Errorf("the watcher has ended: %w", err))
		}
		close(done)
	})
	return o, func() {
		o.Invoke(checkers.Stop)
		cancel()
		p.Env.Await(context.Background(), done)
		end()
	}
}

// Rest waits for the end of the faults, at least in many runs. Timers may fire early before that, but once the faults
// are over they fire only when nothing else can happen. The rest that is left then is announced to the judges. Real
// clients rest for a good second.
//
// When the session of a crashed client ends, time moves on, perhaps beyond the end of a sleep. A watcher that looks
// only then has no time to settle before that sleep ends. Each client's session ends like this at most once, so at
// least one of Clients + 1 sleeps is whole.
func Rest(p *engine.Process, times int, all ...engine.Object) {
	for range times {
		p.Env.Sleep(context.Background(), 60*time.Millisecond)
	}
	for _, o := range all {
		o.Invoke(checkers.Rest)
	}
	for range p.Clients + 1 {
		p.Env.Sleep(context.Background(), 2*SettleTime)
	}
}

// SettleTime is how long the patient watcher waits.
const SettleTime = 50 * time.Millisecond

// Settling returns the environment of p for a watcher of children that reports only settled lists. It records in o when
// the time to settle, [SettleTime], begins. It records that this time has passed when its context is given up, which
// the watcher does before it looks again.
func Settling(p *engine.Process, o engine.Object) recipes.Env { return settling{p.Env, o} }

// settling is the environment that Settling returns.
type settling struct {
	recipes.Env
	o engine.Object
}

// WithTimeout implements [recipes.Env].
func (s settling) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := s.Env.WithTimeout(ctx, d)
	if d != SettleTime {
		return ctx, cancel
	}
	s.o.Invoke(checkers.Settle)
	return ctx, func() {
		if ctx.Err() == context.DeadlineExceeded {
			s.o.Return(checkers.Settle, nil)
		}
		cancel()
	}
}

// Forget implements [recipes.Hints].
func (s settling) Forget() func(kept ...any) { return recipes.Forget(s.Env) }

// Keep implements [recipes.Hints].
func (s settling) Keep(kept ...any) { recipes.Keep(s.Env, kept...) }

// Patient adds the judge of settled lists to a scenario of such a watcher, see [Settling].
func Patient(s engine.Scenario) engine.Scenario {
	s.Checkers = append(slices.Clip(s.Checkers), checkers.Settled{})
	return s
}

// writes is what clients do to the watched znodes, round by round: + creates, - deletes, = sets, and # creates with a
// number at the end of the name.
var writes = [][][]string{
	{{"+", "+/b"}, {"=/b", "-/b"}, {"-", "+", "+/a"}},
	{{"+", "+/a", "=/a", "-/a", "+/a"}, {"=/a"}, {}},
	{{"+", "+/b"}, {"-/a", "+/a"}, {"=/a", "-/b"}},
}

// write makes all writes of a client.
func write(p *engine.Process) {
	n := 0
	for r := range p.Rounds {
		n = writeRound(p, r, n)
	}
}

// writeOnce makes one round of writes, a different one for each client. A later write would heal what a watcher missed.
func writeOnce(p *engine.Process) { writeRound(p, p.ID-1, 0) }

// writeRound makes the writes of round r, numbered from n, and returns the number of the next write.
func writeRound(p *engine.Process, r, n int) int {
	mine := writes[p.ID%len(writes)]
	for _, w := range mine[r%len(mine)] {
		WriteOne(p, w, fmt.Sprintf("c%d %d", p.ID, n))
		n++
	}
	return n
}

// WriteOne makes one write. It retries until the connection holds.
func WriteOne(p *engine.Process, what, data string) {
	path := p.Path(WatchDir) + what[1:]
	for {
		var err error
		switch what[0] {
		case '+':
			_, err = p.Conn.Create(path, []byte(data), 0, zk.WorldACL(zk.PermAll))
		case '#':
			_, err = p.Conn.Create(path, []byte(data), zk.FlagSequence, zk.WorldACL(zk.PermAll))
		case '-':
			err = p.Conn.Delete(path, -1)
		default:
			_, err = p.Conn.Set(path, []byte(data), -1)
		}
		if !Interrupted(err) {
			return
		}
	}
}

// TellData records the state of a znode's data, or that the znode is gone if there is no stat.
func TellData(o engine.Object, path string, data []byte, stat *zk.Stat) {
	if stat == nil {
		o.Record(history.Event{Kind: history.Told, Op: checkers.ToldGone, Path: path})
		return
	}
	o.Record(history.Event{Kind: history.Told, Op: checkers.ToldData, Path: path, Zxid: stat.Mzxid,
		Value: checkers.Fingerprint(string(data))})
}

// TellChildren records a list of the children of a znode.
func TellChildren(o engine.Object, path string, names []string, stat *zk.Stat) {
	e := history.Event{Kind: history.Told, Op: checkers.ToldChildren, Path: path, Value: checkers.Fingerprint(names...)}
	if stat != nil {
		e.Zxid = stat.Pzxid
	}
	o.Record(e)
}

// TellChanges records what has changed below dir.
func TellChanges(o engine.Object, dir string, changes []recipes.Change) {
	for _, c := range changes {
		if c.Kind == recipes.Removed {
			c.Stat = nil
		}
		TellData(o, dir+"/"+c.Name, c.Data, c.Stat)
	}
}

// watchCheckers are what every watcher must satisfy. A watcher makes no ephemeral znodes for checkers.Tree to judge.
var watchCheckers = []checkers.Checker{checkers.Monotone{}, checkers.Convergence{}, checkers.Liveness{},
	checkers.Quiescence{}, checkers.Steps{}}

// BaseWatcher returns s with what all scenarios of watchers have in common. Faults end soon, so that most runs come to
// rest before the programs end.
func BaseWatcher(s engine.Scenario) engine.Scenario {
	s.Setup = []model.Request{engine.Mkdir(watchRoot)}
	s.Checkers = watchCheckers
	s = WithDefaults(s, 3)
	if s.SafetySteps == 0 {
		s.SafetySteps = 150
	}
	if !s.Broken() {
		s.Faults = faults.Contract()
		s.Goals = append(s.Goals, goalJudged, goalExpired, goalCoalesced)
	}
	return s
}

// Goals of watchers.
var (
	goalJudged = engine.Goal{Name: "a watcher that is stopped when all is quiet", Reached: func(h *history.History) bool {
		calm, rested := false, false
		for i := range h.Events {
			e := &h.Events[i]
			calm = calm || e.Kind == history.Calm
			rested = rested || calm && e.Op == checkers.Rest
			if rested && e.Op == checkers.Stop {
				return true
			}
		}
		return false
	}}
	goalExpired = engine.Goal{Name: "a session that ends after a watcher has told something",
		Reached: func(h *history.History) bool {
			told, ends := false, lineages{}
			for i := range h.Events {
				e := &h.Events[i]
				told = told || e.Kind == history.Told
				if ends.end(e) && told {
					return true
				}
			}
			return false
		}}
	goalCoalesced = engine.Goal{Name: "a state that a watcher did not tell, between two that it told", Reached: coalesced}
)

// coalesced reports whether a watcher reported two successive states of a path and missed a change between them.
func coalesced(h *history.History) bool {
	type key struct {
		object int32
		path   string
	}
	last := map[key]int64{}
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Told || e.Zxid == 0 {
			continue
		}
		k := key{e.Object, e.Path}
		changes := 0
		for j := range h.Events[:i] {
			x := &h.Events[j]
			if (x.Kind == history.Created || x.Kind == history.Changed || x.Kind == history.Deleted) &&
				strings.HasPrefix(x.Path, e.Path) && last[k] < x.Zxid && x.Zxid < e.Zxid {
				changes++
			}
		}
		if last[k] != 0 && changes > 0 {
			return true
		}
		last[k] = e.Zxid
	}
	return false
}
