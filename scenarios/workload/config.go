package workload

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
)

// Config is a configuration under test: a set of values that is updated as a whole. It may also be [Following].
type Config interface {
	// Get returns the values, and the zxid of their update. While there is no valid set it returns
	// recipes.ErrConfigInvalid, which may be wrapped. It returns no set older than the latest that anybody knows.
	Get(ctx context.Context) (values map[string][]byte, zxid int64, err error)
	// Update replaces all values. It returns recipes.ErrConfigChanged or zk.ErrBadVersion, which may be wrapped, when
	// another update was faster. After an error of the connection the outcome is unknown.
	Update(ctx context.Context, values map[string][]byte) error
}

// Following is a configuration with a cached reader: Watch reports the present set and each new one, until ctx is done,
// and returns the error of ctx.
type Following interface {
	Watch(ctx context.Context, told func(values map[string][]byte, zxid int64)) error
}

// FullConfig is a configuration that reports all that can be judged.
type FullConfig interface {
	Config
	Following
}

// someConfig is a configuration with those methods of a [FullConfig] that the recipe has.
type someConfig struct {
	Config
	p     *engine.Process
	watch func(ctx context.Context, told func(values map[string][]byte, zxid int64)) error
}

// Get retries when the connection was lost.
func (c someConfig) Get(ctx context.Context) (values map[string][]byte, zxid int64, err error) {
	err = patient(c.p, func(ctx context.Context) error {
		values, zxid, err = c.Config.Get(ctx)
		return err
	})(ctx)
	return values, zxid, err
}

// Update returns the error in terms of package recipes.
func (c someConfig) Update(ctx context.Context, values map[string][]byte) error {
	err := unknown(c.Config.Update(ctx, values))
	if errors.Is(err, zk.ErrBadVersion) && !errors.Is(err, recipes.ErrConfigChanged) {
		return fmt.Errorf("%w: %w", recipes.ErrConfigChanged, err)
	}
	return err
}

// Watch restarts when the connection was lost.
func (c someConfig) Watch(ctx context.Context, told func(values map[string][]byte, zxid int64)) error {
	return patient(c.p, func(ctx context.Context) error { return c.watch(ctx, told) })(ctx)
}

func (c someConfig) tries() bool { return c.watch != nil }

// Configs returns the scenario of a user's configuration: three clients update and read it, under every fault. Its
// znodes are at path, which exists, or below.
func Configs[C Config](name string, newConfig func(p *engine.Process, path string) C) engine.Scenario {
	s := preset(name, "a configuration under every fault", 6)
	s.Setup = []model.Request{engine.Mkdir(ConfigDir)}
	s.Program = ConfigRounds(SometimesThree, func(p *engine.Process) FullConfig {
		c := newConfig(p, p.Path(ConfigDir))
		x := someConfig{Config: c, p: p}
		if y, ok := Config(c).(Following); ok {
			x.watch = y.Watch
		}
		return x
	})
	s.Checkers = ConfigCheckers
	s.Goals = []engine.Goal{goalLostWrite}
	if has[C, Following]() {
		s.Goals = append(s.Goals, GoalFollowed)
	} else {
		s.Faults = s.Faults.Except("watch-delay", "overtake") // nobody watches
	}
	return WithDefaults(s, 3).Without("tree") // no znode is ephemeral
}

// ConfigCheckers are what every configuration must satisfy.
var ConfigCheckers = []checkers.Checker{checkers.Torn{}, checkers.Recency{}, checkers.Replaced{}, checkers.Conflict{},
	checkers.Liveness{}, checkers.Quiescence{}, checkers.Tree{}, checkers.Steps{}}

// ConfigDir is the path of the configuration.
const ConfigDir = "/config"

// ConfigRounds makes a program that updates in one round and reads in the next while a cached reader follows. At the
// end the reader must catch up with the latest set. In a brief run leaders update, and followers read.
func ConfigRounds(
	names func(number int) []string, newConfig func(p *engine.Process) FullConfig,
) func(p *engine.Process) {
	return func(p *engine.Process) {
		c := newConfig(p)
		var f *follower
		if Follows(p) && tries(c) {
			f = follow(p, c)
			defer f.stop()
		}
		err := updateAndGet(p, c, names)
		if err == nil && f != nil {
			err = f.catchUp(c)
		}
		if err != nil {
			p.Fail(err)
		}
	}
}

// updateAndGet is what a client does round by round.
func updateAndGet(p *engine.Process, c FullConfig, names func(number int) []string) (err error) {
	o := p.Register(nil)
	for r := 0; r < p.Rounds && err == nil; r++ {
		if number := 100*p.ID + r/2; r%2 == 0 && Leads(p) {
			err = updateOnce(p, o, c, number, names(number))
		} else {
			err = getOnce(p, o, c)
		}
	}
	return err
}

// ConfigBusy makes a program in which one client updates once, and the others follow while they use their connection
// for something else.
func ConfigBusy(newConfig func(p *engine.Process) FullConfig) func(p *engine.Process) {
	return func(p *engine.Process) {
		c := newConfig(p)
		if p.ID == 1 {
			o := p.Register(nil)
			if err := updateOnce(p, o, c, 1, []string{"a", "b"}); err != nil {
				p.Fail(err)
			}
			return
		}
		f := follow(p, c)
		defer f.stop()
		for range p.Rounds {
			p.Conn.Exists(p.Path(ConfigDir)) // with whatever result
		}
		if err := f.catchUp(c); err != nil {
			p.Fail(err)
		}
	}
}

