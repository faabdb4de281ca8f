package catalog

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/internal/mutants"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// watchAtWork makes a program in which the first client watches several znodes, one for each round, and is busy with
// something else. The others create and change each znode once.
func watchAtWork(watching func(path string) workload.Watching) func(p *engine.Process) {
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
			o, stop := workload.Watch(p, watching(workload.WatchDir+item(r)))
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

// watchLagging makes a program in which the first client only watches, by watchers of all kinds, what the others change
// in each round. The last znode has a number in its name. Where the numbers end, only the number of children in its
// parent's stat shows it.
func watchLagging(watching ...workload.Watching) func(p *engine.Process) {
	return func(p *engine.Process) {
		if p.ID > 1 {
			workload.WriteOne(p, "+", "")
			for r := range p.Rounds {
				for _, write := range []string{"+/a", "=/a", "-/a", fmt.Sprintf("#/c%d-%d-", p.ID, r)} {
					workload.WriteOne(p, write, fmt.Sprintf("c%d %d", p.ID, r))
				}
			}
			return
		}
		var all []engine.Object
		var stops []func()
		for _, w := range watching {
			o, stop := workload.Watch(p, w)
			all, stops = append(all, o), append(stops, stop)
		}
		workload.Rest(p, workload.Repeat(p, 20), all...)
		for _, stop := range stops {
			stop()
		}
	}
}

// dataWatch is a watcher of the data of a znode.
func dataWatch(znode string) workload.Watching { return watchData(znode, false) }

// watchData is dataWatch, perhaps with a watcher that also reports its doubts.
func watchData(znode string, doubts bool) workload.Watching {
	return workload.Watching{Kind: checkers.WatchData, Path: znode,
		Run: func(ctx context.Context, p *engine.Process, o engine.Object) error {
			var opt recipes.WatchOptions
			if doubts {
				opt.Suspect = tellDoubts(o)
			}
			path := p.Path(znode)
			return recipes.NewDataWatch(p.Conn, p.Env, path, opt).Run(ctx, func(data []byte, stat *zk.Stat) bool {
				workload.TellData(o, path, data, stat)
				return true
			})
		}}
}

// tellDoubts returns a function that records the doubts of a watcher.
func tellDoubts(o engine.Object) func(bool) {
	return func(doubts bool) {
		o.Record(history.Event{Kind: history.Told, Op: checkers.ToldDoubt, OK: doubts})
	}
}

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
		return recipes.NewPatientChildrenWatch(p.Conn, workload.Settling(p, o), path, workload.SettleTime,
			recipes.WatchOptions{}).Run(ctx,
			func(names []string, stat *zk.Stat) bool {
				workload.TellChildren(o, path, names, stat)
				return true
			})
	}}

// childrenCache also asks for doubts, so that the requests for these are tried.
var childrenCache = workload.Watching{Kind: checkers.WatchCache, Path: workload.WatchDir,
	Run: func(ctx context.Context, p *engine.Process, o engine.Object) error {
		path := p.Path(workload.WatchDir)
		opt := recipes.WatchOptions{Suspect: func(bool) {}}
		tell := tellKinds(p, o, path)
		return recipes.NewChildrenCache(p.Conn, p.Env, path, opt).Run(ctx,
			func(_ []recipes.Child, changes []recipes.Change) bool {
				tell(changes)
				return true
			})
	}}

// tellKinds returns a function that records what a cache of children reports, and asserts the kind of each change.
func tellKinds(p *engine.Process, o engine.Object, path string) func(changes []recipes.Change) {
	made := map[string]int64{} // czxids of the children that were told
	return func(changes []recipes.Change) {
		for _, c := range changes {
			was, known := made[c.Name]
			switch c.Kind {
			case recipes.Removed:
				p.Always("only a child that was told is removed", known)
				delete(made, c.Name)
				continue
			case recipes.Added:
				p.Always("a child is added that was not there", !known)
			default:
				p.Always("a child that was made again is told as removed and added", was == c.Stat.Czxid)
			}
			made[c.Name] = c.Stat.Czxid
		}
		workload.TellChanges(o, path, changes)
	}
}

// remadeCache reports a child that was deleted and made again as updated.
var remadeCache = workload.Watching{Kind: checkers.WatchCache, Path: workload.WatchDir,
	Run: func(ctx context.Context, p *engine.Process, o engine.Object) error {
		path := p.Path(workload.WatchDir)
		return mutants.RunRemadeCache(ctx, p.Conn, p.Env, path, tellKinds(p, o, path))
	}}

// brokenPatientWatch reports a list without looking at it again.
var brokenPatientWatch = workload.Watching{Kind: checkers.WatchChildren, Path: workload.WatchDir,
	Run: func(ctx context.Context, p *engine.Process, o engine.Object) error {
		path := p.Path(workload.WatchDir)
		return mutants.NewPatientWatch(p.Conn, workload.Settling(p, o), path, workload.SettleTime).Run(ctx,
			func(names []string, stat *zk.Stat) { workload.TellChildren(o, path, names, stat) })
	}}

// brokenWatch is a watcher of data with a flaw.
func brokenWatch(f mutants.Flaw, path string) workload.Watching {
	return workload.Watching{Kind: checkers.WatchData, Path: path,
		Run: func(ctx context.Context, p *engine.Process, o engine.Object) error {
			path := p.Path(path)
			var suspect func(bool)
			if f == mutants.SureEarly {
				suspect = tellDoubts(o)
			}
			return mutants.NewDataWatch(p.Conn, p.Env, path, f, suspect).Run(ctx, func(data []byte, stat *zk.Stat) {
				workload.TellData(o, path, data, stat)
			})
		}}
}

// brokenCache is a cache of children that leaves too many watches. It reports all that it has read, and what is
// missing.
var brokenCache = workload.Watching{Kind: checkers.WatchCache, Path: workload.WatchDir,
	Run: func(ctx context.Context, p *engine.Process, o engine.Object) error {
		path := p.Path(workload.WatchDir)
		var before []recipes.Child
		return mutants.NewChildrenCache(p.Conn, p.Env, path).Run(ctx, func(now []recipes.Child) {
			for _, old := range before {
				if !slices.ContainsFunc(now, func(c recipes.Child) bool { return c.Name == old.Name }) {
					workload.TellData(o, path+"/"+old.Name, nil, nil)
				}
			}
			for _, c := range now {
				workload.TellData(o, path+"/"+c.Name, c.Data, c.Stat)
			}
			before = now
		})
	}}
