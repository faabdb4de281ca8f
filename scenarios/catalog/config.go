package catalog

import (
	"bytes"
	"context"
	"maps"

	"github.com/go-zookeeper/zk"

	"zksim/internal/mutants"
	"zksim/model"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

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

func newConfig(p *engine.Process) workload.FullConfig {
	return atOnce{recipes.NewConfig(p.Conn, p.Env, p.Path(workload.ConfigDir), recipes.ConfigOptions{}), p}
}

func newFlaggedConfig(p *engine.Process) workload.FullConfig {
	return stepwise{recipes.NewFlaggedConfig(p.Conn, p.Env, p.Path(workload.ConfigDir), recipes.ConfigOptions{}), p}
}

// newMixedConfig has even clients update step by step, and odd ones at once.
func newMixedConfig(p *engine.Process) workload.FullConfig {
	if p.ID%2 == 0 {
		return newFlaggedConfig(p)
	}
	return newConfig(p)
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
	var c *recipes.CachedConfig
	last := int64(0)
	c = recipes.NewCachedConfig(p.Conn, p.Env, p.Path(workload.ConfigDir), func(set recipes.ConfigSet) {
		p.Always("a cached configuration tells each set that is later than the one before, and no other", set.Zxid > last)
		last = set.Zxid
		now := c.Get()
		p.Always("a cached configuration shows the set that it has just told", now.Zxid == set.Zxid &&
			maps.EqualFunc(now.Values, set.Values, bytes.Equal))
		told(set.Values, set.Zxid)
	})
	return c.Run(ctx)
}

func newBrokenConfig(f mutants.Flaw) func(p *engine.Process) workload.FullConfig {
	return func(p *engine.Process) workload.FullConfig {
		return mutants.NewConfig(p.Conn, p.Env, p.Path(workload.ConfigDir), f)
	}
}

// oneUpdater lets only the first client update.
func oneUpdater(newConfig func(p *engine.Process) workload.FullConfig) func(p *engine.Process) workload.FullConfig {
	return func(p *engine.Process) workload.FullConfig {
		if p.ID == 1 {
			return newConfig(p)
		}
		return reader{newConfig(p)}
	}
}

type reader struct{ workload.FullConfig }

func (reader) Update(context.Context, map[string][]byte) error { return nil }

// makeZnodes is a setup of persistent znodes: paths and their data in turn.
func makeZnodes(pathsAndData ...string) (setup []model.Request) {
	for i := 0; i < len(pathsAndData); i += 2 {
		setup = append(setup, model.Request{Op: model.OpCreate, Path: pathsAndData[i], Data: []byte(pathsAndData[i+1]),
			ACL: zk.WorldACL(zk.PermAll)})
	}
	return setup
}

// updatesAlone is a program of one updater, which nobody overtakes.
func updatesAlone(p *engine.Process) {
	if p.ID > 1 {
		return
	}
	c := recipes.NewFlaggedConfig(p.Conn, p.Env, p.Path(workload.ConfigDir), recipes.ConfigOptions{})
	updated := c.Update(background, map[string][]byte{"a": []byte("1")})
	p.Always("an update that is alone is not overtaken", updated != recipes.ErrConfigChanged)
	p.AtRest() // what was sent in an earlier session is executed by now, or never
	_, err := c.Get(background)
	p.Always("a configuration is valid when its last update has ended", updated != nil || err == nil)
}
