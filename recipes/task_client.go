package recipes

import (
	"bytes"
	"context"

	"github.com/go-zookeeper/zk"
)

// TaskClient submits tasks to a pool of workers: the client's role in the master-worker example of Junqueira and
// Reed, ZooKeeper (2013), without its holes. [Master] and [Worker] describe their parts of the protocol.
//
// # Protocol
//
//  1. To submit, create dir/_c_GUID-ticket, ephemeral. Then delete that and create status/TASK, the receipt, and
//     tasks/TASK with the data, in one multi; TASK is unique. If the answer is lost, look for the receipt, which only
//     the client deletes; if it is not there, try the multi again. If that fails because the ticket is gone, the
//     first try was executed meanwhile or the ticket's session has ended: look again.
//  2. To wait, read the receipt, leaving a watch, until it has a result.
//  3. To forget, delete the receipt, and with it tasks/TASK if it is still there.
//
// # What the text leaves out
//
// The book's client creates a sequential znode below tasks and, when the answer is lost, cannot tell whether it did;
// submitting again may double the task (mutant submit-twice). Looking for the name is not enough, because the task
// may have been assigned before the client is back. And if the client has a new session while the old one lives, a
// submission whose answer was lost may be executed after a second one, when the task has been done and forgotten. It
// would be done again, for nobody; the ticket prevents that.
//
// A task is reported done once. It may be executed more than once: a worker may end, or be taken for dead, after it
// has done the work and before it has reported.
//
// The receipt of a client that crashes stays. Any client that knows the task's ID can
// wait for it and forget it: see [TaskClient.Task].
//
// # Fan-out
//
// A submission notifies the master. A report notifies the clients that wait for
// that task.
//
// A TaskClient, with its tasks, is for one goroutine at a time.
type TaskClient struct {
	pool
	alarm alarm
}

// NewTaskClient returns a client of the pool on the znode dir, which must not be
// "/" and should be used for nothing else.
func NewTaskClient(conn Conn, env Env, dir string, opt PoolOptions) *TaskClient {
	return &TaskClient{pool: newPool(conn, env, dir, opt)}
}

// Submit hands in a task. The data must be 1 kB shorter than a packet may be (1 MB, unless jute.maxbuffer says
// otherwise): if the request that gives them to a worker is too long, the pool comes to a standstill. After an error,
// such as ctx's, there is no task, or it is being forgotten in the background; it may be executed all the same. But
// nobody forgets it if the connection is closed meanwhile.
func (c *TaskClient) Submit(ctx context.Context, data []byte) (task *Task, err error) {
	t := c.Task("task-" + c.env.UUID())
	defer Forget(c.env)(&t.id, &err)
	take := func(ctx context.Context) (string, error) { return c.ticket(ctx, c.dir, c.acl) }
	err = c.ticketed(ctx, take, creation{what: "task", prepare: c.makeFolders,
		done: func(ctx context.Context) (bool, error) { return c.exists(ctx, c.status(t.id)) },
		undo: func(ctx context.Context) { t.Forget(ctx) },
	}, func(ticket *zk.DeleteRequest) ([]zk.MultiResponse, error) {
		return c.on(ctx).Multi(ticket,
			&zk.CreateRequest{Path: c.status(t.id), Acl: c.acl},
			&zk.CreateRequest{Path: c.pool.task(t.id), Data: data, Acl: c.acl})
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Task returns the task with that ID, which was submitted before, perhaps by a client that has crashed.
func (c *TaskClient) Task(id string) *Task { return &Task{c.pool, &c.alarm, id} }

// Task is a task that was submitted.
type Task struct {
	pool
	alarm *alarm // of the client
	id    string
}

// ID returns the name of the task, which is unique.
func (t *Task) ID() string { return t.id }

// Wait waits until the task is done and returns the result. It returns
// ErrTaskGone when somebody has forgotten the task, and ctx's error when ctx is
// done first.
func (t *Task) Wait(ctx context.Context) (result []byte, err error) {
	defer Forget(t.env)(t.alarm, &result, &err)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		Keep(t.env, t.alarm)
		t.alarm.set(t.env)
		data, _, event, err := t.alarm.getW(t.on(ctx), t.status(t.id))
		if err == zk.ErrNoNode {
			// In a new session the server may lag behind the submission.
			err = t.fresh(ctx, func() (err error) {
				data, _, event, err = t.alarm.getW(t.on(ctx), t.status(t.id))
				return err
			}, &data, &event)
		}
		if _, result, done := bytes.Cut(data, []byte("\n")); done && err == nil {
			return result, nil
		}
		switch {
		case interrupted(err):
			err = t.again(ctx, err)
		case err == zk.ErrNoNode:
			err = ErrTaskGone
		case err == nil:
			err = t.alarm.awaitPath(ctx, t.env, t.status(t.id), event)
		}
		if err != nil {
			return nil, err
		}
	}
}

// Forget deletes what is left of the task once its result has been seen. A task that is not done is withdrawn: if no
// worker has it yet, probably none will get it.
func (t *Task) Forget(ctx context.Context) (err error) {
	defer Forget(t.env)(&err)
	err = t.multi(ctx,
		&zk.DeleteRequest{Path: t.task(t.id), Version: -1},
		&zk.DeleteRequest{Path: t.status(t.id), Version: -1})
	if err != zk.ErrNoNode {
		return err
	}
	return t.remove(ctx, t.status(t.id))
}
