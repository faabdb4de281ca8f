package recipes

import (
	"context"
	"slices"

	"github.com/go-zookeeper/zk"
)

// Master gives the tasks of a pool to its workers: the master's role in the
// master-worker example of Junqueira and Reed, ZooKeeper (2013), without its
// holes. Any number of processes may run one; the others are backups.
//
// # Protocol
//
//  1. Campaign in the election on dir/masters. Every write of the steps below is
//     a multi with a check that its own candidate is still there.
//  2. List assign; then tasks and workers, leaving watches. The order matters: a worker registers in assign and
//     workers at once, so one that is in assign and then not in workers has ended.
//  3. Take back the tasks of workers that have ended: create tasks/TASK and delete assign/WORKER/TASK, in one multi.
//     Delete the empty assign/WORKER.
//  4. Give each task to a worker in turn: create assign/WORKER/TASK and delete
//     tasks/TASK, in one multi with a check that workers/WORKER is there.
//  5. Wait for a watch and go to 2. When the leadership is lost, go to 1.
//
// A multi that fails because a znode has gone needs no second attempt: whatever
// deleted that znode also fires one of the watches, or takes the leadership.
//
// # What the text leaves out
//
// The book's master assigns in two calls: create assign/WORKER/TASK, then delete tasks/TASK. If it ends between them,
// its successor assigns the task again (mutant two-calls). And nothing stops a master that was paused, or cut off,
// from going on after its successor has begun (mutant old-master): hence the check in step 1. The check is needed
// wherever a decision rests on more than its own multi checks: here on whose turn it is, elsewhere on limits,
// priorities or state in memory. It costs one small operation in a request that is made anyway.
//
// # Fan-out
//
// A master's end notifies one backup.
//
// A Master is for one goroutine at a time.
type Master struct {
	pool
	election *Election
	turn     int // counts assignments, to take workers in turn
}

// NewMaster returns a master, or backup, for the pool on the znode dir.
func NewMaster(conn Conn, env Env, dir string, opt PoolOptions) *Master {
	return &Master{pool: newPool(conn, env, dir, opt),
		election: NewElection(conn, env, dir+"/masters", ElectionOptions{ACL: opt.ACL})}
}

// Run is a backup until it becomes the master, and the master until it loses the leadership, over and over, until ctx
// is done; then it resigns and returns ctx's error. Errors of ZooKeeper that waiting does not cure, such as
// zk.ErrNoAuth, are returned as they are, and zk.ErrClosing after the connection was closed.
func (m *Master) Run(ctx context.Context) (err error) {
	defer Forget(m.env)(&m.turn, &m.election.nodes, &m.election.held, &m.election.alarm, &err)
	for {
		Keep(m.env, &m.turn, &m.election.nodes, &m.election.held, &m.election.alarm)
		if err := m.election.Campaign(ctx); err != nil {
			return err
		}
		err := m.lead(ctx)
		if resigned := m.election.Resign(ctx); err == nil {
			err = resigned
		}
		if err != nil {
			return err
		}
	}
}

// Znodes returns the paths of the ephemeral znodes that the object answers for.
func (m *Master) Znodes() []string { return m.election.Znodes() }

// lead does the master's work. It returns nil when the leadership is lost.
func (m *Master) lead(ctx context.Context) (err error) {
	defer Forget(m.env)(&m.turn, &err)
	var tasks, workers <-chan zk.Event
	for {
		Keep(m.env, &m.turn, &tasks, &workers)
		err := m.round(ctx, &tasks, &workers)
		switch {
		case err == zk.ErrNoNode:
			err = m.makeFolders(ctx)
		case interrupted(err), err == errGone:
			return nil
		case err == nil:
			var i int
			i, _, err = m.env.Await(ctx, m.election.Lost(), tasks, workers)
			switch i {
			case 0:
				return nil
			case 1:
				tasks = nil
			case 2:
				workers = nil
			}
		}
		if err != nil {
			return err
		}
	}
}

// round does what there is to do, and renews the watches that have fired.
func (m *Master) round(ctx context.Context, tasks, workers *<-chan zk.Event) error {
	assign, _, err := m.on(ctx).Children(m.dir + "/assign")
	if err != nil {
		return err
	}
	waiting, err := m.list(ctx, "/tasks", tasks)
	if err != nil {
		return err
	}
	alive, err := m.list(ctx, "/workers", workers)
	if err != nil {
		return err
	}
	for _, worker := range assign {
		if _, lives := slices.BinarySearch(alive, worker); !lives {
			if err := m.takeBack(ctx, worker); err != nil {
				return err
			}
		}
	}
	for _, task := range waiting {
		if err := ctx.Err(); err != nil || len(alive) == 0 {
			return err
		}
		if err := m.assign(ctx, task, alive[m.turn%len(alive)]); err != nil {
			return err
		}
		m.turn++
	}
	return nil
}

// list lists a folder. It leaves a watch unless there is one that has not fired, because each takes up memory until
// it fires.
func (m *Master) list(ctx context.Context, folder string, event *<-chan zk.Event) (names []string, err error) {
	if *event != nil {
		names, _, err = m.on(ctx).Children(m.dir + folder)
	} else {
		names, _, *event, err = m.on(ctx).ChildrenW(m.dir + folder)
	}
	slices.Sort(names)
	return names, err
}

// assign gives a task to a worker.
func (m *Master) assign(ctx context.Context, task, worker string) error {
	return m.move(ctx, m.pool.task(task), m.assigned(worker)+"/"+task,
		&zk.CheckVersionRequest{Path: m.worker(worker), Version: -1})
}

// takeBack returns the tasks of a worker that has ended to those that wait for a worker.
func (m *Master) takeBack(ctx context.Context, worker string) (err error) {
	defer Forget(m.env)(&err)
	tasks, _, err := m.on(ctx).Children(m.assigned(worker))
	if err == zk.ErrNoNode {
		return nil
	}
	for _, task := range tasks {
		if err == nil {
			err = m.move(ctx, m.assigned(worker)+"/"+task, m.pool.task(task))
		}
	}
	if err != nil {
		return err
	}
	return m.write(ctx, &zk.DeleteRequest{Path: m.assigned(worker), Version: -1})
}

// move moves the znode of a task, unless it is gone.
func (m *Master) move(ctx context.Context, from, to string, checks ...any) (err error) {
	defer Forget(m.env)(&err)
	data, _, err := m.on(ctx).Get(from)
	if err == zk.ErrNoNode {
		return nil
	}
	if err != nil {
		return err
	}
	return m.write(ctx, append(checks,
		&zk.CreateRequest{Path: to, Data: data, Acl: m.acl},
		&zk.DeleteRequest{Path: from, Version: -1})...)
}

// write executes a multi. It returns errGone if this is no longer the master, or if the session has changed state:
// then its candidate may still be there, but the lists may come from different sessions, and the later list may show
// an older state. It is no error if another znode is gone or a folder is not empty.
func (m *Master) write(ctx context.Context, ops ...any) error {
	if m.election.shaken() {
		return errGone
	}
	answers, err := m.on(ctx).Multi(append([]any{m.election.Check()}, ops...)...)
	switch {
	case err == zk.ErrNoNode && len(answers) > 0 && answers[0].Error != nil:
		return errGone
	case err == zk.ErrNoNode, err == zk.ErrNotEmpty:
		return nil
	}
	return err
}
