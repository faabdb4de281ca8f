package gokit

import (
	"context"
	"time"

	"github.com/go-kit/kit/sd"
	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// Mended is the Instancer without the bugs that the tests find:
//
//   - After an error the watch is a nil channel, which never fires. So it tries again after a pause.
//   - The whole listing fails if it cannot read the data of an instance that still exists.
//   - It looks again when its session changes state, because a watch may be lost with the connection.
type Mended struct{ Instancer }

// pause is the wait before the next try.
const pause = 100 * time.Millisecond

// NewMended is New for the Instancer without bugs. It does not fail, because its goroutine does all listings.
func NewMended(conn recipes.Conn, env recipes.Env, path string) *Mended {
	s := &Mended{Instancer{conn: conn, env: env, path: path, quit: make(chan zk.Event)}}
	env.Go("instancer", s.loop)
	return s
}

func (s *Mended) loop() {
	for {
		session := s.env.SessionEvents()
		instances, changed, err := s.entries()
		ctx, end := context.Background(), context.CancelFunc(func() {})
		if err != nil {
			ctx, end = s.env.WithTimeout(ctx, pause)
		}
		s.last = sd.Event{Instances: instances, Err: err}
		i, _, _ := s.env.Await(ctx, changed, session, s.quit)
		end()
		if i == 2 {
			return
		}
	}
}

// entries is like that of Instancer, but fails if it cannot read the data of an instance that still exists.
func (s *Mended) entries() ([]string, <-chan zk.Event, error) {
	if _, err := s.conn.Sync(s.path); err != nil { // otherwise a new session may read an old state
		return nil, nil, err
	}
	names, _, changed, err := s.conn.ChildrenW(s.path)
	if err != nil {
		return nil, nil, err
	}
	var all []string
	for _, name := range names {
		data, _, err := s.conn.Get(s.path + "/" + name)
		switch err {
		case nil:
			all = append(all, string(data))
		case zk.ErrNoNode:
		default:
			return nil, nil, err
		}
	}
	return all, changed, nil
}
