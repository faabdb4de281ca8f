package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/internal/zkserver/zkservertest"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/sim"
)

// The roles of an actor in the pool /pool.
func (a actor) client() *recipes.TaskClient {
	return recipes.NewTaskClient(a.Conn, a.env, "/pool", recipes.PoolOptions{})
}

func (a actor) worker() *recipes.Worker {
	return recipes.NewWorker(a.Conn, a.env, "/pool", recipes.PoolOptions{})
}

// master runs a master until the function that it returns is called.
func (a actor) master() (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan zk.Event, 1)
	a.env.Go("master", func() {
		m := recipes.NewMaster(a.Conn, a.env, "/pool", recipes.PoolOptions{})
		a.is("Run", m.Run(ctx), context.Canceled)
		if len(m.Znodes()) > 0 {
			a.t.Errorf("the master knows of %v", m.Znodes())
		}
		ended <- zk.Event{}
	})
	return func() {
		cancel()
		a.env.Await(context.Background(), ended)
	}
}

// submit hands in a task.
func (a actor) submit(c *recipes.TaskClient, data string) *recipes.Task {
	a.t.Helper()
	t, err := c.Submit(ctx, []byte(data))
	a.is("Submit", err, nil)
	return t
}

// work does the next task, which must have that data.
func (a actor) work(w *recipes.Worker, data string) recipes.Assignment {
	a.t.Helper()
	got, err := w.Next(ctx)
	if err != nil || data != "" && string(got.Data) != data {
		a.t.Errorf("Next: %q, %v; want %q", got.Data, err, data)
	}
	return got
}

// results reports a result other than want.
func (a actor) results(t *recipes.Task, want string) {
	a.t.Helper()
	if result, err := t.Wait(ctx); err != nil || string(result) != want {
		a.t.Errorf("Wait: %q, %v; want %q", result, err, want)
	}
}

// poolIsEmpty reports what is in the pool besides its folders.
func poolIsEmpty(t *testing.T, h *history.History) {
	t.Helper()
	nothingLeft(t, h)
	for _, n := range h.Tree {
		if strings.Contains(n.Path, "/task-") || strings.Contains(n.Path, "/workers/") {
			t.Errorf("left behind: %s", n.Path)
		}
	}
}

func TestATaskIsDoneAndForgotten(t *testing.T) {
	h := play(t, nil, func(a actor) {
		stop := a.master()
		w := a.worker()
		if w.Znodes() != nil {
			a.t.Errorf("a new worker knows of %v", w.Znodes())
		}
		a.is("Leave before Next", w.Leave(ctx), nil)
		task := a.submit(a.client(), "add")
		got := a.work(w, "add")
		if got.ID != task.ID() || len(w.Znodes()) != 1 {
			a.t.Errorf("%+v; the task is %s; the worker has %v", got, task.ID(), w.Znodes())
		}
		if again := a.work(w, "add"); again.ID != got.ID {
			a.t.Errorf("Next before Done is %+v", again)
		}
		a.is("Done", w.Done(ctx, got, []byte("sum\nof all")), nil)
		a.is("Done again", w.Done(ctx, got, []byte("other")), nil)
		a.results(task, "sum\nof all")
		a.results(a.client().Task(task.ID()), "sum\nof all")
		a.is("Forget", task.Forget(ctx), nil)
		a.is("Forget again", task.Forget(ctx), nil)
		_, err := task.Wait(ctx)
		a.is("Wait for a forgotten task", err, recipes.ErrTaskGone)
		a.is("Leave", w.Leave(ctx), nil)
		a.is("Leave again", w.Leave(ctx), nil)
		stop()
	})
	poolIsEmpty(t, h)
}

func TestAnEmptyResultIsAResult(t *testing.T) {
	play(t, nil, func(a actor) {
		defer a.master()()
		w := a.worker()
		task := a.submit(a.client(), "")
		a.is("Done", w.Done(ctx, a.work(w, ""), nil), nil)
		a.results(task, "")
		a.is("Leave", w.Leave(ctx), nil)
	})
}

func TestAWithdrawnTaskIsReportedByNobody(t *testing.T) {
	h := play(t, nil, func(a actor) {
		stop := a.master()
		w := a.worker()
		c := a.client()
		task := a.submit(c, "add")
		got := a.work(w, "add")
		a.is("Forget", task.Forget(ctx), nil)
		a.is("Done", w.Done(ctx, got, []byte("5")), recipes.ErrTaskGone)
		a.is("Leave", w.Leave(ctx), nil)
		stop()
		early := a.submit(c, "nobody sees it")
		a.is("Forget", early.Forget(ctx), nil)
	})
	poolIsEmpty(t, h)
}

