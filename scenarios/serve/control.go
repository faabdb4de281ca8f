package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"zksim/faults"
	"zksim/model/history"
)

// Strike adds rules to the plan, which strike as soon as they can, whatever the seed. A rule with nth counts requests
// from now on.
func (e *Ensemble) Strike(plan string) error {
	p, err := faults.Parse(plan)
	if err == nil {
		err = Servable(p)
	}
	if err != nil {
		return err
	}
	return e.do(nil, func() error {
		e.plan = append(slices.Clip(e.plan), p...)
		e.injector.Add(p)
		for _, r := range p {
			e.urgent[faults.KindOf(r.Fault)] = true
		}
		return nil
	})
}

// Strikes returns the faults that have happened, and what became of each rule.
func (e *Ensemble) Strikes() ([]Strike, []Rule) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.strikes), e.rules()
}

// Expire ends the session of a client, 1 for c1, as if nothing had been heard of it for its timeout.
func (e *Ensemble) Expire(client int) error {
	return e.do(nil, func() error {
		if s := e.sessionOf(client); s != nil && s.client.HasSession() {
			e.expire(s)
			return nil
		}
		return fmt.Errorf("serve: c%d has no session, expected one of %s", client, e.names())
	})
}

// ExpireSession is Expire by the id of the session.
func (e *Ensemble) ExpireSession(id int64) error {
	return e.do(nil, func() error {
		s := e.sessions[id]
		if s == nil {
			return fmt.Errorf("serve: no session 0x%x", id)
		}
		e.expire(s)
		return nil
	})
}

// names are those of the clients that have sessions.
func (e *Ensemble) names() string {
	text := ""
	for i, s := range e.ordered() {
		if i == 10 {
			return text + " ..."
		}
		text += " " + s.client.Name()
	}
	if text == "" {
		return "none: there is no session"
	}
	return text[1:]
}

// Stop has server k, 1 for s1, do nothing until [Ensemble.Continue], as SIGSTOP has a process: it neither reads nor
// writes. If it leads, another one is elected, and when it goes on it has been deposed.
func (e *Ensemble) Stop(k int) error {
	return e.suspend(k, func(n *node) {
		n.stopped, n.since = true, time.Now()
		switch {
		case len(e.nodes) == 1:
		case e.world.Leader() == k-1:
			e.world.Depose(nil)
		default:
			e.world.Freeze(k - 1)
		}
	})
}

// Kill ends server k until [Ensemble.Continue], as SIGKILL ends a process: its connections are reset, and new ones too.
// If it leads, another one is elected. It forgets nothing.
func (e *Ensemble) Kill(k int) error {
	return e.suspend(k, func(n *node) {
		n.killed, n.since = true, time.Now()
		if e.world.Leader() == k-1 && len(e.nodes) > 1 {
			e.world.Elect()
		}
		for _, c := range e.at(k - 1) {
			if c.session != nil {
				c.session.client.Cut()
			} else {
				c.end(byRST)
			}
		}
		if len(e.nodes) > 1 {
			e.world.Freeze(k - 1)
		}
	})
}

// suspend has a server go down, if that leaves enough others.
func (e *Ensemble) suspend(k int, f func(n *node)) error {
	return e.do(nil, func() error {
		if err := e.server(k); err != nil {
			return err
		}
		for i := range e.nodes {
			if n := &e.nodes[i]; n.stopped || n.killed {
				return fmt.Errorf("serve: s%d is down already, expected a quorum: let it continue first", i+1)
			}
		}
		if d := e.world.Deposed(); d >= 0 {
			return fmt.Errorf("serve: s%d was deposed and does not know it yet, expected a quorum", d+1)
		}
		f(&e.nodes[k-1])
		return nil
	})
}

// Continue has server k go on; and all that a fault has suspended: servers that were cut off, slow connections.
func (e *Ensemble) Continue(k int) error {
	return e.do(nil, func() error {
		if err := e.server(k); err != nil {
			return err
		}
		n := &e.nodes[k-1]
		if (n.stopped || n.killed) && len(e.nodes) == 1 { // its clock stood still
			for _, s := range e.sessions { // order-free: each by itself
				s.deadline += time.Since(n.since).Milliseconds() + 1
			}
		}
		n.stopped, n.killed = false, false
		n.goes.Broadcast()
		e.release()
		return nil
	})
}

// Elect has the leader restart and another one elected: all connections end.
func (e *Ensemble) Elect() error {
	return e.do(nil, func() error {
		next := e.world.Successor()
		if next < 0 || e.nodes[next].stopped || e.nodes[next].killed || e.world.Frozen(next) {
			return errors.New("serve: there can be no election, expected three servers that run")
		}
		e.world.Elect()
		return nil
	})
}

// Quiet waits until no request has come for a while, none waits for its answer, and all answers and events are written.
func (e *Ensemble) Quiet(ctx context.Context, d time.Duration) error {
	for {
		left, err := e.untilQuiet(d)
		if err != nil || left <= 0 {
			return err
		}
		select {
		case <-time.After(left):
		case <-ctx.Done():
			return fmt.Errorf("serve: not quiet: %w", context.Cause(ctx))
		case <-e.done:
			return ErrClosed
		}
	}
}

