// Package unmodified is a service registry written as if for production: it uses *zk.Conn, goroutines, select and
// tickers, and knows nothing about a simulator. Its test runs it unchanged.
//
// It has a common bug: it repeats a create whose reply was lost. Then the service is listed twice, and the first entry
// stays when the service leaves.
package unmodified

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

const (
	retry = time.Second
	poll  = 30 * time.Second
)

// Registry keeps a service listed in a folder, and knows which services are listed there.
type Registry struct {
	conn *zk.Conn
	dir  string
	name string
	safe bool // mended: look for an entry of the service before creating one
	quit chan struct{}
	done sync.WaitGroup

	mu    sync.Mutex
	own   string
	peers []string
}

// Join lists a service and follows the list until [Registry.Leave].
func Join(conn *zk.Conn, dir, name string) *Registry { return join(conn, dir, name, false) }

// JoinSafely is Join without the bug.
func JoinSafely(conn *zk.Conn, dir, name string) *Registry { return join(conn, dir, name, true) }

func join(conn *zk.Conn, dir, name string, safe bool) *Registry {
	r := &Registry{conn: conn, dir: dir, name: name, safe: safe, quit: make(chan struct{})}
	r.done.Go(r.loop)
	return r
}

// Peers returns the names that were listed when the registry last looked.
func (r *Registry) Peers() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.peers)
}

// Leave ends the goroutine of the registry, and then deletes the entry of the service.
func (r *Registry) Leave() {
	close(r.quit)
	r.done.Wait()
	for r.own != "" {
		err := r.conn.Delete(r.own, -1)
		if err == nil || errors.Is(err, zk.ErrNoNode) {
			return
		}
		time.Sleep(retry)
	}
}

// loop lists the service, and reads the list again at every change and at least once a second.
func (r *Registry) loop() {
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		wait := r.turn()
		if wait == nil {
			wait = make(chan zk.Event)
		}
		select {
		case <-wait:
		case <-ticker.C:
		case <-time.After(retry):
		case <-r.quit:
			return
		}
	}
}

// turn registers the service if that is still to do, reads the list, and returns a watch on it, or nil after an error.
func (r *Registry) turn() <-chan zk.Event {
	if r.own == "" && !r.register() {
		return nil
	}
	children, _, watch, err := r.conn.ChildrenW(r.dir)
	if err != nil {
		return nil
	}
	r.mu.Lock()
	r.peers = children
	r.mu.Unlock()
	return watch
}

// register makes sure that the service has an entry, and reports whether it has succeeded.
func (r *Registry) register() bool {
	if r.safe {
		if _, err := r.conn.Sync(r.dir); err != nil {
			return false
		}
		children, _, err := r.conn.Children(r.dir)
		if err != nil {
			return false
		}
		for _, child := range children {
			if strings.HasPrefix(child, r.name+"-") {
				r.own = r.dir + "/" + child
				return true
			}
		}
	}
	path, err := r.conn.Create(r.dir+"/"+r.name+"-", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	if err != nil {
		return false // the next turn tries again
	}
	r.own = path
	return true
}