func TestALostAnswerDoublesNoTask(t *testing.T) {
	for _, fault := range []string{"lose-reply c1", "lose-request c1"} {
		play(t, nil, func(a actor) {
			c := a.client()
			a.is("Forget", a.submit(c, "for the folders").Forget(ctx), nil)
			a.wanted = append(a.wanted, fault)
			task := a.submit(c, "add")
			names, _, err := a.Children("/pool/tasks")
			if err != nil || !slices.Equal(names, []string{task.ID()}) {
				a.t.Errorf("%v, %v; want %s", names, err, task.ID())
			}
		})
	}
}

// A report whose answer was lost is recognized, by its worker and after it was
// taken back.
func TestALostAnswerDoublesNoReport(t *testing.T) {
	for _, fault := range []string{"lose-reply c1", "lose-request c1"} {
		play(t, nil, func(a actor) {
			w := a.worker()
			got := a.work(w, "add")
			a.wanted = append(a.wanted, fault)
			a.is("Done", w.Done(ctx, got, []byte("5")), nil)
			a.is("Leave", w.Leave(ctx), nil)
		}, func(a actor) {
			defer a.master()()
			a.results(a.submit(a.client(), "add"), "5")
		})
	}
}

func TestASubmissionThatWasGivenUpLeavesNothing(t *testing.T) {
	done, cancel := context.WithCancel(ctx)
	cancel()
	h := play(t, nil, func(a actor) {
		c := a.client()
		_, err := c.Submit(done, nil)
		a.is("Submit with a done context", err, context.Canceled)
		task := a.submit(c, "add")
		_, err = task.Wait(done)
		a.is("Wait with a done context", err, context.Canceled)
		soon, end := a.env.WithTimeout(ctx, time.Second)
		_, err = task.Wait(soon)
		a.is("Wait with a timeout", err, context.DeadlineExceeded)
		end()
		a.is("Forget", task.Forget(ctx), nil)

		halfway, stop := context.WithCancel(ctx)
		a.wanted = append(a.wanted, "lose-reply c1")
		a.env.Go("impatient", func() {
			a.until(func() bool { return len(a.wanted) == 0 })
			stop()
		})
		if task, err := c.Submit(halfway, []byte("add")); err == nil {
			a.is("Forget", task.Forget(ctx), nil)
		}
		stop()
	})
	poolIsEmpty(t, h)
}

func TestTheTasksOfAWorkerThatEndsGoToAnother(t *testing.T) {
	for name, end := range map[string]func(a actor, w *recipes.Worker){
		"leaves": func(a actor, w *recipes.Worker) { a.is("Leave", w.Leave(ctx), nil) },
		"closes": func(a actor, w *recipes.Worker) { a.Close() },
		"expires, and comes back": func(a actor, w *recipes.Worker) {
			before := w.Znodes()
			a.happen("learn-late c1")
			a.until(func() bool { return a.State() == zk.StateHasSession && a.SessionID() != 0 })
			a.until(func() bool {
				soon, cancel := a.env.WithTimeout(ctx, time.Second)
				w.Next(soon) // perhaps it gets the task again, under a new name
				cancel()
				return !slices.Equal(w.Znodes(), before)
			})
			a.is("Leave", w.Leave(ctx), nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			var held, ended bool
			h := play(t, func(*sim.World) { held, ended = false, false }, func(a actor) {
				w := a.worker()
				got := a.work(w, "add")
				held = true
				end(a, w)
				ended = true
				if name != "closes" {
					a.until(func() bool { ok, _, err := a.Exists("/pool/assign/" + got.Worker); return !ok && err == nil })
					if err := w.Done(ctx, got, []byte("mine")); err != recipes.ErrTaskGone {
						a.t.Errorf("Done for a task that was taken back: %v", err)
					}
				}
			}, func(a actor) {
				stop := a.master()
				task := a.submit(a.client(), "add")
				a.until(func() bool { return held && ended })
				w := a.worker()
				a.is("Done", w.Done(ctx, a.work(w, "add"), []byte("theirs")), nil)
				a.results(task, "theirs")
				a.is("Forget", task.Forget(ctx), nil)
				a.is("Leave", w.Leave(ctx), nil)
				a.until(func() bool { names, _, err := a.Children("/pool/assign"); return len(names) == 0 && err == nil })
				stop()
			})
			poolIsEmpty(t, h)
		})
	}
}

