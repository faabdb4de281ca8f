package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"zksim/faults"
	"zksim/internal/judge"
	"zksim/model"
	"zksim/model/history"
)

// Strike adds the rules of a plan, which [ParsePlan] reads; there must be at least one. They strike as soon as they
// can, whatever the seed. A rule with nth counts requests from now on.
func (e *Ensemble) Strike(plan string) error {
	p, err := ParsePlan(plan)
	if err == nil && len(p) == 0 {
		err = errNoRules
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

// Strikes returns the faults that have happened, and what became of each rule. After these rules come those that were
// added and had not struck when a Reset removed them, the first 100 of all.
func (e *Ensemble) Strikes() ([]Strike, []Rule) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.strikes), append(e.rules(), e.earlier.unmet...)
}

// Expire ends the session of a client, 1 for c1, as if nothing had been heard of it for its timeout.
func (e *Ensemble) Expire(client int) error {
	return e.do(nil, func() error {
		if s := e.sessionOf(client); s != nil && s.client.HasSession() {
			e.expire(s)
			return nil
		}
		return fmt.Errorf("serve: c%d has no session, expected a client that has one: %s", client, e.there())
	})
}

// ExpireSession is Expire with the id of the session.
func (e *Ensemble) ExpireSession(id int64) error {
	return e.do(nil, func() error {
		s := e.sessions[id]
		if s == nil {
			return fmt.Errorf("serve: no session 0x%x, expected one that is there: %s", id, e.there())
		}
		e.expire(s)
		return nil
	})
}

// there lists the clients that have sessions.
func (e *Ensemble) there() string {
	const most = 10
	var list []string
	for _, s := range e.ordered() {
		if len(list) == most {
			list = append(list, "...")
			break
		}
		list = append(list, fmt.Sprintf("%s (0x%x)", s.client.Name(), s.id))
	}
	return cmp.Or(strings.Join(list, " "), "there is none")
}

// Stop makes server k, 1 for s1, do nothing until [Ensemble.Continue], like a process that gets SIGSTOP: it neither
// reads nor writes. If it leads, another server is elected, and it is deposed when it goes on. Without two servers of
// three nobody is served; see Kill.
func (e *Ensemble) Stop(k int) error {
	return e.suspend(k, func(n *node) error {
		n.stopped = true
		e.tell("stop", k)
		return nil
	}, func() {
		switch {
		case len(e.nodes) == 1:
		case e.world.Leader() == k-1:
			e.record.note("depose s%d", k)
			e.world.Depose(nil)
		default:
			e.world.Freeze(k - 1)
		}
	})
}

// Kill ends server k until [Ensemble.Continue], like a process that gets SIGKILL: its connections are reset, and its
// port refuses new ones. If it leads, another server is elected. It forgets nothing. When only one of three servers is
// left, that one ends its connections too and serves nobody until there are two again, which elect a leader. Meanwhile
// no session expires.
func (e *Ensemble) Kill(k int) error {
	return e.suspend(k, func(n *node) error {
		if err := shut(e.ports[k-1]); err != nil {
			return fmt.Errorf("serve: s%d cannot be killed: %w", k, err)
		}
		n.killed = true
		e.tell("kill", k)
		return nil
	}, func() {
		if e.world.Leader() == k-1 && len(e.nodes) > 1 {
			e.record.note("elect s%d", e.world.Successor()+1)
			e.world.Elect()
		}
		e.cutAt(k - 1)
		if len(e.nodes) > 1 {
			e.world.Freeze(k - 1)
		}
	})
}

// cutAt ends the connections of a server.
func (e *Ensemble) cutAt(server int) {
	for _, c := range e.at(server) {
		switch {
		case c.session != nil:
			e.record.note("disconnect %s", c.session.client.Name())
			c.session.client.Cut()
		case e.nodes[server].killed:
			c.end(byRST)
		default:
			c.end(byFIN)
		}
	}
}

// tell records in the history what a server was made to do, as a fault without a rule. The page shows it.
func (e *Ensemble) tell(order string, k int) {
	e.world.History.Add(history.Event{Kind: history.Fault, Step: int32(e.world.Step()),
		Op: fmt.Sprintf("%s s%d", order, k)})
}

// down reports whether a server does nothing.
func (n *node) down() bool { return n.stopped || n.killed }

// serves reports whether there is a quorum.
func (e *Ensemble) serves() bool {
	up := 0
	for i := range e.nodes {
		if !e.nodes[i].down() {
			up++
		}
	}
	return len(e.nodes) == 1 || 2*up > len(e.nodes)
}

// led reports whether a leader is running and has followers.
func (e *Ensemble) led() bool { return e.serves() && !e.nodes[e.world.Leader()].down() }

