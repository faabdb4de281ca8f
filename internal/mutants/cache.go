package mutants

import (
	"context"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// Rewatch is a cache of children that reads all of them again whenever one has changed, and leaves a watch on each
// every time, beside those that it has there already.
const Rewatch Flaw = 181

// Remade is a cache of children that looks at when a child was changed, not at when it was made: one that was deleted
// and made again between two looks is told as updated.
const Remade Flaw = 232

// RunRemadeCache runs a cache of the children of dir with the flaw Remade until ctx is done, and calls f with all
// changes. Apart from the flaw it is recipes.ChildrenCache.
func RunRemadeCache(
	ctx context.Context, conn recipes.Conn, env recipes.Env, dir string, f func(changes []recipes.Change),
) error {
	return recipes.NewChildrenCache(conn, env, dir, recipes.WatchOptions{}).Run(ctx,
		func(_ []recipes.Child, changes []recipes.Change) bool {
			var told []recipes.Change
			for _, c := range changes { // of one that was made again the removal comes directly before the addition
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

// ChildrenCache is a cache of the children of a znode that has the flaw Rewatch. Apart from it, it follows the protocol
// of recipes.ChildrenCache in the plainest way.
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
		case zk.ErrNoNode: // the list has changed, too
			err = nil
		}
	}
	return now, events, err
}
