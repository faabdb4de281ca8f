package recipes

import (
	"bytes"
	"context"
	"slices"

	"github.com/go-zookeeper/zk"
)

// Worker does the tasks that the master of a pool gives it: the worker's role in
// the master-worker example of Junqueira and Reed, ZooKeeper (2013), without its
// holes.
//
// # Protocol
//
//  1. To register, create assign/WORKER and then workers/WORKER, the latter ephemeral, in one multi; WORKER is
//     unique.
//  2. List assign/WORKER, leaving a watch, and make sure that workers/WORKER is
//     there and of the present session. If either is gone, start over with
//     another name.
//  3. Do the tasks one by one. To report, write its own name and the result to status/TASK and delete
//     assign/WORKER/TASK, in one multi.
//  4. If that fails because the assignment is gone, either an earlier attempt was executed, which status/TASK tells,
//     or the task is no longer this worker's.
//
// # What the text leaves out
//
// If a worker reports in two calls and ends between them, another worker reports again (mutant two-reports). A worker
// that comes back with its old name would take its former tasks for its own while the master gives them to others, so
// names never come again.
//
// # Fan-out
//
// An assignment notifies one worker. A worker's coming and going notifies the
// master.
//
// A Worker is for one goroutine at a time.
type Worker struct {
	pool
	name  string // "" while not registered; set before the znodes are made
	alarm alarm
	// unsure: the registration was given up and may still be executed.
	unsure bool
}

// Assignment is a task for a worker.
type Assignment struct {
	ID     string // of the task
	Data   []byte
	Worker string // the name to which it was given
}

// NewWorker returns a worker of the pool on the znode dir.
func NewWorker(conn Conn, env Env, dir string, opt PoolOptions) *Worker {
	return &Worker{pool: newPool(conn, env, dir, opt)}
}

// Next waits for a task. It registers the worker if it is not registered. Until Done is called for a task, Next may
// return the same one again.
//
// When ctx is done first it returns ctx's error; the worker stays registered,
// and gets tasks, until Leave.
func (w *Worker) Next(ctx context.Context) (next Assignment, err error) {
	defer Forget(w.env)(&w.name, &w.unsure, &w.alarm, &next, &err)
	for {
		Keep(w.env, &w.name, &w.unsure, &w.alarm)
		if err := w.register(ctx); err != nil {
			return Assignment{}, err
		}
		a, event, err := w.first(ctx)
		switch {
		case err == nil && event == nil:
			return a, nil
		case err == nil:
			err = w.alarm.await(ctx, w.env, event)
		case interrupted(err):
			err = w.again(ctx, err)
		case err == errGone && w.unsure:
			w.removeLater("worker", w.worker(w.name))
			w.name, err = "", nil
		case err == errGone:
			if err = w.remove(ctx, w.worker(w.name)); err == nil { // perhaps gone only for this session
				w.name = ""
			}
		}
		if err != nil {
			return Assignment{}, err
		}
	}
}

func (w *Worker) register(ctx context.Context) error {
	if w.name != "" {
		return ctx.Err()
	}
	w.name, w.unsure = "worker-"+w.env.UUID(), true
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := w.multi(ctx,
			&zk.CreateRequest{Path: w.assigned(w.name), Acl: w.acl},
			&zk.CreateRequest{Path: w.worker(w.name), Acl: w.acl, Flags: zk.FlagEphemeral})
		if err == nil || err == zk.ErrNodeExists { // by an earlier try
			w.unsure = false
			return nil
		}
		if err != zk.ErrNoNode {
			return err
		}
		if err := w.makeFolders(ctx); err != nil {
			return err
		}
	}
}

// first returns the first task or, if there is none, an event that fires when one comes, or errGone if the
// registration has ended.
func (w *Worker) first(ctx context.Context) (a Assignment, event <-chan zk.Event, err error) {
	defer Forget(w.env)(&w.alarm, &a, &event, &err)
	w.alarm.set(w.env)
	names, event, err := w.assignments(ctx)
	if err == zk.ErrNoNode {
		return a, nil, errGone
	}
	if err != nil {
		return a, nil, err
	}
	ok, stat, err := w.on(ctx).Exists(w.worker(w.name))
	if err == nil && (!ok || stat.EphemeralOwner != w.conn.SessionID()) {
		err = errGone
	}
	if err != nil || len(names) == 0 {
		return a, event, err
	}
	a = Assignment{ID: slices.Min(names), Worker: w.name}
	a.Data, _, err = w.on(ctx).Get(w.assigned(w.name) + "/" + a.ID)
	if err == zk.ErrNoNode {
		return a, event, nil // taken away: the event has come
	}
	return a, nil, err
}

// assignments lists the worker's tasks, leaving a watch unless there is one.
func (w *Worker) assignments(ctx context.Context) (names []string, event <-chan zk.Event, err error) {
	path := w.assigned(w.name)
	if event = w.alarm.watch(path); event != nil {
		names, _, err = w.on(ctx).Children(path)
		return names, event, err
	}
	if names, _, event, err = w.on(ctx).ChildrenW(path); err == nil {
		w.alarm.leave(path, event)
	}
	return names, event, err
}

// Done reports that a task is done, with the result. It returns ErrTaskGone when the task was no longer this
// worker's, so that another report counts. When ctx is done before the outcome is known, it returns ctx's error.
func (w *Worker) Done(ctx context.Context, a Assignment, result []byte) (err error) {
	defer Forget(w.env)(&err)
	path := w.assigned(a.Worker) + "/" + a.ID
	report := append([]byte(a.Worker+"\n"), result...)
	err = w.multi(ctx,
		&zk.DeleteRequest{Path: path, Version: -1},
		&zk.SetDataRequest{Path: w.status(a.ID), Data: report, Version: -1})
	if err != zk.ErrNoNode {
		return err
	}
	var status []byte
	err = w.fresh(ctx, func() (err error) {
		status, _, err = w.on(ctx).Get(w.status(a.ID))
		return err
	}, &status)
	if err == zk.ErrNoNode {
		err = w.remove(ctx, path) // forgotten
	}
	if err == nil && !bytes.HasPrefix(status, []byte(a.Worker+"\n")) {
		err = ErrTaskGone
	}
	return err
}

// Leave ends the registration; the tasks that the worker has go to others. It returns nil when workers/WORKER is
// certainly gone. When ctx is done before that, it returns ctx's error and goes on in the background. If an answer
// was lost when the worker registered, a try that is executed late, in a session that was given up, may create
// workers/WORKER again; tasks that it is then given go to others when that session ends.
func (w *Worker) Leave(ctx context.Context) (err error) {
	defer Forget(w.env)(&w.name, &w.unsure, &err)
	if w.name == "" {
		return nil
	}
	path := w.worker(w.name)
	w.name = ""
	if w.unsure {
		var failed error
		ended := w.cleanUp("worker", func(ctx context.Context) { failed = w.remove(ctx, path) })
		if _, _, err = w.env.Await(ctx, ended); err == nil {
			err = failed
		}
		return err
	}
	err = w.remove(ctx, path)
	if err != nil && ctx.Err() != nil {
		w.abandon(ctx, "worker", path)
	}
	return err
}

// Znodes returns the paths of the ephemeral znodes that the object answers for.
func (w *Worker) Znodes() []string {
	if w.name == "" {
		return nil
	}
	return []string{w.worker(w.name)}
}