func TestAWorkerThatLeavesInAHurryLeavesNothing(t *testing.T) {
	done, cancel := context.WithCancel(ctx)
	cancel()
	for _, fault := range []string{"", "lose-request c1", "lose-reply c1"} {
		h := play(t, nil, func(a actor) {
			w := a.worker()
			soon, end := a.env.WithTimeout(ctx, time.Second)
			_, err := w.Next(soon)
			end()
			a.is("Next with a timeout", err, context.DeadlineExceeded)
			if fault != "" {
				a.wanted = append(a.wanted, fault)
			}
			a.is("Leave with a done context", quietly(w.Leave(done)), nil)
			if len(w.Znodes()) > 0 {
				a.t.Errorf("knows of %v", w.Znodes())
			}
			// While the session lives, so that its end does not clean up.
			a.until(func() bool {
				names, _, err := a.Children("/pool/workers")
				return len(names) == 0 && (err == nil || err == zk.ErrNoNode)
			})
		})
		poolIsEmpty(t, h)
	}
}

// What an operator deletes makes a worker register anew, and loses no task.
func TestAWorkerWhoseZnodesAreDeletedRegistersAnew(t *testing.T) {
	for _, folder := range []string{"/pool/workers/", "/pool/assign/"} {
		var first string
		h := play(t, func(*sim.World) { first = "" }, func(a actor) {
			w := a.worker()
			got := a.work(w, "one")
			first = got.Worker
			a.is("Done", w.Done(ctx, got, nil), nil)
			got = a.work(w, "two")
			if got.Worker == first {
				a.t.Errorf("still %s", first)
			}
			a.is("Done", w.Done(ctx, got, nil), nil)
			a.is("Leave", w.Leave(ctx), nil)
		}, func(a actor) {
			stop := a.master()
			c := a.client()
			one := a.submit(c, "one")
			a.results(one, "")
			a.until(func() bool { return first != "" })
			a.is("Delete", a.Delete(folder+first, -1), nil)
			two := a.submit(c, "two")
			a.results(two, "")
			a.is("Forget", errors.Join(one.Forget(ctx), two.Forget(ctx)), nil)
			stop()
		})
		poolIsEmpty(t, h)
	}
}

func TestABackupTakesOver(t *testing.T) {
	var assigned, crashed bool
	h := play(t, func(*sim.World) { assigned, crashed = false, false }, func(a actor) {
		a.master()
		a.until(func() bool { return assigned })
		crashed = true
		a.happen("crash c1")
	}, func(a actor) {
		w, c := a.worker(), a.client()
		one := a.submit(c, "one")
		got := a.work(w, "one")
		assigned = true
		a.until(func() bool { return crashed })
		defer a.master()()
		two := a.submit(c, "two")
		a.is("Done", w.Done(ctx, got, []byte("1")), nil)
		a.is("Done", w.Done(ctx, a.work(w, "two"), []byte("2")), nil)
		a.results(one, "1")
		a.results(two, "2")
		a.is("Leave", w.Leave(ctx), nil)
	})
	if len(left(h)) > 1 { // of the one that crashed
		t.Errorf("left behind: %v", left(h))
	}
}

func TestADeposedMasterCampaignsAgain(t *testing.T) {
	candidates := func(a actor) []string {
		names, _, _ := a.Children("/pool/masters/candidates")
		return names
	}
	play(t, nil, func(a actor) {
		defer a.master()()
		a.until(func() bool { return len(candidates(a)) == 1 })
		first := candidates(a)
		a.is("Delete", a.Delete("/pool/masters/candidates/"+first[0], -1), nil)
		a.until(func() bool { now := candidates(a); return len(now) == 1 && now[0] != first[0] })
	})
}

