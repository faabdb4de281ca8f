package catalog

import (
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/scenarios/engine"
)

// frugalWatchers checks that what watchers keep does not grow from change to change.
func (a alone) frugalWatchers() {
	ctx, cancel := context.WithCancel(background)
	var ends []func() error
	watching := func(name string, run func(p *engine.Process, dir string) error, change func(dir string)) usage {
		return usage{name, func(p *engine.Process, dir string) func(ctx context.Context) error {
			a.create(dir, "")
			a.create(dir+"/child", "")
			ends = append(ends, a.background(name, func(context.Context) error { return run(p, dir) }))
			return func(context.Context) error {
				change(dir)
				a.p.AtRest()
				return nil
			}
		}}
	}
	var opt recipes.WatchOptions
	names := func([]string, *zk.Stat) bool { return true }
	kids := func([]recipes.Child, []recipes.Change) bool { return true }
	n := 0
	comes := func(dir string) {
		n++
		a.create(fmt.Sprint(dir, "/", n), "")
	}
	updates := func(dir string) {
		a.fine(flaggedIn(a.p, dir).Update(background, map[string][]byte{"a": nil}), "FlaggedConfig.Update")
	}
	a.frugal(
		watching("DataWatch.Run", func(p *engine.Process, dir string) error {
			return recipes.NewDataWatch(p.Conn, p.Env, dir, opt).Run(ctx, func([]byte, *zk.Stat) bool { return true })
		}, func(dir string) { a.write(dir) }),
		watching("ChildrenWatch.Run", func(p *engine.Process, dir string) error {
			return recipes.NewChildrenWatch(p.Conn, p.Env, dir, opt).Run(ctx, names)
		}, comes),
		watching("PatientChildrenWatch.Run", func(p *engine.Process, dir string) error {
			return recipes.NewPatientChildrenWatch(p.Conn, p.Env, dir, time.Second, opt).Run(ctx, names)
		}, comes),
		watching("ChildrenCache.Run", func(p *engine.Process, dir string) error {
			return recipes.NewChildrenCache(p.Conn, p.Env, dir, opt).Run(ctx, kids)
		}, func(dir string) { a.write(dir + "/child") }),
		watching("CachedConfig.Run", func(p *engine.Process, dir string) error {
			return recipes.NewCachedConfig(p.Conn, p.Env, dir, nil).Run(ctx)
		}, updates),
		watching("Master.Run", func(p *engine.Process, dir string) error {
			return known(a.p, masterOf(p, dir)).Run(ctx)
		}, func(dir string) {
			_, err := tasksOf(a.p, dir).Submit(background, nil)
			a.fine(err, "TaskClient.Submit")
		}),
		watching("Monitor.Run", func(p *engine.Process, dir string) error {
			return recipes.NewMonitor(p.Conn, p.Env, dir, recipes.MonitorOptions{Limit: time.Hour}).Run(ctx)
		}, comes))
	cancel()
	for _, end := range ends {
		a.with(context.Canceled, end(), "a watcher until it is cancelled")
	}
}

// write sets a znode, perhaps more than once.
func (a alone) write(path string) {
	a.patiently("set", func() error {
		_, err := a.p.Conn.Set(path, nil, -1)
		return err
	})
}
