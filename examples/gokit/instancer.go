// Package gokit has a port of go-kit's ZooKeeper Instancer, which watches the instances of a service, and a
// version without its bugs.
//
// [Instancer] has the logic of sd/zk in github.com/go-kit/kit v0.13.0 (GetEntries in client.go, the loop in
// instancer.go; MIT, copyright 2015 Peter Bourgon), but its code is written anew; it imports sd.Event from there. The
// port makes three changes: Env.Go starts the goroutine, Env.Await replaces the select, and the channel that stops the
// goroutine has the type of a watch, as Await demands.
package gokit

import (
	"context"

	"github.com/go-kit/kit/sd"
	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// Instancer keeps the list of the instances below a path.
type Instancer struct {
	conn recipes.Conn
	env  recipes.Env
	path string
	last sd.Event
	quit chan zk.Event
}

// New returns an Instancer for path, which must exist. It fails if it cannot list the children of path.
func New(conn recipes.Conn, env recipes.Env, path string) (*Instancer, error) {
	s := &Instancer{conn: conn, env: env, path: path, quit: make(chan zk.Event)}
	instances, changed, err := s.entries()
	if err != nil {
		return nil, err
	}
	s.last = sd.Event{Instances: instances}
	env.Go("instancer", func() { s.loop(changed) })
	return s, nil
}

// State returns the instances, or the error of the last listing.
func (s *Instancer) State() sd.Event { return s.last }

// Stop ends the goroutine of the Instancer.
func (s *Instancer) Stop() { close(s.quit) }

// entries returns the data of all instances that it can read, and a watch on the list.
func (s *Instancer) entries() ([]string, <-chan zk.Event, error) {
	names, _, changed, err := s.conn.ChildrenW(s.path)
	if err != nil {
		return nil, changed, err
	}
	var all []string
	for _, name := range names {
		if data, _, err := s.conn.Get(s.path + "/" + name); err == nil {
			all = append(all, string(data))
		}
	}
	return all, changed, nil
}

func (s *Instancer) loop(changed <-chan zk.Event) {
	for {
		i, _, _ := s.env.Await(context.Background(), changed, s.quit)
		if i == 1 {
			return
		}
		var instances []string
		var err error
		if instances, changed, err = s.entries(); err != nil {
			s.last = sd.Event{Err: err}
			continue
		}
		s.last = sd.Event{Instances: instances}
	}
}
