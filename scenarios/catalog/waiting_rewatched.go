package catalog

import (
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// rewatching has one kind of waiter after another wait, and then makes it happen on another connection while bystanders
// read on the first. The library sets its watches again after these reads, and only for what follows their answers.
func rewatching(p *engine.Process) {
	a, by, ok := onTwo(p)
	if !ok {
		return
	}
	for round := range p.Rounds {
		a.after = fmt.Sprint("-", round)
		w := waits{alone: a, by: by}
		parts := []func() func(){w.config, w.votes, w.item, w.task, w.group, w.leader, w.settled, w.work, w.shut}
		end, ended := parts[a.p.Choose(len(parts))](), false
		workload.Steps(p, 10)
		for range 3 {
			p.Env.Go("bystander", func() {
				for n := 0; n < 40 && !ended; n++ {
					p.Conn.Exists(a.dir)
				}
			})
		}
		end()
		ended = true
	}
	by.p.Conn.Close()
}

// votes does vote for several transactions at once.
func (a waits) votes() func() {
	var ends []func()
	for i := range 3 {
		b := a
		b.after = fmt.Sprint(a.after, "-", i)
		ends = append(ends, b.vote())
	}
	return oneByOne(ends)
}

// item has consumers wait, each on an empty queue of its own.
func (a waits) item() func() {
	var told []func() error
	path := func(i int) string { return a.path(fmt.Sprint("item-", i)) }
	for i := range 3 {
		told = append(told, a.background("consumer", answer(fifo(a.p, path(i)).Take)))
	}
	return func() {
		for i, wait := range told {
			a.fine(fifo(a.by.p, path(i)).Put(background, nil), "Queue.Put")
			a.fine(wait(), "Queue.Take that has waited")
		}
	}
}

// shut has clients wait for barriers.
func (a waits) shut() func() {
	var told []func() error
	at := func(p *engine.Process, i int) *recipes.Barrier {
		return recipes.NewBarrier(p.Conn, p.Env, a.path(fmt.Sprint("barrier-", i)), recipes.BarrierOptions{})
	}
	for i := range 3 {
		a.fine(at(a.by.p, i).Hold(background), "Barrier.Hold")
		told = append(told, a.background("waiter", at(a.p, i).Wait))
	}
	return func() {
		for i, wait := range told {
			a.fine(at(a.by.p, i).Release(background), "Barrier.Release")
			a.fine(wait(), "Barrier.Wait that has waited")
		}
	}
}

// leader has a client wait for a leader where there was one before.
func (a waits) leader() func() {
	e := candidate(a.by.p, a.path("leader"))
	acknowledge := func() {
		for {
			a.fine(e.Campaign(background), "Election.Campaign")
			if e.Acknowledge(background) == nil {
				return
			}
			a.fine(e.Resign(background), "Election.Resign of who could not acknowledge")
		}
	}
	acknowledge()
	a.fine(e.Resign(background), "Election.Resign")
	told := a.background("client", answer(candidate(a.p, a.path("leader")).AwaitLeader))
	return func() {
		acknowledge()
		a.fine(told(), "Election.AwaitLeader that has waited")
		a.fine(e.Resign(background), "Election.Resign of the second leader")
	}
}

// settled has a watcher wait for children that have settled.
func (a waits) settled() func() {
	dir := a.path("settled")
	a.create(dir, "")
	told := a.background("watcher", func(ctx context.Context) error {
		return recipes.NewPatientChildrenWatch(a.p.Conn, a.p.Env, dir, time.Second, recipes.WatchOptions{}).Run(ctx,
			func(names []string, _ *zk.Stat) bool { return len(names) == 0 })
	})
	return func() {
		a.by.create(dir+"/child", "")
		a.fine(told(), "PatientChildrenWatch.Run until there is a child")
	}
}

// work has a worker wait for its second task.
func (a waits) work() func() {
	dir := a.path("work")
	end := a.running("master", "Master.Run until it is cancelled", func(ctx context.Context) error {
		return recipes.NewMaster(a.by.p.Conn, a.by.p.Env, dir, recipes.PoolOptions{}).Run(ctx)
	})
	w := workerOf(a.p, dir)
	submit := func() {
		_, err := tasksOf(a.by.p, dir).Submit(background, nil)
		a.fine(err, "TaskClient.Submit")
	}
	submit()
	a.fine(doTask(background, w), "Worker.Done")
	told := a.background("worker", func(ctx context.Context) error { return doTask(ctx, w) })
	return func() {
		submit()
		a.fine(told(), "Worker.Next that has waited")
		a.fine(w.Leave(background), "Worker.Leave")
		end()
	}
}