func TestPoolsKeepTheirACLAndTellWhoHasNoPermission(t *testing.T) {
	mine := zk.DigestACL(zk.PermAll, "me", "secret")
	ready := false
	play(t, func(*sim.World) { ready = false }, func(a actor) {
		a.is("AddAuth", a.AddAuth("digest", []byte("me:secret")), nil)
		opt := recipes.PoolOptions{ACL: mine}
		stop, cancel := context.WithCancel(ctx)
		a.env.Go("master", func() {
			a.is("Run", recipes.NewMaster(a.Conn, a.env, "/apps/pool", opt).Run(stop), context.Canceled)
		})
		task, err := recipes.NewTaskClient(a.Conn, a.env, "/apps/pool", opt).Submit(ctx, []byte("add"))
		a.is("Submit", err, nil)
		w := recipes.NewWorker(a.Conn, a.env, "/apps/pool", opt)
		got := a.work(w, "add")
		for _, path := range []string{"/apps/pool", "/apps/pool/status/" + task.ID(), w.Znodes()[0], "/apps/pool/assign/" +
			got.Worker + "/" + got.ID} {
			if acl, _, err := a.GetACL(path); err != nil || !slices.Equal(acl, mine) {
				a.t.Errorf("%s: %v, %v", path, acl, err)
			}
		}
		a.is("Done", w.Done(ctx, got, nil), nil)
		a.is("Leave", w.Leave(ctx), nil)
		ready = true
		cancel()
	}, func(a actor) {
		a.until(func() bool { return ready })
		opt := recipes.PoolOptions{}
		_, err := recipes.NewTaskClient(a.Conn, a.env, "/apps/pool", opt).Submit(ctx, nil)
		a.is("Submit by a stranger", err, zk.ErrNoAuth)
		_, err = recipes.NewWorker(a.Conn, a.env, "/apps/pool", opt).Next(ctx)
		a.is("Next by a stranger", err, zk.ErrNoAuth)
		a.is("Run by a stranger", recipes.NewMaster(a.Conn, a.env, "/apps/pool", opt).Run(ctx), zk.ErrNoAuth)
	})
}

func TestCloseEndsAllRoles(t *testing.T) {
	closed := func(a actor, what string, err error) {
		if err != zk.ErrClosing && err != zk.ErrConnectionClosed {
			a.t.Errorf("%s: %v", what, err)
		}
	}
	h := play(t, nil, func(a actor) {
		task := a.submit(a.client(), "add")
		a.env.Go("master", func() {
			closed(a, "Run", recipes.NewMaster(a.Conn, a.env, "/pool", recipes.PoolOptions{}).Run(ctx))
		})
		a.env.Go("client", func() {
			_, err := task.Wait(ctx)
			closed(a, "Wait", err)
		})
		w := a.worker()
		a.work(w, "add")
		a.env.Go("closer", func() {
			a.until(func() bool { return a.random.IntN(40) == 0 })
			a.Close()
		})
		var err error
		for err == nil {
			_, err = w.Next(ctx)
		}
		closed(a, "Next", err)
		closed(a, "Leave", w.Leave(ctx))
	})
	nothingLeft(t, h)
}

func TestAStablePoolPilesUpNothing(t *testing.T) {
	w := sim.NewWorld()
	defer w.Close()
	const tasks = 300
	w.Reset(sim.Config{Clients: 1, SafetySteps: 1e7, MaxSteps: 1e7}, nil, func(c *sim.Client) {
		env, conn := &counting{Env: c.Env()}, watching{c.Conn(), map[string]int{}}
		stop, cancel := context.WithCancel(ctx)
		env.Go("master", func() { recipes.NewMaster(conn, env, "/pool", recipes.PoolOptions{}).Run(stop) })
		worker := recipes.NewWorker(conn, env, "/pool", recipes.PoolOptions{})
		env.Go("worker", func() {
			for a, err := worker.Next(stop); err == nil; a, err = worker.Next(stop) {
				if err := worker.Done(ctx, a, nil); err != nil {
					t.Error(err)
				}
			}
			worker.Leave(ctx)
		})
		client := recipes.NewTaskClient(conn, env, "/pool", recipes.PoolOptions{})
		for range tasks {
			task, err := client.Submit(ctx, nil)
			if err == nil {
				_, err = task.Wait(ctx)
			}
			if err != nil {
				t.Error(err)
			}
		}
		if n := env.pending(); n > 5 {
			t.Errorf("%d channels wait for a change of state, of %d", n, len(env.asked))
		}
		if n := conn.left["/pool/workers"]; n > 3 {
			t.Errorf("%d watches on the workers, who did not change", n)
		}
		cancel()
	})
	if err := w.Run(&sim.Replay{}); err != nil {
		t.Fatal(err)
	}
}

