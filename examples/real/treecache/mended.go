// Package treecache has a follower of a tree of znodes without the bugs that the test finds in the one of Prometheus.
package treecache

import (
	"bytes"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/prometheus/prometheus/util/treecache"
)

// Pauses until it looks again: after an error, and where nothing says that anything has changed.
const (
	retry = time.Second
	poll  = time.Hour
)

// Follow tells what is at a path and below it, and what changes there, until quit is closed. It compares what there is
// with all that it has told, so that it does not matter what an attempt that failed has told, and waits in one place.
func Follow(conn *zk.Conn, path string, events chan<- treecache.ZookeeperTreeCacheEvent, quit <-chan struct{}) {
	told := map[string][]byte{}
	for {
		changed := make(chan struct{}, 1)
		pause := poll
		found := map[string][]byte{}
		_, err := conn.Sync(path)
		if err == nil {
			err = read(conn, path, found, changed)
		}
		if err == nil {
			tell(told, found, events)
		} else {
			pause = retry
		}
		select {
		case <-changed:
		case <-time.After(pause):
		case <-quit:
			return
		}
	}
}

// read finds what there is, and leaves watches.
func read(conn *zk.Conn, path string, found map[string][]byte, changed chan<- struct{}) error {
	data, _, dataEvents, err := conn.GetW(path)
	if err == zk.ErrNoNode {
		return nil // the watch of the folder tells when it comes; at the top the next poll does
	}
	if err != nil {
		return err
	}
	children, _, childEvents, err := conn.ChildrenW(path)
	if err != nil && err != zk.ErrNoNode {
		return err
	}
	found[path] = data
	for _, events := range []<-chan zk.Event{dataEvents, childEvents} {
		if events == nil { // the znode was deleted after its data was read: that watch tells
			continue
		}
		go func() {
			<-events
			select {
			case changed <- struct{}{}:
			default:
			}
		}()
	}
	for _, name := range children {
		if err := read(conn, path+"/"+name, found, changed); err != nil {
			return err
		}
	}
	return nil
}

// tell tells what has changed.
func tell(told, found map[string][]byte, events chan<- treecache.ZookeeperTreeCacheEvent) {
	for path := range told {
		if _, there := found[path]; !there {
			delete(told, path)
			events <- treecache.ZookeeperTreeCacheEvent{Path: path}
		}
	}
	for path, data := range found {
		if old, known := told[path]; !known || !bytes.Equal(old, data) {
			told[path] = data
			events <- treecache.ZookeeperTreeCacheEvent{Path: path, Data: &data}
		}
	}
}
