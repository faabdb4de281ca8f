package scenarios_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/scenarios"
	"zksim/scenarios/workload"
)

// polling is a membership that watches nothing: it asks again and again until it has its znode in the session that is.
type polling struct {
	conn recipes.Conn
	env  recipes.Env
	path string
	wait time.Duration // before it asks again
	stop context.CancelFunc
	done chan zk.Event
}

func (m *polling) Join(ctx context.Context, name string, data []byte) error {
	path := m.path + "/" + name
	if err := m.ensure(ctx, path, data); err != nil {
		m.env.Undo("leave", func() { m.remove(context.Background(), path) })
		return err
	}
	member, stop := context.WithCancel(context.Background())
	done := make(chan zk.Event, 1)
	m.path, m.stop, m.done = path, stop, done
	m.env.Go("member", func() {
		for change := m.env.SessionEvents(); m.ensure(member, path, data) == nil; change = m.env.SessionEvents() {
			m.env.Await(member, change)
		}
		done <- zk.Event{}
	})
	return nil
}

func (m *polling) ensure(ctx context.Context, path string, data []byte) error {
	for ctx.Err() == nil {
		_, err := m.conn.Create(path, data, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		if err == zk.ErrNodeExists {
			_, stat, err := m.conn.Exists(path)
			if err == nil && stat.EphemeralOwner == m.conn.SessionID() {
				return nil
			}
		} else if err == nil || !workload.Interrupted(err) {
			return err
		}
		m.env.Sleep(ctx, m.wait)
	}
	return ctx.Err()
}

func (m *polling) remove(ctx context.Context, path string) (err error) {
	for err = m.conn.Delete(path, -1); workload.Interrupted(err); err = m.conn.Delete(path, -1) {
		m.env.Sleep(ctx, m.wait)
	}
	if err == zk.ErrNoNode {
		return nil
	}
	return err
}

func (m *polling) Leave(ctx context.Context) error {
	m.stop()
	m.env.Await(context.Background(), m.done)
	return m.remove(ctx, m.path)
}

func newPolling(wait time.Duration) func(p *scenarios.Process, path string) *polling {
	return func(p *scenarios.Process, path string) *polling {
		return &polling{conn: p.Conn, env: p.Env, path: path, wait: wait}
	}
}

// TestAMemberNeedsNoWatch: faults of watches can never strike one that has none.
func TestAMemberNeedsNoWatch(t *testing.T) {
	scenarios.Check(t, scenarios.Members("mine/polling", newPolling(20*time.Millisecond)))
}

// TestAMemberThatPausesForLongIsJudgedBeforeItIsThere: docs/adopt.md says for how long a preset rests.
func TestAMemberThatPausesForLongIsJudgedBeforeItIsThere(t *testing.T) {
	s := scenarios.Members("mine/polling", newPolling(time.Second))
	s.Caught = []string{"presence"}
	scenarios.Check(t, s)
}