// suspend takes a server down. mark says how, and with is called for the consequences if there is still a quorum.
func (e *Ensemble) suspend(k int, mark func(n *node) error, with func()) error {
	return e.do(nil, func() error {
		if err := e.server(k); err != nil {
			return err
		}
		n := &e.nodes[k-1]
		if n.down() {
			return fmt.Errorf("serve: s%d is down already, expected a server that runs", k)
		}
		if d := e.world.Deposed(); d >= 0 {
			return fmt.Errorf("serve: s%d was deposed and does not know it yet, expected a quorum", d+1)
		}
		if err := mark(n); err != nil {
			return err
		}
		n.since = time.Now()
		if e.serves() || len(e.nodes) == 1 {
			with()
			return nil
		}
		for i := range e.nodes {
			if !e.nodes[i].stopped {
				e.cutAt(i)
			}
		}
		return nil
	})
}

// Continue makes server k go on, and everything that a fault has suspended: servers that were cut off, slow
// connections. A server that was killed listens on its port again. On Linux it has kept the port. Elsewhere Continue
// fails, and changes nothing, if another process has taken it.
func (e *Ensemble) Continue(k int) error {
	return e.do(nil, func() error {
		if err := e.server(k); err != nil {
			return err
		}
		n, served := &e.nodes[k-1], e.serves()
		if err := e.reopen(k - 1); err != nil {
			return err
		}
		if n.down() && len(e.nodes) == 1 {
			for _, s := range e.sessions { // order-free: each by itself
				if n.killed { // the timers of a server that starts are new
					s.touch()
				} else { // its clock stood still
					s.deadline += time.Since(n.since).Milliseconds() + 1
				}
			}
		}
		if n.down() {
			e.tell("continue", k)
		}
		n.stopped, n.killed = false, false
		n.goes.Broadcast()
		if e.serves() && !served {
			e.reelect()
		}
		for _, s := range e.sessions { // order-free: each by itself
			s.lost = time.Now()
		}
		e.release()
		return nil
	})
}

// reelect makes the servers that are up elect one of them as leader. The others stay behind.
func (e *Ensemble) reelect() {
	for ok := true; ok; ok = e.nodes[e.world.Leader()].down() {
		e.record.note("elect s%d", e.world.Successor()+1)
		e.world.Elect()
	}
	for i := range e.nodes {
		if e.nodes[i].down() {
			e.world.Freeze(i)
		}
	}
	for _, s := range e.sessions { // order-free: each by itself
		s.touch()
	}
}

// Elect makes the leader restart and another server be elected. All connections end.
func (e *Ensemble) Elect() error {
	return e.do(nil, func() error {
		next := e.world.Successor()
		if next < 0 || e.nodes[next].down() || e.world.Frozen(next) || !e.serves() {
			return errors.New("serve: there can be no election, expected three servers that run")
		}
		e.record.note("elect s%d", next+1)
		e.tell("elect", next+1)
		e.world.Elect()
		return nil
	})
}

// maxReports limits how many violations are kept of those that tests report, and of those that were found at resets.
const maxReports = 100

// Report adds a violation that the test has seen, in a sentence, to the judges' verdict. Most bugs are visible only on
// the client side: two clients hold a lock, an item of a queue is lost.
func (e *Ensemble) Report(violation string) error {
	return e.do(nil, func() error {
		if violation == "" || !utf8.ValidString(violation) || strings.ContainsFunc(violation, unicode.IsControl) {
			return errors.New("serve: expected a violation in one line of text")
		}
		if len(e.record.reported) < maxReports {
			e.record.reported = append(e.record.reported, violation)
		}
		return nil
	})
}

// Quiet waits until no request has come for a while, every request has its answer, and all answers and events are
// written, including those that a fault holds back and those of servers that it has cut off. It does not wait for what
// a server that is down has left undone.
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

// untilQuiet returns the least time that remains until then.
func (e *Ensemble) untilQuiet(d time.Duration) (time.Duration, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return 0, ErrClosed
	}
	if e.underWay() {
		return max(d, time.Millisecond), nil
	}
	return d - time.Since(e.last), nil
}

// underWay reports whether a request waits for its answer, output waits to be written, or a fault has suspended
// something that goes on by itself: messages on a slow connection, or the txns of a server that is cut off or was
// deposed.
func (e *Ensemble) underWay() bool {
	for c := range e.conns { // order-free: any of them
		c.mu.Lock()
		busy := c.open > 0 || len(c.out) > 0 || c.writing > 0
		c.mu.Unlock()
		if busy {
			return true
		}
	}
	for k := range e.nodes {
		if !e.nodes[k].down() && (e.world.Deposed() == k || e.world.Behind(k) > 0) {
			return true
		}
	}
	unsettled := func(x *session) bool { return !x.client.Settled() }
	for _, s := range e.sessions { // order-free: any of them
		if unsettled(s) || slices.ContainsFunc(s.left, unsettled) {
			return true
		}
	}
	return false
}

