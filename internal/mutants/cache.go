package mutants

import (
	"context"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// Rewatch is a cache of children that reads all of them again whenever one has changed. Each time it leaves a watch on
// each, besides those that are already there.
const Rewatch Flaw = 181

// Remade is a cache of children that compares when a child was changed, not when it was made. A child that was deleted
// and made again between two looks is reported as updated.
const Remade Flaw = 232

// RunRemadeCache runs a cache of the children of dir with the flaw Remade until ctx is done, and calls f with all
// changes. Otherwise it is recipes.ChildrenCache.
func RunRemadeCache(
	ctx context.Context, conn recipes.Conn, env recipes.Env, dir string, f func(changes []recipes.Change),
) error {
	return recipes.NewChildrenCache(conn, env, dir, recipes.WatchOptions{}).Run(ctx,
		func(_ []recipes.Child, changes []recipes.Change) bool {
			var told []recipes.Change
			for _, c := range changes { // a child that was made again is removed directly before it is added
				if n := len(told); n > 0 && told[n-1].Name == c.Name {
					c.Kind = recipes.Updated
					told = told[:n-1]
				}
				told = append(told, c)
			}
			f(told)
			return true
		})
}

// ChildrenCache is a cache of the children of a znode with the flaw Rewatch. Otherwise it follows the protocol of
// recipes.ChildrenCache in the plainest way.
type ChildrenCache struct {
	patient
	dir string
}

// NewChildrenCache returns a cache of the children of dir.
func NewChildrenCache(conn recipes.Conn, env recipes.Env, dir string) *ChildrenCache {
	return &ChildrenCache{patient{conn, env}, dir}
}

// Run calls f with all children and their states whenever something has changed, until ctx is done.
func (c *ChildrenCache) Run(ctx context.Context, f func(now []recipes.Child)) error {
	for {
		var now []recipes.Child
		var events []<-chan zk.Event
		err := c.synced(ctx, c.dir, func() (err error) {
			now, events, err = c.read(c.env.SessionEvents())
			return err
		})
		if err != nil {
			return err
		}
		f(now)
		if _, _, err := c.env.Await(ctx, events...); err != nil {
			return err
		}
	}
}

// read reads everything, and returns what fires when something has changed.
func (c *ChildrenCache) read(change <-chan zk.Event) (now []recipes.Child, events []<-chan zk.Event, err error) {
	names, _, event, err := c.conn.ChildrenW(c.dir)
	if err == zk.ErrNoNode {
		_, _, event, err = c.conn.ExistsW(c.dir)
		return nil, []<-chan zk.Event{change, event}, err
	}
	events = append(events, change, event)
	for _, name := range names {
		if err != nil {
			break
		}
		child := recipes.Child{Name: name}
		child.Data, child.Stat, event, err = c.conn.GetW(c.dir + "/" + name)
		switch err {
		case nil:
			now, events = append(now, child), append(events, event)
		case zk.ErrNoNode: // the list has also changed
			err = nil
		}
	}
	return now, events, err
}
