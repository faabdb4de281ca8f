package catalog

import (
	"context"
	"fmt"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/recipes"
	"zksim/scenarios/catalog/mutants"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// watchAtWork makes a program in which the first client watches several znodes,
// each of which the others make and change once, and is busy with something else. There
// is one for each round.
func watchAtWork(f mutants.Flaw) func(p *engine.Process) {
	return func(p *engine.Process) {
		item := func(r int) string { return fmt.Sprintf("/%d", r+1) }
		if p.ID > 1 {
			workload.WriteOne(p, "+", "")
			for r := range p.Rounds {
				workload.WriteOne(p, "+"+item(r), "old")
			}
			for r := range p.Rounds {
				for range workload.Repeat(p, 8) {
					workload.WriteOne(p, "=", "")
				}
				workload.WriteOne(p, "="+item(r), "new")
			}
			return
		}
		var all []engine.Object
		var stops []func()
		for r := range p.Rounds {
			o, stop := workload.Watch(p, brokenWatch(f, workload.WatchDir+item(r)))
			all, stops = append(all, o), append(stops, stop)
		}
		for range workload.Repeat(p, 150) {
			workload.WriteOne(p, "=", "")
		}
		workload.Rest(p, workload.Repeat(p, 20), all...)
		for _, stop := range stops {
			stop()
		}
	}
}

var dataWatch = workload.Watching{Kind: checkers.WatchData, Path: workload.WatchItem,
	Run: func(ctx context.Context, p *engine.Process, o engine.Object) error {
		path := p.Path(workload.WatchItem)
		return recipes.NewDataWatch(p.Conn, p.Env, path, recipes.WatchOptions{}).Run(ctx,
			func(data []byte, stat *zk.Stat) bool {
				workload.TellData(o, path, data, stat)
				return true
			})
	}}

var childrenWatch = workload.Watching{Kind: checkers.WatchChildren, Path: workload.WatchDir,
	Run: func(ctx context.Context, p *engine.Process, o engine.Object) error {
		path := p.Path(workload.WatchDir)
		return recipes.NewChildrenWatch(p.Conn, p.Env, path, recipes.WatchOptions{}).Run(ctx,
			func(names []string, stat *zk.Stat) bool {
				workload.TellChildren(o, path, names, stat)
				return true
			})
	}}

var patientWatch = workload.Watching{Kind: checkers.WatchChildren, Path: workload.WatchDir,
	Run: func(ctx context.Context, p *engine.Process, o engine.Object) error {
		path := p.Path(workload.WatchDir)
		return recipes.NewPatientChildrenWatch(p.Conn, p.Env, path, workload.SettleTime, recipes.WatchOptions{}).Run(ctx,
			func(names []string, stat *zk.Stat) bool {
				workload.TellChildren(o, path, names, stat)
				return true
			})
	}}

// childrenCache asks for doubts as well, so that their requests are tried, too.
var childrenCache = workload.Watching{Kind: checkers.WatchCache, Path: workload.WatchDir,
	Run: func(ctx context.Context, p *engine.Process, o engine.Object) error {
		path := p.Path(workload.WatchDir)
		opt := recipes.WatchOptions{Suspect: func(bool) {}}
		return recipes.NewChildrenCache(p.Conn, p.Env, path, opt).Run(ctx,
			func(_ []recipes.Child, changes []recipes.Change) bool {
				workload.TellChanges(o, path, changes)
				return true
			})
	}}

// brokenWatch is a watcher of data with a flaw.
func brokenWatch(f mutants.Flaw, path string) workload.Watching {
	return workload.Watching{Kind: checkers.WatchData, Path: path,
		Run: func(ctx context.Context, p *engine.Process, o engine.Object) error {
			path := p.Path(path)
			return mutants.NewDataWatch(p.Conn, p.Env, path, f).Run(ctx, func(data []byte, stat *zk.Stat) {
				workload.TellData(o, path, data, stat)
			})
		}}
}
