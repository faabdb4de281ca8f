package ensemble

import (
	"context"
	"strconv"

	"github.com/go-zookeeper/zk"

	"zksim/internal/stacks"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/recipes/live"
)

// hearing is a connection of a program that records what code hears about its session, as the simulator does. Nothing
// else gets into the history between the answer and the event, so both agree on whether the library is connected.
type hearing struct {
	*live.Client
	host   *liveHost
	of     connection
	closes func()
}

// Close implements [recipes.Conn]. The tap of a connection that is down at that moment does not hear of it.
func (c hearing) Close() {
	c.Client.Close()
	c.closes()
}

// State implements [recipes.Conn].
func (c hearing) State() zk.State { return c.hear() }

// SessionID implements [recipes.Conn].
//
//zksim:ignore only on a real ensemble
func (c hearing) SessionID() int64 {
	c.host.mu.Lock()
	defer c.host.mu.Unlock()
	id := c.Client.SessionID()
	c.heard("")
	return id
}

// hear asks for the state of the session, and records it.
//
//zksim:ignore only on a real ensemble
func (c hearing) hear() zk.State {
	c.host.mu.Lock()
	defer c.host.mu.Unlock()
	state := c.Client.State()
	if state == zk.StateHasSession {
		c.heard(history.Connected)
	} else {
		c.heard(history.Disconnected)
	}
	return state
}

// heard records what code hears about its session; host.mu is held.
func (c hearing) heard(op string) {
	c.host.add(history.Event{Kind: history.Heard, Client: c.of.client, Version: c.of.number, Op: op,
		Session: c.host.present[c.of], Task: c.host.task()})
}

// hearingEnv is the environment of a program. It records that code receives an event about the state of its session.
type hearingEnv struct {
	recipes.Env
	conn hearing
}

// Await implements [recipes.Env].
func (e hearingEnv) Await(ctx context.Context, chans ...<-chan zk.Event) (int, zk.Event, error) {
	i, ev, err := e.Env.Await(ctx, chans...)
	if err == nil && (ev.Type == zk.EventSession || ev.Type == zk.EventNotWatching) {
		e.conn.hear()
	}
	return i, ev, err
}

// task names the calling goroutine; "" for the one in which a program began.
func (h *liveHost) task() string {
	id := stacks.ID()
	if _, main := h.main.Load(id); main {
		return ""
	}
	return "goroutine " + strconv.FormatUint(id, 10)
}
