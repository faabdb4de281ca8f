package catalog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/recipes/broken"
	"zksim/scenarios/engine"
)

// configuration is a configuration under test.
type configuration interface {
	Get(ctx context.Context) (values map[string][]byte, zxid int64, err error)
	Update(ctx context.Context, values map[string][]byte) error
	Watch(ctx context.Context, told func(values map[string][]byte, zxid int64)) error
}

const configDir = "/config"

// configRounds makes a program that updates in one round and reads in the next while a
// cached reader follows. At the end the reader must catch up with what is then the
// latest. In a brief run leaders update, and followers read at leisure.
func configRounds(names func(number int) []string, newConfig func(p *engine.Process) configuration) func(p *engine.Process) {
	return func(p *engine.Process) {
		c := newConfig(p)
		var f *follower
		if follows(p) {
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
func updateAndGet(p *engine.Process, c configuration, names func(number int) []string) (err error) {
	o := p.Register(func() []string { return nil })
	for r := 0; r < p.Rounds && err == nil; r++ {
		if number := 100*p.ID + r/2; r%2 == 0 && leads(p) {
			err = updateOnce(p, o, c, number, names(number))
		} else {
			err = getOnce(p, o, c)
		}
	}
	return err
}

// configBusy makes a program in which one client updates once, and the others follow
// while they use their connection for something else.
func configBusy(newConfig func(p *engine.Process) configuration) func(p *engine.Process) {
	return func(p *engine.Process) {
		c := newConfig(p)
		if p.ID == 1 {
			o := p.Register(func() []string { return nil })
			if err := updateOnce(p, o, c, 1, []string{"a", "b"}); err != nil {
				p.Fail(err)
			}
			return
		}
		f := follow(p, c)
		defer f.stop()
		for range p.Rounds {
			p.Conn.Exists(p.Path(configDir)) // with whatever result
		}
		if err := f.catchUp(c); err != nil {
			p.Fail(err)
		}
	}
}

// numbered returns the values of an update, by which checkers.Torn knows it.
func numbered(number int, names []string) map[string][]byte {
	values := map[string][]byte{}
	for _, name := range names {
		values[name] = fmt.Appendf(nil, "%d/%d", number, len(names))
	}
	return values
}

// described is the set as checkers.Torn reads it.
func described(values map[string][]byte) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all = append(all, name+"="+string(values[name]))
	}
	return strings.Join(all, " ")
}

func updateOnce(p *engine.Process, o engine.Object, c configuration, number int, names []string) error {
	ctx, end := p.Interruptible()
	defer end()
	o.Record(history.Event{Kind: history.Invoke, Op: "update", Value: int64(number), Path: p.Path(configDir)})
	err := c.Update(ctx, numbered(number, names))
	refused := errors.Is(err, recipes.ErrConfigChanged) || errors.Is(err, recipes.ErrConfigInvalid)
	o.Return("update", err, refused)
	if refused || errors.Is(err, recipes.ErrUnknownOutcome) {
		return nil
	}
	return ignoreCanceled(err)
}

func getOnce(p *engine.Process, o engine.Object, c configuration) error {
	ctx, end := p.Interruptible()
	defer end()
	o.Invoke("get")
	values, zxid, err := c.Get(ctx)
	invalid := errors.Is(err, recipes.ErrConfigInvalid)
	o.Record(history.Event{Kind: history.Return, Op: "get", Path: described(values), Zxid: zxid, Err: err, OK: invalid})
	if invalid {
		return nil
	}
	return ignoreCanceled(err)
}

// follower is a cached reader at work.
type follower struct {
	p      *engine.Process
	latest atomic.Int64  // zxid it was told last
	heard  chan zk.Event // of a change of latest
	cancel context.CancelFunc
	ended  chan zk.Event
}

// follow starts a cached reader.
func follow(p *engine.Process, c configuration) *follower {
	ctx, cancel := context.WithCancel(context.Background())
	f := &follower{p: p, heard: make(chan zk.Event, 1), cancel: cancel, ended: make(chan zk.Event, 1)}
	o := p.Register(func() []string { return nil })
	p.Env.Go("follow", func() {
		err := c.Watch(ctx, func(values map[string][]byte, zxid int64) {
			o.Record(history.Event{Kind: history.Told, Op: "config", Path: described(values), Zxid: zxid})
			f.latest.Store(zxid)
			select {
			case f.heard <- zk.Event{}:
			default:
			}
		})
		o.Return("follow", err, errors.Is(err, context.Canceled))
		if ignoreCanceled(err) != nil {
			p.Fail(err)
		}
		f.ended <- zk.Event{} //zksim:ignore made with room for it above
	})
	return f
}

// catchUp waits until the reader was told of what is the latest set. It gives up
// when there is none, as an updater may have died.
func (f *follower) catchUp(c configuration) (err error) {
	defer f.p.Env.Forget()(&err)
	for {
		f.p.Env.Keep(&f.heard)
		session := f.p.Env.SessionEvents()                        // a watch is good for one connection, see recipes.CachedConfig
		_, _, changed, _ := f.p.Conn.ExistsW(f.p.Path(configDir)) // nil after an error
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

// atOnce and stepwise are the two recipes as configurations.
type (
	atOnce struct {
		*recipes.Config
		p *engine.Process
	}
	stepwise struct {
		*recipes.FlaggedConfig
		p *engine.Process
	}
)

func newConfig(p *engine.Process) configuration {
	return atOnce{recipes.NewConfig(p.Conn, p.Env, p.Path(configDir), recipes.ConfigOptions{}), p}
}

func newFlaggedConfig(p *engine.Process) configuration {
	return stepwise{recipes.NewFlaggedConfig(p.Conn, p.Env, p.Path(configDir), recipes.ConfigOptions{}), p}
}

func (c atOnce) Get(ctx context.Context) (map[string][]byte, int64, error) {
	set, err := c.Config.Get(ctx)
	return set.Values, set.Zxid, err
}

func (c atOnce) Update(ctx context.Context, values map[string][]byte) error {
	base, err := c.Config.Get(ctx)
	if err != nil {
		return err
	}
	return c.Config.Update(ctx, base, values)
}

func (c atOnce) Watch(ctx context.Context, told func(values map[string][]byte, zxid int64)) error {
	return watchCached(ctx, c.p, told)
}

func (c stepwise) Get(ctx context.Context) (map[string][]byte, int64, error) {
	set, err := c.FlaggedConfig.Get(ctx)
	return set.Values, set.Zxid, err
}

func (c stepwise) Watch(ctx context.Context, told func(values map[string][]byte, zxid int64)) error {
	return watchCached(ctx, c.p, told)
}

func watchCached(ctx context.Context, p *engine.Process, told func(values map[string][]byte, zxid int64)) error {
	return recipes.NewCachedConfig(p.Conn, p.Env, p.Path(configDir), func(set recipes.ConfigSet) { told(set.Values, set.Zxid) }).Run(ctx)
}

func newBrokenConfig(f broken.Flaw) func(p *engine.Process) configuration {
	return func(p *engine.Process) configuration { return broken.NewConfig(p.Conn, p.Env, p.Path(configDir), f) }
}

// oneUpdater makes all clients but the first leave updates alone.
func oneUpdater(newConfig func(p *engine.Process) configuration) func(p *engine.Process) configuration {
	return func(p *engine.Process) configuration {
		if p.ID == 1 {
			return newConfig(p)
		}
		return reader{newConfig(p)}
	}
}

type reader struct{ configuration }

func (reader) Update(context.Context, map[string][]byte) error { return nil }

// makeZnodes is a setup of persistent znodes: paths and their data in turn.
func makeZnodes(pathsAndData ...string) (setup []model.Request) {
	for i := 0; i < len(pathsAndData); i += 2 {
		setup = append(setup, model.Request{Op: model.OpCreate, Path: pathsAndData[i], Data: []byte(pathsAndData[i+1]), ACL: zk.WorldACL(zk.PermAll)})
	}
	return setup
}