// untilQuiet returns how long it takes at least.
func (e *Ensemble) untilQuiet(d time.Duration) (time.Duration, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return 0, ErrClosed
	}
	for c := range e.conns { // order-free: any of them
		c.mu.Lock()
		busy := c.open > 0 || len(c.out)+c.writing > 0
		c.mu.Unlock()
		if busy {
			return max(d, time.Millisecond), nil
		}
	}
	return d - time.Since(e.last), nil
}

// Reset has everything begin anew: no sessions, no znodes, clients numbered from 1, the plan of the options. All
// connections end, and clients that try to have their sessions again are told that these have expired.
func (e *Ensemble) Reset() error {
	return e.do(nil, func() error {
		for c := range e.conns { // order-free: all of them
			c.session = nil
			c.end(byRST)
		}
		e.begin()
		return nil
	})
}

// History returns what has happened since the beginning or the last Reset, and how many of its events, the first ones,
// are forgotten.
func (e *Ensemble) History() (*history.History, int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	h := &history.History{}
	h.Reset(e.record.clients)
	h.Events, h.Steps, h.Txns = slices.Clone(e.record.events), e.record.steps, true
	h.Outcome = history.Stopped
	store := e.world.Stores()[e.world.Leader()]
	for _, z := range store.Tree() {
		h.Tree = append(h.Tree, history.Node{Path: z.Path, Data: string(z.Data), Owner: z.Stat.EphemeralOwner,
			Czxid: z.Stat.Czxid, Mzxid: z.Stat.Mzxid, Pzxid: z.Stat.Pzxid, Version: z.Stat.Version})
	}
	for _, s := range e.sessions { // order-free: a map
		if store.HasSession(s.id) {
			h.Sessions[s.id] = int32(s.client.ID())
		}
	}
	return h, e.record.forgotten
}

// State is how everything stands.
type State struct {
	Servers  []ServerState  `json:"servers"`
	Sessions []SessionState `json:"sessions"`
	Znodes   []ZnodeState   `json:"znodes"` // at the leader, without those of /zookeeper
	Requests uint64         `json:"requests"`
	Struck   []Strike       `json:"struck"`
	Rules    []Rule         `json:"rules"`
}

// ServerState is that of one server.
type ServerState struct {
	Name        string `json:"name"` // s1, s2, s3
	Addr        string `json:"addr"`
	Mode        string `json:"mode"` // standalone, leader or follower
	Zxid        string `json:"zxid"`
	Behind      int    `json:"behind"` // txns that it has not applied
	Stopped     bool   `json:"stopped,omitempty"`
	Killed      bool   `json:"killed,omitempty"`
	Deposed     bool   `json:"deposed,omitempty"`
	Connections int    `json:"connections"`
}

// SessionState is that of one session.
type SessionState struct {
	Client  string   `json:"client"` // c1, c2, ...
	Session string   `json:"session"`
	Timeout int64    `json:"timeout"`          // milliseconds
	Server  string   `json:"server,omitempty"` // that it is connected to
	Watches []string `json:"watches,omitempty"`
}

// ZnodeState is that of one znode.
type ZnodeState struct {
	Path    string `json:"path"`
	Data    string `json:"data,omitempty"`
	Version int32  `json:"version"`
	Owner   string `json:"owner,omitempty"` // session of an ephemeral
}

// State returns how everything stands.
func (e *Ensemble) State() State {
	e.mu.Lock()
	defer e.mu.Unlock()
	x := State{Servers: []ServerState{}, Sessions: []SessionState{}, Znodes: []ZnodeState{}, Requests: e.activity,
		Struck: append([]Strike{}, e.strikes...), Rules: e.rules()}
	stores := e.world.Stores()
	for k := range e.nodes {
		x.Servers = append(x.Servers, ServerState{Name: "s" + itoa(k+1), Addr: e.addrs[k], Mode: e.mode(k),
			Zxid: hex(stores[k].Zxid()), Behind: e.world.Behind(k), Stopped: e.nodes[k].stopped, Killed: e.nodes[k].killed,
			Deposed: e.world.Deposed() == k, Connections: len(e.at(k))})
	}
	for _, s := range e.ordered() {
		v := SessionState{Client: s.client.Name(), Session: hex(s.id), Timeout: s.timeout.Milliseconds()}
		if s.conn != nil {
			v.Server = "s" + itoa(s.conn.server+1)
			for _, w := range stores[s.conn.server].Watches(s.client.ServerConn()) {
				v.Watches = append(v.Watches, w.Path)
			}
			v.Watches = slices.Compact(v.Watches)
		}
		x.Sessions = append(x.Sessions, v)
	}
	for _, z := range stores[e.world.Leader()].Tree() {
		v := ZnodeState{Path: z.Path, Data: shorten(string(z.Data)), Version: z.Stat.Version}
		if z.Stat.EphemeralOwner != 0 {
			v.Owner = hex(z.Stat.EphemeralOwner)
		}
		x.Znodes = append(x.Znodes, v)
	}
	return x
}

func hex(n int64) string { return fmt.Sprintf("0x%x", n) }