func TestARealPoolDoesAllTasksOnce(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	ctx := bounded(t)
	stop, cancel := context.WithCancel(ctx)
	const workers, tasks = 4, 40
	ended := make(chan error)
	for range workers {
		c := dial(t, addrs)
		go func() {
			if err := recipes.NewMaster(c, c.Env(), "/pool", recipes.PoolOptions{}).Run(stop); !errors.Is(err,
				context.Canceled) {
				t.Error(err)
			}
			ended <- nil
		}()
		go func() {
			w := recipes.NewWorker(c, c.Env(), "/pool", recipes.PoolOptions{})
			for {
				a, err := w.Next(stop)
				if err != nil {
					ended <- w.Leave(ctx)
					return
				}
				if err := w.Done(ctx, a, append(a.Data, " done"...)); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	c := dial(t, addrs)
	client := recipes.NewTaskClient(c, c.Env(), "/pool", recipes.PoolOptions{})
	var all []*recipes.Task
	for i := range tasks {
		task, err := client.Submit(ctx, fmt.Append(nil, i))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, task)
	}
	for i, task := range all {
		result, err := task.Wait(ctx)
		if err := errors.Join(err, task.Forget(ctx)); err != nil || string(result) != fmt.Sprintf("%d done", i) {
			t.Errorf("task %d: %q, %v", i, result, err)
		}
	}
	cancel()
	for range 2 * workers {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	for _, folder := range []string{"status", "tasks", "workers", "masters/candidates"} {
		if names, _, err := c.Children("/pool/" + folder); err != nil || len(names) > 0 {
			t.Errorf("%s: %v, %v", folder, names, err)
		}
	}
}

// ExampleTaskClient shows the three roles, in one process of the simulator. With
// a real ensemble conn and env come from live.Dial, and nothing else changes.
func ExampleTaskClient() {
	program := func(conn recipes.Conn, env recipes.Env) error {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		opt := recipes.PoolOptions{}
		env.Go("master", func() { recipes.NewMaster(conn, env, "/pool", opt).Run(ctx) })
		env.Go("worker", func() {
			worker := recipes.NewWorker(conn, env, "/pool", opt)
			defer worker.Leave(context.Background())
			for {
				a, err := worker.Next(ctx)
				if err != nil {
					return
				}
				result := strings.ToUpper(string(a.Data)) // the work
				if err := worker.Done(ctx, a, []byte(result)); err != nil && err != recipes.ErrTaskGone {
					return
				}
			}
		})
		task, err := recipes.NewTaskClient(conn, env, "/pool", opt).Submit(ctx, []byte("hello"))
		if err != nil {
			return err
		}
		result, err := task.Wait(ctx)
		if err != nil {
			return err
		}
		fmt.Println(string(result))
		return task.Forget(ctx)
	}
	world := sim.NewWorld()
	defer world.Close()
	world.Reset(sim.Config{Clients: 1}, nil, func(c *sim.Client) {
		if err := program(c.Conn(), c.Env()); err != nil {
			fmt.Println(err)
		}
	})
	if err := world.Run(&sim.Replay{}); err != nil {
		fmt.Println(err)
	}
	// Output: HELLO
}

// belated is a Conn that takes the first submission for lost, executes it when the folders are made, and has the caller
// give up then.
type belated struct {
	recipes.Conn
	lost   bool
	try    []any
	giveUp func()
}

func (c *belated) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if len(ops) == 3 && !c.lost {
		c.lost, c.try = true, ops
		return nil, zk.ErrConnectionClosed
	}
	return c.Conn.Multi(ops...)
}

func (c *belated) Create(path string, data []byte, flags int32, acl []zk.ACL) (string, error) {
	made, err := c.Conn.Create(path, data, flags, acl)
	if path == "/pool/tasks" && c.try != nil {
		c.Conn.Multi(c.try...)
		c.try = nil
		c.giveUp()
	}
	return made, err
}

func TestATaskThatIsGivenUpIsForgottenWhenAnEarlierTryIsExecuted(t *testing.T) {
	h := play(t, nil, func(a actor) {
		ctx, cancel := context.WithCancel(ctx)
		c := recipes.NewTaskClient(&belated{Conn: a.Conn, giveUp: cancel}, a.env, "/pool", recipes.PoolOptions{})
		_, err := c.Submit(ctx, nil)
		a.is("Submit", err, context.Canceled)
	})
	poolIsEmpty(t, h)
}
