package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/scenarios/engine"
)

// meter counts the channels that code has asked for and that have not fired: of its watches, and for the next change of
// the session's state. Neither kind can be given back, so each takes up memory until it fires. While the session does
// not change state, an object keeps what it has, so one more call must not leave more.
//
// What it gives to code has no [recipes.Hints], so a search forgets nothing that it counts.
type meter struct {
	kept   []<-chan zk.Event // that have not fired
	failed int               // requests that were given up: nobody hears of the watches that they may have left
}

// keep notes a channel that code has asked for.
func (m *meter) keep(ch <-chan zk.Event) <-chan zk.Event {
	if ch != nil {
		m.kept = append(m.kept, ch)
	}
	return ch
}

// count returns how many channels have not fired, without those that nobody hears of.
func (m *meter) count() int {
	m.kept = slices.DeleteFunc(m.kept, func(ch <-chan zk.Event) bool { return len(ch) > 0 })
	return len(m.kept) - m.failed
}

// of returns a process whose channels are counted.
func (m *meter) of(p *engine.Process) *engine.Process {
	q := *p
	q.Conn, q.Env = meteredConn{p.Conn, m}, meteredEnv{p.Env, m}
	return &q
}

// meteredConn is a connection whose watches are counted.
type meteredConn struct {
	recipes.Conn
	m *meter
}

// GetW implements recipes.Conn.
func (c meteredConn) GetW(path string) ([]byte, *zk.Stat, <-chan zk.Event, error) {
	data, stat, ch, err := c.Conn.GetW(path)
	return data, stat, c.m.keep(ch), err
}

// ExistsW implements recipes.Conn.
func (c meteredConn) ExistsW(path string) (bool, *zk.Stat, <-chan zk.Event, error) {
	exists, stat, ch, err := c.Conn.ExistsW(path)
	return exists, stat, c.m.keep(ch), err
}

// ChildrenW implements recipes.Conn.
func (c meteredConn) ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error) {
	names, stat, ch, err := c.Conn.ChildrenW(path)
	return names, stat, c.m.keep(ch), err
}

// meteredEnv is an environment whose channels for the session are counted.
type meteredEnv struct {
	recipes.Env
	m *meter
}

// SessionEvents implements recipes.Env.
func (e meteredEnv) SessionEvents() <-chan zk.Event { return e.m.keep(e.Env.SessionEvents()) }

// Await implements recipes.Env. What it returns has fired.
func (e meteredEnv) Await(ctx context.Context, chans ...<-chan zk.Event) (int, zk.Event, error) {
	i, ev, err := e.Env.Await(ctx, chans...)
	if i >= 0 {
		e.m.kept = slices.DeleteFunc(e.m.kept, func(ch <-chan zk.Event) bool { return ch == chans[i] })
	}
	return i, ev, err
}

// Within implements recipes.Env.
func (e meteredEnv) Within(ctx context.Context, f func()) bool {
	ended := e.Env.Within(ctx, f)
	if !ended {
		e.m.failed++
	}
	return ended
}

// usage is what one object is used for, again and again.
type usage struct {
	calls string
	of    func(p *engine.Process, dir string) func(ctx context.Context) error
}

// frugal uses objects again and again while all is quiet, and counts what each keeps.
func (a alone) frugal(uses ...usage) {
	for i, u := range uses {
		m := &meter{}
		call := u.of(m.of(a.p), a.path(fmt.Sprint("frugal-", i)))
		for range 2 { // after the first, faults are over, but what it left may have fired
			a.fine(call(background), u.calls)
			a.p.AtRest()
		}
		session, before := a.p.Env.SessionEvents(), m.count()
		for range 3 {
			a.fine(call(background), u.calls+", again")
		}
		a.p.AtRest()
		a.is(len(session) > 0 || m.count() <= before, "%s leaves no watch or channel more each time", u.calls)
	}
}

// vainly is how long a call waits in vain. On a real server that time really passes.
const vainly = 300 * time.Millisecond

// inVain makes a call that waits for too long.
func inVain(p *engine.Process, call func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := p.Env.WithTimeout(ctx, vainly)
		defer cancel()
		if err := call(ctx); !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("it ends with %v, expected that of its deadline", err)
		}
		return nil
	}
}

// taking is a use of something that is taken and given back.
func taking[T any](
	calls string, make func(p *engine.Process, dir string) T, take, give func(x T, ctx context.Context) error,
) usage {
	return usage{calls, func(p *engine.Process, dir string) func(ctx context.Context) error {
		x := make(p, dir)
		return func(ctx context.Context) error {
			return untilError(ctx, func(ctx context.Context) error { return take(x, ctx) },
				func(ctx context.Context) error { return give(x, ctx) })
		}
	}}
}

// vain is a wait in vain: the object is in a folder with a znode that keeps it waiting, such as the znode of a client
// that has the lock. Without a path, that znode is the folder itself.
func vain[T any](
	a alone, calls, path string, make func(p *engine.Process, dir string) T, wait func(x T, ctx context.Context) error,
) usage {
	return usage{calls + " in vain", func(p *engine.Process, dir string) func(ctx context.Context) error {
		a.create(dir, "held")
		for i, c := range path + "/" {
			if c == '/' && i > 0 {
				a.create(dir+"/"+path[:i], "")
			}
		}
		x := make(p, dir)
		if x, ok := any(x).(interface{ Znodes() []string }); ok {
			a.p.Register(x.Znodes)
		}
		return inVain(p, func(ctx context.Context) error { return wait(x, ctx) })
	}}
}
