package mutants

import (
	"context"
	"errors"
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// The flaws of master-worker pools. The numbers are those of docs/museum.md.
const (
	// TwoCalls assigns in two calls: create, then delete. A master that ends in between leaves a task that its
	// successor assigns again.
	TwoCalls Flaw = 31
	// SubmitTwice submits a task again when the answer is lost.
	SubmitTwice Flaw = 32
	// OldMaster writes without checking its own candidate, and checks only between rounds whether it leads. After a
	// pause it goes on assigning.
	OldMaster Flaw = 33
	// TwoReports reports in two calls: the result, then the end of the assignment. After a crash in between, the task
	// is done again.
	TwoReports Flaw = 122
	// ForgottenWorker never looks for the tasks of workers that have ended.
	ForgottenWorker Flaw = 123
	// WatchAlone waits for a task with only a watch. The watch never fires if a request that waited for a reconnect is
	// answered and the connection is lost again before go-zookeeper has renewed the watch.
	WatchAlone Flaw = 124
)

// Master is a master with one flaw, on the znodes of recipes.Master.
type Master struct {
	conn     recipes.Conn
	env      recipes.Env
	dir      string
	flaw     Flaw
	election *recipes.Election
	turn     int
}

// NewMaster returns a master of the pool on dir with the given flaw.
func NewMaster(conn recipes.Conn, env recipes.Env, dir string, flaw Flaw) *Master {
	return &Master{conn: conn, env: env, dir: dir, flaw: flaw,
		election: recipes.NewElection(conn, env, dir+"/masters", recipes.ElectionOptions{})}
}

// Znodes returns the paths that the object answers for.
func (m *Master) Znodes() []string { return m.election.Znodes() }

// Run leads, over and over, until ctx is done.
func (m *Master) Run(ctx context.Context) error {
	for {
		recipes.Keep(m.env, m)
		if err := m.election.Campaign(ctx); err != nil {
			return err
		}
		err := m.lead(ctx)
		if err := errors.Join(err, m.election.Resign(ctx)); err != nil {
			return err
		}
	}
}

func (m *Master) lead(ctx context.Context) (err error) {
	defer recipes.Forget(m.env)(m, &err)
	for {
		recipes.Keep(m.env, m)
		assign, _, err := m.conn.Children(m.dir + "/assign")
		if err != nil {
			return forgiven(err)
		}
		waiting, _, tasks, err := m.conn.ChildrenW(m.dir + "/tasks")
		if err != nil {
			return forgiven(err)
		}
		alive, _, workers, err := m.conn.ChildrenW(m.dir + "/workers")
		if err != nil {
			return forgiven(err)
		}
		slices.Sort(alive)
		slices.Sort(waiting)
		for _, worker := range assign {
			if m.flaw != ForgottenWorker && !slices.Contains(alive, worker) {
				err = errors.Join(err, m.takeBack(worker))
			}
		}
		for _, task := range waiting {
			if len(alive) > 0 {
				worker := alive[m.turn%len(alive)]
				m.turn++
				err = errors.Join(err, m.move(m.dir+"/tasks/"+task, m.dir+"/assign/"+worker+"/"+task,
					&zk.CheckVersionRequest{Path: m.dir + "/workers/" + worker, Version: -1}))
			}
		}
		if err != nil {
			return forgiven(err)
		}
		recipes.Keep(m.env, m, &tasks, &workers)
		if i, _, err := m.env.Await(ctx, m.election.Lost(), tasks, workers); err != nil || i == 0 {
			return err
		}
	}
}

// forgiven turns a lost connection, and the lost leadership, into a fresh start.
func forgiven(err error) error {
	for _, x := range []error{zk.ErrConnectionClosed, zk.ErrNoServer, zk.ErrSessionExpired, recipes.ErrNotLeading} {
		if errors.Is(err, x) {
			return nil
		}
	}
	return err
}

func (m *Master) takeBack(worker string) (err error) {
	defer recipes.Forget(m.env)(&err)
	tasks, _, err := m.conn.Children(m.dir + "/assign/" + worker)
	for _, task := range tasks {
		err = errors.Join(err, m.move(m.dir+"/assign/"+worker+"/"+task, m.dir+"/tasks/"+task))
	}
	return errors.Join(err, m.write(&zk.DeleteRequest{Path: m.dir + "/assign/" + worker, Version: -1}))
}

func (m *Master) move(from, to string, checks ...any) (err error) {
	defer recipes.Forget(m.env)(&err)
	data, _, err := m.conn.Get(from)
	if err == zk.ErrNoNode {
		return nil
	}
	if err != nil {
		return err
	}
	ops := append(checks, &zk.CreateRequest{Path: to, Data: data, Acl: everybody})
	remove := &zk.DeleteRequest{Path: from, Version: -1}
	if m.flaw == TwoCalls {
		if err := m.multi(ops...); err != nil && err != zk.ErrNodeExists {
			return excuse(err)
		}
		ops = nil
	}
	return m.write(append(ops, remove)...)
}

func (m *Master) write(ops ...any) error { return excuse(m.multi(ops...)) }

func (m *Master) multi(ops ...any) error {
	if m.flaw != OldMaster {
		ops = append([]any{m.election.Check()}, ops...)
	}
	answers, err := m.conn.Multi(ops...)
	if err == zk.ErrNoNode && m.flaw != OldMaster && answers[0].Error != nil {
		return recipes.ErrNotLeading
	}
	return err
}

// excuse ignores errors caused by the end of a worker or the work of a predecessor.
func excuse(err error) error {
	if err == zk.ErrNoNode || err == zk.ErrNotEmpty || err == zk.ErrNodeExists {
		return nil
	}
	return err
}
