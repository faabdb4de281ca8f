// Package treecache follows a tree of znodes without the bugs that the test finds in Prometheus's treecache.
package treecache

import (
	"bytes"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/prometheus/prometheus/util/treecache"
)

// retry is the pause after an error, and poll is the longest one when no watch fires.
const (
	retry = time.Second
	poll  = time.Hour
)

// Follow sends events for the znodes at and below path, and for all later changes, until quit is closed. It compares
// each complete read with all that it has sent, so a failed read does no harm. All retries wait in its one select.
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

// read adds the znodes at and below path to found, and leaves watches that report to changed.
func read(conn *zk.Conn, path string, found map[string][]byte, changed chan<- struct{}) error {
	data, _, dataEvents, err := conn.GetW(path)
	if err == zk.ErrNoNode {
		return nil // its parent's watch reports when it is created; for the root the next poll finds it
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
		if events == nil { // the znode was deleted meanwhile, which its other watch reports
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

// tell sends the differences between told and found, and updates told.
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
