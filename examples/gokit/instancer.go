// Package gokit is a port of the ZooKeeper Instancer of go-kit, which watches the instances of a service, and one in
// which its bugs are mended.
//
// [Instancer] has the logic of sd/zk in github.com/go-kit/kit v0.13.0 (GetEntries in client.go, the loop in
// instancer.go; MIT, copyright 2015 Peter Bourgon), in words of its own; sd.Event is imported from there. What the port
// changes: the goroutine is one of Env.Go, the select one of Env.Await, and the channel that stops it has the type of
// the other one.
package gokit

import (
	"context"

	"github.com/go-kit/kit/sd"
	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// Instancer knows the instances below a path.
type Instancer struct {
	conn recipes.Conn
	env  recipes.Env
	path string
	last sd.Event
	quit chan zk.Event
}

// New returns an Instancer of what is below path, which exists. It fails if it cannot read that.
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

// State returns what it knows.
func (s *Instancer) State() sd.Event { return s.last }

// Stop ends it.
func (s *Instancer) Stop() { close(s.quit) }

// entries returns the data of all instances, and a channel that tells when there are others.
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
