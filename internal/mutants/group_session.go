package mutants

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"
)

// configuredTimeout is the session timeout that ConfiguredTimeout has asked for. The servers of a scenario grant 10 s.
const configuredTimeout = 4 * time.Second

// outlast waits up to that long for the znode of an old session to go.
func (m *Membership) outlast(life context.Context, gone <-chan zk.Event) error {
	ctx, end := m.env.WithTimeout(life, configuredTimeout)
	defer end()
	_, _, err := m.env.Await(ctx, gone)
	return err
}

// flagged waits until an event says that something has happened to the znode, or until the interval is over.
func (m *Membership) flagged(life context.Context, gone <-chan zk.Event) error {
	ctx := life
	if m.Interval > 0 {
		c, end := m.env.WithTimeout(life, m.Interval)
		defer end()
		ctx = c
	}
	_, ev, err := m.env.Await(ctx, gone)
	if err == nil && ev.Type == zk.EventNotWatching { // nothing has happened to the znode, so nobody is woken
		_, _, err = m.env.Await(ctx, nil)
	}
	if life.Err() == nil {
		return nil
	}
	return err
}

// replace starts a second client that looks after the member when the session is no longer the first one. This client
// goes on.
func (m *Membership) replace(life context.Context) {
	if m.id == 0 {
		m.id = m.conn.SessionID()
	}
	if m.successor != nil || m.id == m.conn.SessionID() {
		return
	}
	m.successor = make(chan zk.Event)
	conn, env, err := m.Dial()
	if err != nil {
		close(m.successor)
		return
	}
	g, next := *m.Group, *m
	g.patient, next.Group = patient{conn, env}, &g
	env.Go("successor", func() {
		next.keep(life)
		next.release()
		close(m.successor)
	})
}
