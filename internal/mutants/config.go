package mutants

import (
	"context"
	"maps"
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// The flaws of configurations.
const (
	// TornConfig sets the values one by one, with neither flag nor multi.
	TornConfig Flaw = 36
	// TornRead sets the values in one multi and reads them one by one, without checking for another update in between.
	TornRead Flaw = 163
	// WatchTrust trusts what it has read as long as the watch on the flag has not fired. After a reconnect go-zookeeper
	// shows newer data before the watch fires.
	WatchTrust Flaw = 164
	// Unfenced writes the values of an update without checking that no other has begun.
	Unfenced Flaw = 165
	// NoRearm is a cached reader that leaves its watch once.
	NoRearm Flaw = 166
	// StaleConfig reads whatever its server has, although another client has told it of a later set.
	StaleConfig Flaw = 167
	// KeepWatch is a cached reader that relies on its watch across disconnects. go-zookeeper may set the watch again as
	// of a zxid at which it had fired.
	KeepWatch Flaw = 168
	// DeniedOwn takes a bad version, caused by its own first try, for another update.
	DeniedOwn Flaw = 169
	// LateDate is a cached reader that leaves its watch after it has read, and dates the set by what the watch's
	// request shows. It takes an update in between for the one that it read, and the watch tells of the next. Values
	// are set in one multi.
	LateDate Flaw = 186
	// TakenOver takes a bad version after a lost answer for its own first try, without looking. It may come from
	// another update, which has taken over.
	TakenOver Flaw = 187
)

// Config is a configuration with one flaw. Otherwise it follows the protocol of recipes.FlaggedConfig in the plainest
// way.
type Config struct {
	patient
	dir  string
	flaw Flaw
}

// NewConfig returns the configuration in dir, which must exist, with the given
// flaw.
func NewConfig(conn recipes.Conn, env recipes.Env, dir string, flaw Flaw) *Config {
	return &Config{patient{conn, env}, dir, flaw}
}

// Update replaces the values; the names are always the same.
func (c *Config) Update(ctx context.Context, values map[string][]byte) (err error) {
	defer recipes.Forget(c.env)(&err)
	names := slices.Sorted(maps.Keys(values))
	if c.flaw == TornRead || c.flaw == LateDate {
		var ops []interface{}
		for _, name := range names {
			ops = append(ops, &zk.SetDataRequest{Path: c.dir + "/" + name, Data: values[name], Version: -1})
		}
		return c.until(ctx, func() error {
			_, err := c.conn.Multi(append(ops, &zk.SetDataRequest{Path: c.dir, Version: -1})...)
			return err
		})
	}
	version := int32(-1)
	if c.flaw != TornConfig {
		err := c.until(ctx, func() error {
			stat, err := c.conn.Set(c.dir, []byte("changing"), -1)
			if err == nil && c.flaw != Unfenced {
				version = stat.Version
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, name := range names {
		err := c.until(ctx, func() error {
			_, err := c.conn.Multi(
				&zk.CheckVersionRequest{Path: c.dir, Version: version},
				&zk.SetDataRequest{Path: c.dir + "/" + name, Data: values[name], Version: -1})
			return err
		})
		if err != nil {
			return changed(err)
		}
	}
	return changed(c.end(ctx, version))
}

// end sets the flag; after a bad version it checks whether its own try caused it.
func (c *Config) end(ctx context.Context, version int32) error {
	ready := "ready " + c.env.UUID()
	tries := 0
	err := c.until(ctx, func() error {
		tries++
		_, err := c.conn.Set(c.dir, []byte(ready), version)
		return err
	})
	if err != zk.ErrBadVersion || c.flaw == DeniedOwn {
		return err
	}
	if c.flaw == TakenOver && tries > 1 {
		return nil
	}
	return c.synced(ctx, c.dir, func() error {
		flag, _, err := c.conn.Get(c.dir)
		if err == nil && string(flag) != ready {
			err = zk.ErrBadVersion
		}
		return err
	})
}

func changed(err error) error {
	if err == zk.ErrBadVersion {
		return recipes.ErrConfigChanged
	}
	return err
}

// Get returns the values and the zxid of the update.
func (c *Config) Get(ctx context.Context) (values map[string][]byte, zxid int64, err error) {
	defer recipes.Forget(c.env)(&values, &zxid, &err)
	read := func() error {
		values, zxid, _, err = c.read(ctx)
		return err
	}
	if c.flaw == StaleConfig {
		err = c.until(ctx, read)
	} else {
		err = c.synced(ctx, c.dir, read)
	}
	return values, zxid, err
}

// read also returns a watch on dir.
func (c *Config) read(ctx context.Context) (values map[string][]byte, zxid int64, changed <-chan zk.Event, err error) {
	defer recipes.Forget(c.env)(&values, &zxid, &changed, &err)
	for ctx.Err() == nil {
		recipes.Keep(c.env)
		session := c.conn.SessionID()
		var flag []byte
		var begin *zk.Stat
		flag, begin, changed, err = c.conn.GetW(c.dir)
		if err != nil {
			return nil, 0, nil, err
		}
		if string(flag) == "changing" {
			return nil, 0, changed, recipes.ErrConfigInvalid
		}
		names, _, err := c.conn.Children(c.dir)
		slices.Sort(names)
		values = map[string][]byte{}
		for _, name := range names {
			if err == nil {
				values[name], err = c.get(c.dir + "/" + name)
			}
		}
		if err != nil {
			return nil, 0, nil, err
		}
		if c.whole(session, begin, changed) {
			return values, begin.Mzxid, changed, nil
		}
	}
	return nil, 0, nil, ctx.Err()
}

// get tries again at once when the connection is lost: go-zookeeper sends the second request when it has reconnected.
func (c *Config) get(path string) ([]byte, error) {
	data, _, err := c.conn.Get(path)
	if err == zk.ErrConnectionClosed {
		data, _, err = c.conn.Get(path)
	}
	return data, err
}

// whole reports whether everything that was read since begin belongs to one update.
func (c *Config) whole(session int64, begin *zk.Stat, changed <-chan zk.Event) bool {
	switch c.flaw {
	case TornConfig, TornRead:
		return true
	case WatchTrust:
		return len(changed) == 0
	}
	_, end, err := c.conn.Exists(c.dir)
	return err == nil && end.Mzxid == begin.Mzxid && c.conn.SessionID() == session
}

// Watch reports every set that it sees, until ctx is done.
func (c *Config) Watch(ctx context.Context, told func(values map[string][]byte, zxid int64)) error {
	defer recipes.Forget(c.env)()
	latest := int64(0)
	for {
		recipes.Keep(c.env, &latest)
		var event, session <-chan zk.Event
		if c.flaw != KeepWatch {
			session = c.env.SessionEvents()
		}
		err := c.until(ctx, func() error {
			values, zxid, changed, err := c.read(ctx)
			if err == nil && c.flaw == LateDate {
				zxid, changed, err = c.date()
			}
			event = changed
			if err == nil && zxid > latest {
				latest = zxid
				told(values, zxid)
			}
			return err
		})
		if err != nil && err != recipes.ErrConfigInvalid {
			return err
		}
		recipes.Keep(c.env, &latest, &event, &session)
		_, _, err = c.env.Await(ctx, event, session)
		if c.flaw == NoRearm && err == nil {
			_, _, err = c.env.Await(ctx, nil)
		}
		if err != nil {
			return err
		}
	}
}

// date leaves a watch on dir and returns the zxid of the latest update by then.
func (c *Config) date() (zxid int64, changed <-chan zk.Event, err error) {
	_, stat, changed, err := c.conn.GetW(c.dir)
	if err != nil {
		return 0, nil, err
	}
	return stat.Mzxid, changed, nil
}