// Reset starts over: no sessions, no znodes, clients numbered from 1, the plan of the options. All connections end, and
// clients that try to resume their sessions are told that they have expired. Servers that were killed are back; see
// [Ensemble.Continue]. Reset returns the judgement of everything before it, and keeps its violations, see
// Judgement.Before.
func (e *Ensemble) Reset() (Judgement, error) {
	var v evidence
	var n int
	err := e.do(nil, func() error {
		for k := range e.nodes {
			if err := e.reopen(k); err != nil {
				for i := range k {
					if e.nodes[i].killed {
						shut(e.ports[i])
					}
				}
				return err
			}
		}
		e.resets++
		v, n = e.evidence(), e.resets
		for c := range e.conns { // order-free: all of them
			c.session = nil
			c.end(byRST)
		}
		e.begin()
		return nil
	})
	if err != nil {
		return Judgement{}, err
	}
	alone := v
	alone.asked, alone.rules = false, slices.Clone(v.rules)
	for i := range alone.rules {
		alone.rules[i].Earlier = 0
	}
	j := alone.judge()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.earlier.add(&v, len(e.options.Faults))
	for _, text := range j.Violations {
		if len(e.before) < maxReports {
			e.before = append(e.before, fmt.Sprintf("before reset %d: %s", n, text))
		}
	}
	return Judgement{j, append([]string{}, e.before...)}, nil
}

// History returns what has happened since the beginning or the last Reset, and how many of its first events are
// forgotten.
func (e *Ensemble) History() (*history.History, int) {
	e.mu.Lock()
	v := e.evidence()
	e.mu.Unlock()
	return v.history(), v.events.forgotten
}

// State is the current state of an ensemble.
type State struct {
	Servers  []ServerState  `json:"servers"`
	Sessions []SessionState `json:"sessions"`
	Znodes   []ZnodeState   `json:"znodes"` // at the leader, without those of /zookeeper
	Requests uint64         `json:"requests"`
	Struck   []Strike       `json:"struck"`
	Rules    []Rule         `json:"rules"`
}

// ServerState is the state of one server.
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

// SessionState is the state of one session.
type SessionState struct {
	Client  string   `json:"client"` // c1, c2, ...
	Session string   `json:"session"`
	Timeout int64    `json:"timeout"`          // milliseconds
	Server  string   `json:"server,omitempty"` // that it is connected to
	Watches []string `json:"watches,omitempty"`
}

// ZnodeState is the state of one znode.
type ZnodeState struct {
	Path    string `json:"path"`
	Data    string `json:"data,omitempty"`
	Version int32  `json:"version"`
	Owner   string `json:"owner,omitempty"` // session of an ephemeral
}

// State returns the current state.
func (e *Ensemble) State() State {
	x, tree := e.snapshot()
	model.SortTree(tree)
	for _, z := range tree {
		v := ZnodeState{Path: z.Path, Data: judge.ShortData(string(z.Data)), Version: z.Stat.Version}
		if z.Stat.EphemeralOwner != 0 {
			v.Owner = hex(z.Stat.EphemeralOwner)
		}
		x.Znodes = append(x.Znodes, v)
	}
	return x
}

// snapshot returns the state without its znodes, and the znodes unsorted, because clients wait meanwhile.
func (e *Ensemble) snapshot() (State, []model.Znode) {
	e.mu.Lock()
	defer e.mu.Unlock()
	x := State{Servers: []ServerState{}, Sessions: []SessionState{}, Znodes: []ZnodeState{}, Requests: e.activity,
		Struck: append([]Strike{}, e.strikes...), Rules: e.rules()}
	stores := e.world.Stores()
	for k := range e.nodes {
		x.Servers = append(x.Servers, ServerState{Name: fmt.Sprintf("s%d", k+1), Addr: e.addrs[k], Mode: e.mode(k),
			Zxid: hex(stores[k].Zxid()), Behind: e.world.Behind(k), Stopped: e.nodes[k].stopped, Killed: e.nodes[k].killed,
			Deposed: e.world.Deposed() == k, Connections: len(e.at(k))})
	}
	for _, s := range e.ordered() {
		v := SessionState{Client: s.client.Name(), Session: hex(s.id), Timeout: s.timeout.Milliseconds()}
		if s.conn != nil {
			v.Server = fmt.Sprintf("s%d", s.conn.server+1)
			for _, w := range stores[s.conn.server].Watches(s.client.ServerConn()) {
				v.Watches = append(v.Watches, w.Path)
			}
			v.Watches = slices.Compact(v.Watches)
		}
		x.Sessions = append(x.Sessions, v)
	}
	return x, stores[e.world.Leader()].Znodes()
}

func hex(n int64) string { return fmt.Sprintf("0x%x", n) }
