package catalog

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/mutants"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// The roles of a master-worker pool under test.
type (
	submitter func(ctx context.Context, data []byte) (task, error)
	task      interface {
		ID() string
		Wait(ctx context.Context) ([]byte, error)
		Forget(ctx context.Context) error
	}
	taskMaster interface {
		Run(ctx context.Context) error
		Znodes() []string
	}
	taskWorker interface {
		Next(ctx context.Context) (recipes.Assignment, error)
		Done(ctx context.Context, a recipes.Assignment, result []byte) error
		Leave(ctx context.Context) error
		Znodes() []string
	}
)

const poolDir = "/pool"

// roles are the roles that a process plays.
type roles struct {
	submit submitter
	master taskMaster
	worker taskWorker
}

func newPool(p *engine.Process) roles {
	dir := p.Path(poolDir)
	client := recipes.NewTaskClient(p.Conn, p.Env, dir, recipes.PoolOptions{})
	return roles{func(ctx context.Context, data []byte) (task, error) { return client.Submit(ctx, data) },
		recipes.NewMaster(p.Conn, p.Env, dir, recipes.PoolOptions{}),
		recipes.NewWorker(p.Conn, p.Env, dir, recipes.PoolOptions{})}
}

func newBrokenPool(f mutants.Flaw) func(p *engine.Process) roles {
	return func(p *engine.Process) roles {
		dir := p.Path(poolDir)
		client := mutants.NewTaskClient(p.Conn, p.Env, dir, f)
		return roles{func(ctx context.Context, data []byte) (task, error) { return client.Submit(ctx, data) },
			mutants.NewMaster(p.Conn, p.Env, dir, f), mutants.NewWorker(p.Conn, p.Env, dir, f)}
	}
}

// poolOf makes a program in which every process plays all roles, so that a survivor needs nobody else. Odd processes
// submit a task in every other round, even ones in the rounds between. A process ends its master and its worker when
// its own tasks are done, or after a while if it has none; tasks that its worker has left go to others. In a brief run,
// where only leaders have tasks, followers are only workers.
func poolOf(newRoles func(p *engine.Process) roles) func(p *engine.Process) {
	return func(p *engine.Process) {
		ctx, stop := context.WithCancel(context.Background())
		r := newRoles(p)
		var ends []<-chan zk.Event
		if workload.Leads(p) {
			p.Register(r.master.Znodes)
			ends = append(ends, play(p, "master", func() error { return r.master.Run(ctx) }))
		}
		o := p.Register(r.worker.Znodes)
		ends = append(ends, play(p, "worker", func() error { return doTasks(ctx, p, o, r.worker) }))
		if err := submitAndWait(p, r.submit, (p.Rounds+p.ID%2)/2); err != nil {
			p.Fail(err)
		}
		stop()
		for _, ended := range ends {
			p.Env.Await(context.Background(), ended)
		}
	}
}

// play starts a role, which runs until it is canceled. The channel that it returns fires when the role has ended.
func play(p *engine.Process, role string, f func() error) (ended <-chan zk.Event) {
	end := make(chan zk.Event, 1)
	p.Env.Go(role, func() {
		defer recipes.Forget(p.Env)()
		if err := f(); !errors.Is(err, context.Canceled) {
			p.Fail(err)
		}
		end <- zk.Event{}
	})
	return end
}

// succession makes a program in which every process is only a master or a backup, until the tasks of successionSetup
// have their workers.
func succession(newRoles func(p *engine.Process) roles) func(p *engine.Process) {
	return func(p *engine.Process) {
		ctx, stop := context.WithCancel(context.Background())
		m := newRoles(p).master
		p.Register(m.Znodes)
		ended := play(p, "master", func() error { return m.Run(ctx) })
		for assigned := false; !assigned; {
			recipes.Keep(p.Env)
			p.Env.Sleep(context.Background(), time.Second)
			waiting, _, err := p.Conn.Children(p.Path(poolDir + "/tasks"))
			assigned = err == nil && len(waiting) == 0
		}
		stop()
		p.Env.Await(context.Background(), ended)
	}
}

// withReader adds a goroutine that reads, so that there is always a request waiting for a reconnect.
func withReader(program func(p *engine.Process)) func(p *engine.Process) {
	return func(p *engine.Process) {
		p.Env.Go("reader", func() {
			for range workload.Repeat(p, 40) {
				p.Conn.Exists(p.Path(poolDir))
			}
		})
		program(p)
	}
}

