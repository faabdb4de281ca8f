package recipes

import (
	"context"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

// Child is a child of a znode, as read.
type Child struct {
	Name string
	Data []byte
	Stat *zk.Stat
}

// ChangeKind says what has happened to a child.
type ChangeKind uint8

// The kinds of changes.
const (
	Added ChangeKind = iota
	Updated
	Removed
)

// String returns "added", "updated" or "removed".
func (k ChangeKind) String() string { return [...]string{"added", "updated", "removed"}[k] }

// Change is what has happened to a child. For a removed child it has what was last known.
type Change struct {
	Kind ChangeKind
	Child
}

// ChildrenCache keeps the names and the data of the children of one znode and
// tells which were added, updated and removed: Curator's PathChildrenCache.
//
// # Protocol
//
//  1. List the children, leaving a watch, as [ChildrenWatch] does.
//  2. Get the data of children that are new or whose watch has fired, leaving a watch on each. Read as [DataWatch]
//     does, with a fence for each new session. Ignore a child that is gone by then: the watch on the list fires too.
//  3. Tell what is different. A child with another czxid was deleted and created again: tell it as removed and added.
//  4. When the watch on the list fires, go to 1; when another one fires, go to 2. After the connection was lost, read
//     everything again.
//
// For each child, no state is told that is older than one told before, and in the end the last one is told. Children
// are read one by one, so together they are not a snapshot.
//
// # What the texts leave out
//
// The event is not to be relied on, not even for what has happened: only what is read counts. The end of a session
// removes nothing, and nothing is told of it (but see WatchOptions.Suspect). Mutant forgetful tells all children as
// removed and then as added.
//
// # Fan-out
//
// One notification for each change of a child's data, two for each deletion (the child's and the list's), one for
// each creation. A cache of n children leaves n+1 watches and waits for n+1 channels, so it is for hundreds or a few
// thousand children.
type ChildrenCache struct {
	session
	dir string
	opt WatchOptions
}

// NewChildrenCache returns a cache of the children of the znode dir, which need
// not exist.
func NewChildrenCache(conn Conn, env Env, dir string, opt WatchOptions) *ChildrenCache {
	return &ChildrenCache{session{conn, env}, dir, opt}
}

// Run calls f, from the calling goroutine, with all children, sorted by name, and with what has changed since the
// last call: once at the start, even if there are no children, and then after each change. f may keep what it gets
// but must not change it. Run ends as [DataWatch.Run] does; a child that may not be read ends it with zk.ErrNoAuth.
func (c *ChildrenCache) Run(ctx context.Context, f func(now []Child, changes []Change) bool) error {
	v := &view{observer: observer{session: c.session, opt: c.opt}, dir: c.dir}
	for first := true; ; first = false {
		changes, err := v.news(ctx, first)
		if err != nil {
			return err
		}
		if !f(v.now(), changes) {
			return nil
		}
	}
}

// news returns what has changed since its last call, and waits until something has. The first time it does not wait.
func (v *view) news(ctx context.Context, first bool) (changes []Change, err error) {
	defer Forget(v.env)(v, &changes, &err)
	for seen := !first; ; seen = true {
		if seen {
			if len(v.change) == 0 { // else some of it was read before a loss, and all is read again
				v.doubt(false)
			}
			if err := v.pause(ctx); err != nil {
				return nil, err
			}
		}
		Keep(v.env, v)
		v.listen()
		if changes, err = v.update(ctx); err != nil || first && !seen || len(changes) > 0 {
			return changes, err
		}
	}
}

// view is what one run of a cache knows.
type view struct {
	observer
	dir    string
	listed <-chan zk.Event // watch on the list; nil: to be listed
	kids   []kid           // sorted by name
}

// kid is a child that was listed.
type kid struct {
	Child                 // as last told; Stat is nil before
	event <-chan zk.Event // watch on it; nil: to be read
}

// update reads what has to be read and returns what is different.
func (v *view) update(ctx context.Context) (changes []Change, err error) {
	if v.listed == nil {
		names, _, event, err := look(ctx, &v.observer, v.dir, v.on(ctx).ChildrenW)
		if err != nil {
			return nil, err
		}
		v.listed = event
		changes = v.list(names)
	}
	for i := range v.kids {
		Keep(v.env, v, &changes)
		k := &v.kids[i]
		if k.event != nil {
			continue
		}
		path := strings.TrimSuffix(v.dir, "/") + "/" + k.Name
		fresh := Child{Name: k.Name}
		err := v.read(ctx, path, func() (err error) {
			fresh.Data, fresh.Stat, k.event, err = v.on(ctx).GetW(path)
			if err == zk.ErrNoNode {
				fresh.Stat, err = nil, nil
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if fresh.Stat != nil {
			changes = k.compare(changes, fresh)
		}
	}
	return changes, nil
}

// list stores a list of names and returns the children that are gone.
func (v *view) list(names []string) (removed []Change) {
	slices.Sort(names)
	old := v.kids
	v.kids = make([]kid, len(names))
	for i, name := range names {
		v.kids[i].Name = name
	}
	for _, k := range old {
		if i, found := slices.BinarySearch(names, k.Name); found {
			v.kids[i] = k
		} else if k.Stat != nil {
			removed = append(removed, Change{Removed, k.Child})
		}
	}
	return removed
}

// compare stores what was read and appends what is different.
func (k *kid) compare(changes []Change, fresh Child) []Change {
	old := k.Child
	k.Child = fresh
	switch {
	case old.Stat == nil:
		return append(changes, Change{Added, fresh})
	case old.Stat.Czxid != fresh.Stat.Czxid:
		return append(changes, Change{Removed, old}, Change{Added, fresh})
	case old.Stat.Mzxid != fresh.Stat.Mzxid:
		return append(changes, Change{Updated, fresh})
	}
	return changes
}

// now returns the known children.
func (v *view) now() []Child {
	all := make([]Child, 0, len(v.kids))
	for _, k := range v.kids {
		if k.Stat != nil {
			all = append(all, k.Child)
		}
	}
	return all
}

// pause waits until a watch fires, and marks all that have fired; after the connection was lost, it marks all.
func (v *view) pause(ctx context.Context) error {
	events := append(make([]<-chan zk.Event, 0, len(v.kids)+2), nil, v.listed)
	for _, k := range v.kids {
		events = append(events, k.event)
	}
	fired, err := v.wait(ctx, events...)
	if err != nil {
		return err
	}
	if fired <= 1 || len(v.listed) > 0 {
		v.listed = nil
	}
	for i := range v.kids {
		if k := &v.kids[i]; fired == 0 || fired == i+2 || len(k.event) > 0 {
			k.event = nil
		}
	}
	return nil
}
