package recipes

import (
	"bytes"
	"context"

	"github.com/go-zookeeper/zk"
)

// bound is a connection for a caller that waits no longer than ctx allows, whatever the connection does. A method of
// [Conn] takes no context and returns when there is an answer, which may be long after the reconnect. Once ctx is
// done, the methods of bound return at once: with zk.ErrNoServer if nothing was sent, else with
// zk.ErrConnectionClosed, which leaves the outcome unknown, as a lost connection does. A recipe that survives lost
// connections survives this too, and its next look at ctx tells it what has happened. Whatever it does about the
// outcome afterwards must be started with [Env.Undo].
type bound struct {
	conn Conn
	env  Env
	ctx  context.Context
}

// requests has the requests that recipes make.
type requests interface {
	Create(path string, data []byte, flags int32, acl []zk.ACL) (string, error)
	Delete(path string, version int32) error
	Get(path string) ([]byte, *zk.Stat, error)
	GetW(path string) ([]byte, *zk.Stat, <-chan zk.Event, error)
	Set(path string, data []byte, version int32) (*zk.Stat, error)
	Exists(path string) (bool, *zk.Stat, error)
	ExistsW(path string) (bool, *zk.Stat, <-chan zk.Event, error)
	Children(path string) ([]string, *zk.Stat, error)
	ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error)
	Multi(ops ...interface{}) ([]zk.MultiResponse, error)
	Sync(path string) (string, error)
}

// on returns the connection for requests that are given up when ctx is done.
func (s session) on(ctx context.Context) requests {
	if ctx.Done() == nil {
		return s.conn
	}
	return bound{s.conn, s.env, ctx}
}

// answer is what one of the requests may return.
type answer struct {
	text     string
	data     []byte
	exists   bool
	stat     *zk.Stat
	children []string
	event    <-chan zk.Event
	results  []zk.MultiResponse
	err      error
}

// ask runs a request. If the caller does not wait for its end, nobody looks at what it writes.
func (b bound) ask(request func(a *answer)) answer {
	if b.ctx.Err() != nil {
		return answer{err: zk.ErrNoServer}
	}
	a := new(answer)
	if !b.env.Within(b.ctx, func() { request(a) }) {
		return answer{err: zk.ErrConnectionClosed}
	}
	return *a
}

func (b bound) Create(path string, data []byte, flags int32, acl []zk.ACL) (string, error) {
	data = bytes.Clone(data) // the library may read it after the caller has gone on
	a := b.ask(func(a *answer) { a.text, a.err = b.conn.Create(path, data, flags, acl) })
	return a.text, a.err
}

func (b bound) Delete(path string, version int32) error {
	return b.ask(func(a *answer) { a.err = b.conn.Delete(path, version) }).err
}

func (b bound) Get(path string) ([]byte, *zk.Stat, error) {
	a := b.ask(func(a *answer) { a.data, a.stat, a.err = b.conn.Get(path) })
	return a.data, a.stat, a.err
}

func (b bound) GetW(path string) ([]byte, *zk.Stat, <-chan zk.Event, error) {
	a := b.ask(func(a *answer) { a.data, a.stat, a.event, a.err = b.conn.GetW(path) })
	return a.data, a.stat, a.event, a.err
}

func (b bound) Set(path string, data []byte, version int32) (*zk.Stat, error) {
	data = bytes.Clone(data)
	a := b.ask(func(a *answer) { a.stat, a.err = b.conn.Set(path, data, version) })
	return a.stat, a.err
}

func (b bound) Exists(path string) (bool, *zk.Stat, error) {
	a := b.ask(func(a *answer) { a.exists, a.stat, a.err = b.conn.Exists(path) })
	return a.exists, a.stat, a.err
}

func (b bound) ExistsW(path string) (bool, *zk.Stat, <-chan zk.Event, error) {
	a := b.ask(func(a *answer) { a.exists, a.stat, a.event, a.err = b.conn.ExistsW(path) })
	return a.exists, a.stat, a.event, a.err
}

func (b bound) Children(path string) ([]string, *zk.Stat, error) {
	a := b.ask(func(a *answer) { a.children, a.stat, a.err = b.conn.Children(path) })
	return a.children, a.stat, a.err
}

func (b bound) ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error) {
	a := b.ask(func(a *answer) { a.children, a.stat, a.event, a.err = b.conn.ChildrenW(path) })
	return a.children, a.stat, a.event, a.err
}

func (b bound) Multi(ops ...interface{}) ([]zk.MultiResponse, error) {
	ops = withOwnData(ops)
	a := b.ask(func(a *answer) { a.results, a.err = b.conn.Multi(ops...) })
	return a.results, a.err
}

func (b bound) Sync(path string) (string, error) {
	a := b.ask(func(a *answer) { a.text, a.err = b.conn.Sync(path) })
	return a.text, a.err
}

// withOwnData returns the operations with copies of their data, which the caller cannot change.
func withOwnData(ops []interface{}) []interface{} {
	own := make([]interface{}, len(ops))
	for i, op := range ops {
		own[i] = op
		switch x := op.(type) {
		case *zk.CreateRequest:
			y := *x
			y.Data = bytes.Clone(x.Data)
			own[i] = &y
		case *zk.SetDataRequest:
			y := *x
			y.Data = bytes.Clone(x.Data)
			own[i] = &y
		}
	}
	return own
}
