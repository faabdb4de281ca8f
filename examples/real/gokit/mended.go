// Package gokit has a client for the Instancer of go-kit without the bugs that the test finds.
package gokit

import (
	"time"

	kit "github.com/go-kit/kit/sd/zk"
	"github.com/go-zookeeper/zk"
)

// Patient is a client of go-kit whose GetEntries tries again after an error, because the loop of an Instancer hears of
// nothing after one. It never leaves out an instance because it could not read it.
type Patient struct {
	kit.Client
	Conn *zk.Conn
	Quit chan struct{} // closed to make GetEntries give up
}

// pause is the wait before the next try.
const pause = time.Second

// GetEntries returns the data of the children of path, and a watch on their list.
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
	if _, err := p.Conn.Sync(path); err != nil { // otherwise a new session may read an old state
		return nil, nil, err
	}
	names, _, changed, err := p.Conn.ChildrenW(path)
	for _, name := range names {
		data, _, err := p.Conn.Get(path + "/" + name)
		switch err {
		case nil:
			entries = append(entries, string(data))
		case zk.ErrNoNode: // it was deleted meanwhile
		default:
			return nil, nil, err
		}
	}
	return entries, changed, err
}
