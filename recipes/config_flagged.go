package recipes

import (
	"context"
	"maps"
	"slices"

	"github.com/go-zookeeper/zk"
)

// FlaggedConfig is a [Config] that is updated value by value behind a flag that
// says that it is invalid, as in "ZooKeeper: Wait-free coordination for
// Internet-scale systems" (USENIX 2010, section 2.3). It is for sets that are too
// large for one multi.
//
// # Protocol
//
// The flag is the data of dir, and the version of dir tells updates apart.
//
// To update:
//
//  1. Read the version of dir, and set dir to "changing" if it still has that.
//     The new version of dir is that of the update. If dir has another one, the
//     reading may have been stale, or an earlier try has set it: begin again.
//  2. For each value, in a multi that checks that version, set it, or create it
//     when it is missing. Then delete those that are not of the new set.
//  3. Set dir to "ready GUID" if it still has that version. If the answer is lost
//     and the version is another when it is tried again, fence and look whether
//     the GUID is there: it may have been the first try.
//
// A later updater takes over, at step 1, from an update that goes on as from
// one whose updater has died; the earlier one ends at its next check. Hence an
// update writes the whole set.
//
// To read, read as [Config] does. While dir is "changing" there is no set.
//
// # What the text leaves out
//
// The paper deletes a znode "ready", changes the values and creates it again; a
// reader watches it and trusts what it has read unless it is told of a change,
// since ZooKeeper notifies before it shows newer data. That is so on one
// connection; go-zookeeper, which asks for its watches again after what was waiting
// for the reconnect, shows the newer data first (mutant watch-trust). So the reader looks
// at the flag again. The paper has one updater, the leader. Of two, one that was
// paused would go on writing into the set of the other (mutant unfenced): hence the
// check in every write. And a bad version at the end may be due to the first try of
// the same write (mutant denied-own).
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

// NewFlaggedConfig is as [NewConfig].
func NewFlaggedConfig(conn Conn, env Env, dir string, opt ConfigOptions) *FlaggedConfig {
	return &FlaggedConfig{config{session{conn, env}, dir, open(opt.ACL)}}
}

// Update replaces the whole set by values; see [Config.Update] for their names.
// It returns ErrConfigChanged when another update has begun meanwhile, perhaps an earlier one that its caller has given
// up; the set is that of the other then, or will be when that ends. After any other error, also when ctx is done in
// between, the configuration may stay invalid until the next update ends.
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

// begin makes the configuration invalid and returns the version of the update. What it has sent in an earlier session
// may still be executed, and changes nothing then: the version is another. It fails with zk.ErrBadVersion when another
// has begun.
func (c *FlaggedConfig) begin(ctx context.Context) (version int32, err error) {
	defer Forget(c.env)(&version, &err)
	again := false // a try of its own may have changed the version
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

// write executes one write of the update, or fails with zk.ErrBadVersion when
// another has begun.
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
	if err == zk.ErrNodeExists { // by the first try of that write, whose answer was lost
		return nil
	}
	return err
}

// sweep deletes the values that are not of the new set. An earlier update can
// create none any more, so that a listing after a fence shows all.
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