// ConfigFollowed makes a program in which one client updates in each round, and the others only follow. A value comes
// and goes.
func ConfigFollowed(newConfig func(p *engine.Process) FullConfig) func(p *engine.Process) {
	return func(p *engine.Process) {
		c := newConfig(p)
		if p.ID == 1 {
			o := p.Register(nil)
			Rounds(p, func(r int) error { return updateOnce(p, o, c, r+1, []string{"a", "b", "c"}[:3-r%2]) })
			return
		}
		f := follow(p, c)
		defer f.stop()
		Rest(p, Repeat(p, 4))
		if err := f.catchUp(c); err != nil {
			p.Fail(err)
		}
	}
}

// numbered returns the values of an update, as checkers.Torn recognizes them.
func numbered(number int, names []string) map[string][]byte {
	values := map[string][]byte{}
	for _, name := range names {
		values[name] = fmt.Appendf(nil, "%d/%d", number, len(names))
	}
	return values
}

// described returns a set in the form that checkers.Torn reads.
func described(values map[string][]byte) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all = append(all, name+"="+string(values[name]))
	}
	return strings.Join(all, " ")
}

// updateOnce makes one update. It returns only errors that a configuration must not have.
func updateOnce(p *engine.Process, o engine.Object, c FullConfig, number int, names []string) error {
	ctx, end := p.Interruptible()
	defer end()
	o.Record(history.Event{Kind: history.Invoke, Op: "update", Value: int64(number), Path: p.Path(ConfigDir)})
	err := c.Update(ctx, numbered(number, names))
	refused := errors.Is(err, recipes.ErrConfigChanged) || errors.Is(err, recipes.ErrConfigInvalid)
	o.Return("update", err, recipes.ErrConfigChanged, recipes.ErrConfigInvalid)
	if refused || errors.Is(err, recipes.ErrUnknownOutcome) {
		return nil
	}
	return IgnoreCanceled(err)
}

func getOnce(p *engine.Process, o engine.Object, c FullConfig) error {
	ctx, end := p.Interruptible()
	defer end()
	o.Invoke("get")
	values, zxid, err := c.Get(ctx)
	invalid := errors.Is(err, recipes.ErrConfigInvalid)
	o.Record(history.Event{Kind: history.Return, Op: "get", Path: described(values), Zxid: zxid, Err: err, OK: invalid})
	if invalid {
		return nil
	}
	return IgnoreCanceled(err)
}

// follower is a cached reader at work.
type follower struct {
	p      *engine.Process
	latest atomic.Int64  // the zxid of the last set
	heard  chan zk.Event // of a change of latest
	cancel context.CancelFunc
	ended  chan zk.Event
}

// follow starts a cached reader.
func follow(p *engine.Process, c FullConfig) *follower {
	ctx, cancel := context.WithCancel(context.Background())
	f := &follower{p: p, heard: make(chan zk.Event, 1), cancel: cancel, ended: make(chan zk.Event, 1)}
	o := p.Register(nil)
	p.Env.Go("follow", func() {
		err := c.Watch(ctx, func(values map[string][]byte, zxid int64) {
			o.Record(history.Event{Kind: history.Told, Op: "config", Path: described(values), Zxid: zxid})
			f.latest.Store(zxid)
			select {
			case f.heard <- zk.Event{}:
			default:
			}
		})
		o.Return("follow", err, context.Canceled)
		if IgnoreCanceled(err) != nil {
			p.Fail(err)
		}
		f.ended <- zk.Event{} //zksim:ignore made with room for it above
	})
	return f
}

// catchUp waits until the reader was told of the latest set. It gives up if there is no valid set: an updater may have
// died.
func (f *follower) catchUp(c FullConfig) (err error) {
	defer recipes.Forget(f.p.Env)(&err)
	for {
		recipes.Keep(f.p.Env, &f.heard, &f.latest) // which the reader sets
		// A watch is good for one connection, see recipes.CachedConfig.
		session := f.p.Env.SessionEvents()
		_, _, changed, _ := f.p.Conn.ExistsW(f.p.Path(ConfigDir)) // nil after an error
		_, zxid, err := c.Get(context.Background())
		if errors.Is(err, recipes.ErrConfigInvalid) || err == nil && f.latest.Load() >= zxid {
			return nil
		}
		if err != nil {
			return err
		}
		if changed != nil {
			f.p.Env.Await(context.Background(), f.heard, changed, session)
		}
	}
}

func (f *follower) stop() {
	f.cancel()
	f.p.Env.Await(context.Background(), f.ended)
}

// SometimesThree returns the names in an update, so that values come and go.
func SometimesThree(number int) []string {
	if number/100%2 == 1 {
		return []string{"a", "b"}
	}
	return []string{"a", "b", "c"}
}

// GoalFollowed is the goal that a cached reader continues after its session has ended.
var GoalFollowed = engine.Goal{Name: "a cached reader that goes on in a new session",
	Reached: func(h *history.History) bool {
		sessions, ends := map[int32]int{}, lineages{}
		for i := range h.Events {
			e := &h.Events[i]
			if ends.end(e) {
				sessions[e.Client]++
			}
			if e.Kind == history.Told && sessions[e.Client] > 0 {
				return true
			}
		}
		return false
	}}

// DiedUpdating reports whether a client crashed in an update that had changed something.
func DiedUpdating(h *history.History) bool {
	updating, begun := map[int32]bool{}, map[int32]bool{}
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Op == "update":
			updating[e.Client] = e.Kind == history.Invoke
			begun[e.Client] = false
		case e.Kind == history.Changed && updating[e.Client]:
			begun[e.Client] = true
		case e.Kind == history.Crashed && begun[e.Client]:
			return true
		}
	}
	return false
}
