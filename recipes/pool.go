package recipes

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// ErrTaskGone is returned by Wait when the task has been forgotten. Done returns it when the task is no longer this
// worker's: the worker was taken for dead and the task given to another, or the client has forgotten the task.
var ErrTaskGone = errors.New("recipes: the task is gone")

// PoolOptions are the options of the three roles of a master-worker pool. The
// zero value is fine.
type PoolOptions struct {
	ACL []zk.ACL // of the znodes made; nil: everything for everybody
}

// pool is where the three roles, [TaskClient], [Master] and [Worker], meet:
//
//	dir/status/TASK          the receipt: empty, or the worker that has done it and the result
//	dir/tasks/TASK           a task that awaits a worker
//	dir/assign/WORKER/TASK   a task that a worker has to do
//	dir/workers/WORKER       ephemeral: a worker that lives
//	dir/masters              the election of the master
//
// Names of tasks and workers are unique and never come again. A task that is not done has one znode, in tasks or
// below assign, and a multi moves it.
type pool struct {
	session
	dir string
	acl []zk.ACL
}

func newPool(conn Conn, env Env, dir string, opt PoolOptions) pool {
	return pool{session{conn, env}, dir, open(opt.ACL)}
}

func (p pool) status(task string) string   { return p.dir + "/status/" + task }
func (p pool) task(task string) string     { return p.dir + "/tasks/" + task }
func (p pool) worker(worker string) string { return p.dir + "/workers/" + worker }

func (p pool) assigned(worker string) string { return p.dir + "/assign/" + worker }

// makeFolders creates the pool's folders that are missing.
func (p pool) makeFolders(ctx context.Context) error {
	for _, name := range []string{"status", "tasks", "assign", "workers"} {
		if err := p.makePath(ctx, p.dir+"/"+name, p.acl); err != nil {
			return err
		}
	}
	return nil
}

// multi executes a multi, and tries again until its outcome is known.
func (p pool) multi(ctx context.Context, ops ...any) (err error) {
	defer Forget(p.env)(&err)
	return p.retry(ctx, func() error {
		_, err := p.on(ctx).Multi(ops...)
		return err
	})
}
