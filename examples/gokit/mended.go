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
//   - After an error there is no watch, and a nil channel never says anything: it tries again after a pause.
//   - An instance whose data cannot be read, but for one that has gone, makes the whole list one that cannot be read.
//   - It looks again when its session changes state, since a watch may be lost with the connection.
type Mended struct{ Instancer }

// pause is how long it waits before it tries again.
const pause = 100 * time.Millisecond

// NewMended is New for the Instancer without bugs. It does not fail.
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

// entries is that of the Instancer, and fails if the data of one cannot be read.
func (s *Mended) entries() ([]string, <-chan zk.Event, error) {
	if _, err := s.conn.Sync(s.path); err != nil { // or a new session may be told the past
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
