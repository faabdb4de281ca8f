package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/recipes/broken"
	"zksim/scenarios/engine"
)

// The znodes that are watched. The parent of all is there from the beginning.
const (
	watchRoot = "/watch"
	watchDir  = "/watch/dir"
	watchItem = "/watch/dir/a"
)

// watching is a watcher under test: it tells o what it is told, until ctx is done.
type watching struct {
	kind, path string
	run        func(ctx context.Context, p *engine.Process, o engine.Object) error
}

// watchAndWrite makes a program that watches, writes, and rests. In a brief run leaders
// write, and followers watch.
func watchAndWrite(w watching) func(p *engine.Process) {
	return func(p *engine.Process) {
		if follows(p) {
			o, stop := watch(p, w)
			defer func() {
				rest(p, repeat(p, 20), o)
				stop()
			}()
		}
		if leads(p) {
			write(p)
		}
	}
}

// watchTheOthers makes a program in which the first client watches one znode that
// the others change in each of many rounds.
func watchTheOthers(w watching) func(p *engine.Process) {
	return func(p *engine.Process) {
		switch p.ID {
		default:
			writeOne(p, "+", "")
			for range p.Rounds {
				writeOne(p, "+/a", "")
				writeOne(p, "=/a", "x")
			}
		case 1:
			o, stop := watch(p, w)
			rest(p, repeat(p, 200), o)
			stop()
		}
	}
}

// watchAtWork makes a program in which the first client watches several znodes,
// each of which the others make and change once, and is busy with something else. There
// is one for each round.
func watchAtWork(f broken.Flaw) func(p *engine.Process) {
	return func(p *engine.Process) {
		item := func(r int) string { return fmt.Sprintf("/%d", r+1) }
		if p.ID > 1 {
			writeOne(p, "+", "")
			for r := range p.Rounds {
				writeOne(p, "+"+item(r), "old")
			}
			for r := range p.Rounds {
				for range repeat(p, 8) {
					writeOne(p, "=", "")
				}
				writeOne(p, "="+item(r), "new")
			}
			return
		}
		var all []engine.Object
		var stops []func()
		for r := range p.Rounds {
			o, stop := watch(p, brokenWatch(f, watchDir+item(r)))
			all, stops = append(all, o), append(stops, stop)
		}
		for range repeat(p, 150) {
			writeOne(p, "=", "")
		}
		rest(p, repeat(p, 20), all...)
		for _, stop := range stops {
			stop()
		}
	}
}