// submitAndWait is the part of a client.
func submitAndWait(p *engine.Process, submit submitter, count int) error {
	if count == 0 {
		p.Env.Sleep(context.Background(), time.Second)
	}
	o := p.Register(nil)
	tasks := map[int64]task{}
	for i := range count {
		value := taskNumber(p.ID, i)
		ctx, end := p.Interruptible()
		o.Record(history.Event{Kind: history.Invoke, Op: "submit", Value: value})
		t, err := submit(ctx, []byte(strconv.FormatInt(value, 10)))
		end()
		if err != nil {
			o.Record(history.Event{Kind: history.Return, Op: "submit", Value: value, Err: err})
			if !errors.Is(err, context.Canceled) {
				return err
			}
			continue
		}
		o.Record(history.Event{Kind: history.Return, Op: "submit", Value: value, Path: t.ID()})
		tasks[value] = t
	}
	for i := range count {
		value := taskNumber(p.ID, i)
		t := tasks[value]
		if t == nil {
			continue
		}
		o.Record(history.Event{Kind: history.Invoke, Op: "wait", Value: value, Path: t.ID()})
		result, err := t.Wait(context.Background())
		if err == nil && string(result) != "done "+strconv.FormatInt(value, 10) {
			err = errors.New("the result of another task: " + string(result))
		}
		o.Record(history.Event{Kind: history.Return, Op: "wait", Value: value, Path: t.ID(), Err: err})
		if err == nil && value%2 == 0 {
			o.Record(history.Event{Kind: history.Invoke, Op: "forget", Value: value, Path: t.ID()})
			err = t.Forget(context.Background())
			o.Record(history.Event{Kind: history.Return, Op: "forget", Value: value, Path: t.ID(), Err: err})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// taskNumber numbers the n-th task of a client. No two tasks have one number, as with the items of queues.
func taskNumber(client, n int) int64 { return int64(n/100*100_000 + client*100 + n%100) }

// doTasks is the part of a worker. It ends with ctx's error.
func doTasks(ctx context.Context, p *engine.Process, o engine.Object, w taskWorker) error {
	for {
		recipes.Keep(p.Env, w)
		a, err := w.Next(ctx)
		if err != nil {
			if left := w.Leave(context.Background()); left != nil {
				return left
			}
			return err
		}
		value, err := strconv.ParseInt(string(a.Data), 10, 64)
		if err != nil {
			return err
		}
		e := history.Event{Op: "task", Value: value, Path: a.ID}
		e.Kind = history.Told
		o.Record(e)
		p.Env.Sleep(context.Background(), time.Second) // the work
		e.Kind, e.Op, e.Path = history.Invoke, "done", a.Worker+"/"+a.ID
		o.Record(e)
		e.Err = w.Done(context.Background(), a, []byte("done "+string(a.Data)))
		e.Kind, e.OK = history.Return, errors.Is(e.Err, recipes.ErrTaskGone)
		o.Record(e)
		if e.Err != nil && !e.OK {
			return e.Err
		}
	}
}

var poolSetup = func() []model.Request {
	var all []model.Request
	for _, folder := range []string{"", "/status", "/tasks", "/assign", "/workers", "/masters", "/masters/candidates"} {
		all = append(all, engine.Mkdir(poolDir+folder))
	}
	return all
}()

// successionSetup is a pool with a task that waits, a task whose worker has ended, and a worker that nobody has to keep
// alive.
var successionSetup = append(slices.Clip(poolSetup), makeZnodes(
	poolDir+"/status/task-1", "", poolDir+"/status/task-2", "",
	poolDir+"/assign/worker-0", "", poolDir+"/assign/worker-0/task-1", "1",
	poolDir+"/tasks/task-2", "2",
	poolDir+"/assign/worker-1", "", poolDir+"/workers/worker-1", "")...)

// poolCheckers is everything that every pool must satisfy.
var poolCheckers = []checkers.Checker{checkers.Tasks{}, checkers.StaleLeader{}, checkers.Liveness{},
	checkers.Quiescence{}, checkers.Tree{}, checkers.Steps{}}

var poolFaults = append(faults.Contract(),
	faults.Rule{Fault: "sequence", Budget: 2, Aim: faults.Aim{Path: poolDir + "/masters/candidates"}})

// poolScenario is what all scenarios of pools have in common.
func poolScenario(s engine.Scenario) engine.Scenario {
	s.Checkers = poolCheckers
	if s.Setup == nil {
		s.Setup = poolSetup
	}
	s = workload.WithDefaults(s, 3)
	if s.Program == nil {
		s.Program, s.Rounds = poolOf(newBrokenPool(mutants.Flaw(s.Notes().Number))), 4
	}
	return s
}
