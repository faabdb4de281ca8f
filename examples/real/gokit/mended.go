// Package gokit has what mends the bugs that the test finds in the Instancer of go-kit.
package gokit

import (
	"time"

	kit "github.com/go-kit/kit/sd/zk"
	"github.com/go-zookeeper/zk"
)

// Patient is a client of go-kit whose GetEntries does not fail, so that the loop of an Instancer, which gives up at the
// first error, goes on; and which does not leave out an instance that it cannot read.
type Patient struct {
	kit.Client
	Conn *zk.Conn
	Quit chan struct{} // closed: give up
}

// pause is how long it waits before it tries again.
const pause = time.Second

// GetEntries returns the data of what is below path, and a watch.
func (p *Patient) GetEntries(path string) ([]string, <-chan zk.Event, error) {
	for {
		entries, changed, err := p.entries(path)
		if err == nil {
			return entries, changed, nil
		}
		select {
		case <-time.After(pause):
		case <-p.Quit:
			return nil, nil, err
		}
	}
}

func (p *Patient) entries(path string) (entries []string, changed <-chan zk.Event, err error) {
	if _, err := p.Conn.Sync(path); err != nil { // or a new session may be told the past
		return nil, nil, err
	}
	names, _, changed, err := p.Conn.ChildrenW(path)
	for _, name := range names {
		data, _, err := p.Conn.Get(path + "/" + name)
		switch err {
		case nil:
			entries = append(entries, string(data))
		case zk.ErrNoNode: // it has gone meanwhile
		default:
			return nil, nil, err
		}
	}
	return entries, changed, err
}