// watch starts a watcher and returns the function that stops it.
func watch(p *engine.Process, w watching) (o engine.Object, stop func()) {
	o = p.Register(func() []string { return nil })
	outer, end := p.Interruptible()
	ctx, cancel := context.WithCancel(outer)
	done := make(chan zk.Event, 1)
	o.Record(history.Event{Kind: history.Invoke, Op: w.kind, Path: p.Path(w.path)})
	p.Env.Go("watcher", func() {
		defer p.Env.Forget()()
		err := w.run(ctx, p, o)
		o.Return(w.kind, err, errors.Is(err, context.Canceled))
		if !errors.Is(err, context.Canceled) {
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

// rest waits for the end of the faults, at least in many runs: timers fire early
// as well, but once the faults are over they do so only when nothing else can
// happen. The rest that is then left is announced to the judges. Real clients rest for a
// good second.
//
// The end of the session of a client that has crashed moves time on, perhaps beyond the end of a sleep.
// A watcher that looks only then has no time left to settle before that sleep ends. Each client's session
// ends so once at most, so one of Clients + 1 sleeps is whole.
func rest(p *engine.Process, times int, all ...engine.Object) {
	for range times {
		p.Env.Sleep(context.Background(), 60*time.Millisecond)
	}
	for _, o := range all {
		o.Invoke(checkers.Rest)
	}
	for range p.Clients + 1 {
		p.Env.Sleep(context.Background(), 2*settleTime)
	}
}

// settleTime is how long the patient watcher waits.
const settleTime = 50 * time.Millisecond

// writes is what clients do to the znodes that are watched, round by round: + creates,
// - deletes, = sets.
var writes = [][][]string{
	{{"+", "+/b"}, {"=/b", "-/b"}, {"-", "+", "+/a"}},
	{{"+", "+/a", "=/a", "-/a", "+/a"}, {"=/a"}, {}},
	{{"+", "+/b"}, {"-/a", "+/a"}, {"=/a", "-/b"}},
}

// write makes the writes of a client, each until its connection bears.
func write(p *engine.Process) {
	mine, n := writes[p.ID%len(writes)], 0
	for r := range p.Rounds {
		for _, w := range mine[r%len(mine)] {
			writeOne(p, w, fmt.Sprintf("c%d %d", p.ID, n))
			n++
		}
	}
}

func writeOne(p *engine.Process, what, data string) {
	path := p.Path(watchDir) + what[1:]
	for {
		var err error
		switch what[0] {
		case '+':
			_, err = p.Conn.Create(path, []byte(data), 0, zk.WorldACL(zk.PermAll))
		case '-':
			err = p.Conn.Delete(path, -1)
		default:
			_, err = p.Conn.Set(path, []byte(data), -1)
		}
		if !errors.Is(err, zk.ErrConnectionClosed) && !errors.Is(err, zk.ErrNoServer) {
			return
		}
	}
}

// tellData records a state of the data of a znode, without a stat that it is gone.
func tellData(o engine.Object, path string, data []byte, stat *zk.Stat) {
	if stat == nil {
		o.Record(history.Event{Kind: history.Told, Op: checkers.ToldGone, Path: path})
		return
	}
	o.Record(history.Event{Kind: history.Told, Op: checkers.ToldData, Path: path, Zxid: stat.Mzxid, Value: checkers.Fingerprint(string(data))})
}

func tellChildren(o engine.Object, path string, names []string, stat *zk.Stat) {
	e := history.Event{Kind: history.Told, Op: checkers.ToldChildren, Path: path, Value: checkers.Fingerprint(names...)}
	if stat != nil {
		e.Zxid = stat.Pzxid
	}
	o.Record(e)
}

func tellChanges(o engine.Object, dir string, changes []recipes.Change) {
	for _, c := range changes {
		if c.Kind == recipes.Removed {
			c.Stat = nil
		}
		tellData(o, dir+"/"+c.Name, c.Data, c.Stat)
	}
}

var dataWatch = watching{checkers.WatchData, watchItem, func(ctx context.Context, p *engine.Process, o engine.Object) error {
	path := p.Path(watchItem)
	return recipes.NewDataWatch(p.Conn, p.Env, path, recipes.WatchOptions{}).Run(ctx, func(data []byte, stat *zk.Stat) bool {
		tellData(o, path, data, stat)
		return true
	})
}}

var childrenWatch = watching{checkers.WatchChildren, watchDir, func(ctx context.Context, p *engine.Process, o engine.Object) error {
	path := p.Path(watchDir)
	return recipes.NewChildrenWatch(p.Conn, p.Env, path, recipes.WatchOptions{}).Run(ctx, func(names []string, stat *zk.Stat) bool {
		tellChildren(o, path, names, stat)
		return true
	})
}}

var patientWatch = watching{checkers.WatchChildren, watchDir, func(ctx context.Context, p *engine.Process, o engine.Object) error {
	path := p.Path(watchDir)
	return recipes.NewPatientChildrenWatch(p.Conn, p.Env, path, settleTime, recipes.WatchOptions{}).Run(ctx, func(names []string, stat *zk.Stat) bool {
		tellChildren(o, path, names, stat)
		return true
	})
}}

// childrenCache asks for doubts as well, so that their requests are tried, too.
var childrenCache = watching{checkers.WatchCache, watchDir, func(ctx context.Context, p *engine.Process, o engine.Object) error {
	path := p.Path(watchDir)
	opt := recipes.WatchOptions{Suspect: func(bool) {}}
	return recipes.NewChildrenCache(p.Conn, p.Env, path, opt).Run(ctx, func(_ []recipes.Child, changes []recipes.Change) bool {
		tellChanges(o, path, changes)
		return true
	})
}}

// brokenWatch is a watcher of data with a flaw.
func brokenWatch(f broken.Flaw, path string) watching {
	return watching{checkers.WatchData, path, func(ctx context.Context, p *engine.Process, o engine.Object) error {
		path := p.Path(path)
		return broken.NewDataWatch(p.Conn, p.Env, path, f).Run(ctx, func(data []byte, stat *zk.Stat) {
			tellData(o, path, data, stat)
		})
	}}
}

// watchCheckers is everything that every watcher must satisfy. It makes no ephemeral znodes for checkers.Tree to judge.
var watchCheckers = []checkers.Checker{checkers.Monotone{}, checkers.Convergence{}, checkers.Liveness{},
	checkers.Quiescence{}, checkers.Steps{}}

// watchScenario is what all scenarios of watchers have in common. Faults end soon,
// so that most runs come to rest before the programs are over.
func watchScenario(s engine.Scenario) engine.Scenario {
	s.Setup = []model.Request{{Op: model.OpCreate, Path: watchRoot, ACL: zk.WorldACL(zk.PermAll)}}
	s.Checkers = watchCheckers
	s = withDefaults(s, 3)
	if s.SafetySteps == 0 {
		s.SafetySteps = 150
	}
	if !s.Broken() {
		s.Faults = faults.Contract()
		s.Goals = append(s.Goals, goalJudged, goalExpired, goalCoalesced)
	}
	return s
}

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
	goalExpired = engine.Goal{Name: "a session that ends after a watcher has told something", Reached: func(h *history.History) bool {
		told := false
		for i := range h.Events {
			e := &h.Events[i]
			told = told || e.Kind == history.Told
			if e.Kind == history.Session && e.Op == zk.StateExpired.String() && told {
				return true
			}
		}
		return false
	}}
	goalCoalesced = engine.Goal{Name: "a state that a watcher did not tell, between two that it told", Reached: coalesced}
)

// coalesced reports whether some watcher told two states in a row of a path which
// was changed more than once between them.
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
