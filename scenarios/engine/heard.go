package engine

import (
	"context"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
	"zksim/sim"
)

// hearingConn records when client code asks for the state of its session.
type hearingConn struct {
	sim.Conn
	hears func(state bool)
}

// State implements recipes.Conn.
func (c hearingConn) State() zk.State {
	s := c.Conn.State()
	c.hears(true)
	return s
}

// SessionID implements recipes.Conn.
func (c hearingConn) SessionID() int64 {
	id := c.Conn.SessionID()
	c.hears(false)
	return id
}

// hearingEnv records when client code receives an event about its session.
type hearingEnv struct {
	sim.Env
	hears func(state bool)
}

// Await implements recipes.Env.
func (e hearingEnv) Await(ctx context.Context, chans ...<-chan zk.Event) (int, zk.Event, error) {
	i, ev, err := e.Env.Await(ctx, chans...)
	if err == nil && (ev.Type == zk.EventSession || ev.Type == zk.EventNotWatching) {
		e.hears(true)
	}
	return i, ev, err
}

// hears returns a function that records what code of a client learns about its session, as it is at that moment.
// Without state it learns only which session it is.
func (r *Runner) hears(c *sim.Client) func(state bool) {
	return func(state bool) {
		op := ""
		switch {
		case !state:
		case c.Connected():
			op = history.Connected
		default:
			op = history.Disconnected
		}
		r.world.History.Add(history.Event{Kind: history.Heard, Client: int32(c.ID()), Step: int32(r.world.Step()),
			Op: op, Session: c.Session(), Version: int32(c.Line()), Task: c.Task()})
	}
}
