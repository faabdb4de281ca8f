package recipes

import (
	"context"
	"maps"
	"slices"

	"github.com/go-zookeeper/zk"
)

// FlaggedConfig is a [Config] for sets that are too large for one multi. It is updated value by value while a flag
// says that it is invalid, as in "ZooKeeper: Wait-free coordination for Internet-scale systems" (USENIX 2010, section
// 2.3).
//
// # Protocol
//
// The flag is the data of dir, and the version of dir tells updates apart.
//
// To update:
//
//  1. Read the version of dir, and set dir to "changing" if it still has that version. The new version of dir is the
//     version of the update. If dir has another version, the read may have been stale, or an earlier try has set dir:
//     begin again.
//  2. For each value, in a multi that checks that version, set it, or create it when it is missing. Then delete the
//     values that are not in the new set.
//  3. Set dir to "ready GUID" if it still has that version. If the answer is lost and the retry finds another
//     version, fence and look for the GUID: the first try may have set it.
//
// A later updater takes over at step 1, whether the earlier updater has died or still goes on; if it goes on, it ends
// at its next check. Hence an update writes the whole set.
//
// Read as [Config] does. While dir is "changing" there is no set.
//
// # What the text leaves out
//
// The paper deletes a znode "ready", changes the values and creates it again. A reader watches it and trusts what it
// has read unless it is told of a change, because ZooKeeper notifies before it shows newer data. That is true on one
// connection. After a reconnect go-zookeeper sends the requests that waited before it sets its watches again, and so
// shows the newer data first (mutant watch-trust). So the reader looks at the flag again. The paper has one updater,
// the leader. With two, one that was paused would go on writing into the set of the other (mutant unfenced): hence
// the check in every write. And a bad version at the end may be due to the first try of the same write (mutant
// denied-own).
//
// When an updater dies, the configuration stays invalid until the next update
// ends. Readers that must go on in the meantime use [CachedConfig].
//
// # Fan-out
//
// Nobody watches but [CachedConfig].
//
// A FlaggedConfig may be used by several goroutines at once, and together with a
// Config in the same dir.
type FlaggedConfig struct{ config }

// NewFlaggedConfig is like [NewConfig].
func NewFlaggedConfig(conn Conn, env Env, dir string, opt ConfigOptions) *FlaggedConfig {
	return &FlaggedConfig{config{session{conn, env}, dir, open(opt.ACL)}}
}

// Update replaces the whole set by values; see [Config.Update] for their names. It returns ErrConfigChanged when
// another update has begun meanwhile, perhaps an earlier one that its caller has given up; the set is then the
// other's, or will be when that update ends. After any other error, including ctx's, the configuration may stay
// invalid until the next update ends.
func (c *FlaggedConfig) Update(ctx context.Context, values map[string][]byte) (err error) {
	defer Forget(c.env)(&err)
	if !validValues(values) {
		return zk.ErrInvalidPath
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	version, err := c.begin(ctx)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err == nil {
			err = c.put(ctx, version, c.dir+"/"+name, values[name])
		}
	}
	if err == nil {
		err = c.sweep(ctx, version, values)
	}
	if err == nil {
		err = c.end(ctx, version)
	}
	if err == zk.ErrBadVersion {
		return ErrConfigChanged
	}
	return err
}

// begin makes the configuration invalid and returns the version of the update. A request of an earlier session that
// is executed late changes nothing, because the version is another. begin fails with zk.ErrBadVersion when another
// update has begun.
func (c *FlaggedConfig) begin(ctx context.Context) (version int32, err error) {
	defer Forget(c.env)(&version, &err)
	again := false // an own try may have changed the version
	for stale := true; ; stale = false {
		err = c.retry(ctx, func() error {
			var stat *zk.Stat
			look := func() (err error) {
				var exists bool
				if exists, stat, err = c.on(ctx).Exists(c.dir); err == nil && !exists {
					err = zk.ErrNoNode
				}
				return err
			}
			var err error
			if stale {
				err = look()
			} else { // a new session may have begun on a server that lags
				err = c.fresh(ctx, look, &stat)
			}
			if err != nil {
				return err
			}
			stat, err = c.on(ctx).Set(c.dir, []byte(changing), stat.Version)
			if again = again || interrupted(err); err == nil {
				version = stat.Version
			}
			return err
		}, &version, &again)
		switch {
		case err == zk.ErrNoNode:
			if err := c.makePath(ctx, c.dir, c.acl); err != nil {
				return 0, err
			}
		case err != zk.ErrBadVersion, !again && !stale: // the second reading is not stale
			return version, err
		}
	}
}

// write executes one write of the update, or fails with zk.ErrBadVersion when another update has begun.
func (c *FlaggedConfig) write(ctx context.Context, version int32, op interface{}) (err error) {
	defer Forget(c.env)(&err)
	return c.retry(ctx, func() error {
		_, err := c.on(ctx).Multi(&zk.CheckVersionRequest{Path: c.dir, Version: version}, op)
		return err
	})
}

func (c *FlaggedConfig) put(ctx context.Context, version int32, path string, data []byte) error {
	err := c.write(ctx, version, &zk.SetDataRequest{Path: path, Data: data, Version: -1})
	if err == zk.ErrNoNode {
		err = c.write(ctx, version, &zk.CreateRequest{Path: path, Data: data, Acl: c.acl})
	}
	if err == zk.ErrNodeExists { // the first try has created it, and its answer was lost
		return nil
	}
	return err
}

// sweep deletes the values that are not in the new set. An earlier update can create no more values, so a listing
// after a fence shows all.
func (c *FlaggedConfig) sweep(ctx context.Context, version int32, values map[string][]byte) (err error) {
	defer Forget(c.env)(&err)
	var names []string
	err = c.fresh(ctx, func() (err error) {
		names, _, err = c.on(ctx).Children(c.dir)
		return err
	}, &names)
	slices.Sort(names)
	for _, name := range names {
		if _, keep := values[name]; keep || isReceipt(name) || err != nil {
			continue
		}
		err = c.write(ctx, version, &zk.DeleteRequest{Path: c.dir + "/" + name, Version: -1})
		if err == zk.ErrNoNode { // deleted by the first try
			err = nil
		}
	}
	return err
}

// end makes the configuration valid.
func (c *FlaggedConfig) end(ctx context.Context, version int32) (err error) {
	defer Forget(c.env)(&err)
	ready := "ready " + c.env.UUID()
	err = c.retry(ctx, func() error {
		_, err := c.on(ctx).Set(c.dir, []byte(ready), version)
		return err
	})
	if err != zk.ErrBadVersion {
		return err
	}
	var flag []byte
	if err := c.fresh(ctx, func() (err error) {
		flag, _, err = c.on(ctx).Get(c.dir)
		return err
	}, &flag); err != nil {
		return err
	}
	if string(flag) != ready {
		return zk.ErrBadVersion
	}
	return nil
}
