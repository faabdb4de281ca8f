package mutants

import (
	"bytes"
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// TaskClient is a client of a pool, with the flaw SubmitTwice, WatchAlone or none.
type TaskClient struct {
	*recipes.TaskClient
	conn recipes.Conn
	env  recipes.Env
	dir  string
	flaw Flaw
}

// NewTaskClient returns a client of the pool on dir with the given flaw.
func NewTaskClient(conn recipes.Conn, env recipes.Env, dir string, flaw Flaw) *TaskClient {
	return &TaskClient{recipes.NewTaskClient(conn, env, dir, recipes.PoolOptions{}), conn, env, dir, flaw}
}

// Submit submits a task.
func (c *TaskClient) Submit(ctx context.Context, data []byte) (t *Task, err error) {
	defer recipes.Forget(c.env)(&t, &err)
	id := "task-" + c.env.UUID()
	for {
		recipes.Keep(c.env, &id)
		_, err := c.conn.Multi(
			&zk.CreateRequest{Path: c.dir + "/status/" + id, Acl: everybody},
			&zk.CreateRequest{Path: c.dir + "/tasks/" + id, Data: data, Acl: everybody})
		switch {
		case err == nil, err == zk.ErrNodeExists:
			return &Task{c.Task(id), c}, nil
		case !interrupted(err):
			return nil, err
		case c.flaw == SubmitTwice:
			id = "task-" + c.env.UUID()
		}
	}
}

// Task is a task that was submitted.
type Task struct {
	*recipes.Task
	client *TaskClient
}

// Wait waits until the task is done.
func (t *Task) Wait(ctx context.Context) (result []byte, err error) {
	if t.client.flaw != WatchAlone {
		return t.Task.Wait(ctx)
	}
	defer recipes.Forget(t.client.env)(&result, &err)
	for {
		recipes.Keep(t.client.env)
		data, _, event, err := t.client.conn.GetW(t.client.dir + "/status/" + t.ID())
		if interrupted(err) {
			continue
		}
		if _, result, done := bytes.Cut(data, []byte("\n")); done || err != nil {
			return result, err
		}
		if _, _, err := t.client.env.Await(ctx, event); err != nil {
			return nil, err
		}
	}
}

// Worker is a worker of a pool, with the flaw TwoReports or none.
type Worker struct {
	*recipes.Worker
	conn recipes.Conn
	dir  string
	flaw Flaw
}

// NewWorker returns a worker of the pool on dir with the given flaw.
func NewWorker(conn recipes.Conn, env recipes.Env, dir string, flaw Flaw) *Worker {
	return &Worker{recipes.NewWorker(conn, env, dir, recipes.PoolOptions{}), conn, dir, flaw}
}

// Done reports a task.
func (w *Worker) Done(ctx context.Context, a recipes.Assignment, result []byte) error {
	if w.flaw != TwoReports {
		return w.Worker.Done(ctx, a, result)
	}
	_, err := w.conn.Set(w.dir+"/status/"+a.ID, append([]byte(a.Worker+"\n"), result...), -1)
	if err == nil {
		err = w.conn.Delete(w.dir+"/assign/"+a.Worker+"/"+a.ID, -1)
	}
	if errors.Is(err, zk.ErrNoNode) || interrupted(err) {
		return recipes.ErrTaskGone // Next gives it again if that is not so
	}
	return err
}
