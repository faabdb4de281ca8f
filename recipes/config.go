package recipes

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/go-zookeeper/zk"
)

// Errors of configurations.
var (
	// ErrConfigChanged is returned by Update when another update came first or, for a [FlaggedConfig], has begun
	// meanwhile.
	ErrConfigChanged = errors.New("recipes: configuration was changed by another update")
	// ErrConfigInvalid is returned by Get while a [FlaggedConfig] is being changed, or after its updater has died in the
	// middle.
	ErrConfigInvalid = errors.New("recipes: configuration is being changed")
)

// ConfigOptions are the options of a configuration. The zero value is fine.
type ConfigOptions struct {
	ACL []zk.ACL // of the znodes made; nil: everything for everybody
}

// ConfigSet is one consistent set of values: everything of one update and nothing of any other. It must not be
// changed.
type ConfigSet struct {
	Values map[string][]byte
	// Zxid of the update, higher for each later one. Before the first update it is the zxid that created dir, or 0 if
	// there is no dir.
	Zxid int64
	stat *zk.Stat // of dir as the update left it; nil: there was none
}

// Config is a set of values, one znode each. Nobody ever sees half an update. It is the recipe "Configuration" of the
// ZooKeeper documentation, with one multi for each update.
//
// # Protocol
//
// The values are the children of dir. Every update also sets dir itself, so the version of dir is the version of the
// set.
//
// To read: fence; read dir, list it, read the values, and look at dir again. If dir has not changed in between and
// the session is the same, the values have not changed either, and they are of one update. Otherwise start over. The
// session matters because a new one may begin on a server that lags: dir looks the same at the end, but what was read
// in between is old.
//
// To update: in one multi, set dir if it still has the version that the update is
// based on, and create, set and delete the values that are to change. A receipt
// (see [Counter]) settles the outcome when the answer is lost.
//
// # What the text leaves out
//
// The page says that ZooKeeper provides this directly, which is true for one value. Several values that are set one
// by one are seen half-updated (mutant torn-config). So are values that are set in one multi and simply read one by
// one, because a read of several znodes is not atomic (mutant torn-read). What is read without a fence may be older
// than what another client has seen (mutant no-sync).
//
// It would be just as correct to keep the values of each update below a znode of its own, or all values in the data
// of one znode. The former leaves old generations to be removed, which a slow reader may still want. With the latter
// every update rewrites everything, up to one megabyte in all.
//
// A configuration must not be deleted while it is in use: its versions would start again, and an old set would be
// taken for the latest.
//
// # Fan-out
//
// Nobody watches but [CachedConfig].
//
// A Config may be used by several goroutines at once.
type Config struct{ config }

// NewConfig returns the configuration in the znode dir, which must not be "/" and
// should be used for nothing else. Update creates it when it is missing.
func NewConfig(conn Conn, env Env, dir string, opt ConfigOptions) *Config {
	return &Config{config{session{conn, env}, dir, open(opt.ACL)}}
}

// Update replaces the set base, which Get has returned, by values. Names must be such as a znode can have and must
// not begin with "_r_"; else the error is zk.ErrInvalidPath. Update returns ErrConfigChanged when base is not the
// latest set; the caller may Get and try again. An error that wraps [ErrUnknownOutcome] says that the update may have
// been made; after any other error it was not.
func (c *Config) Update(ctx context.Context, base ConfigSet, values map[string][]byte) (err error) {
	defer Forget(c.env)(&err)
	if !validValues(values) {
		return zk.ErrInvalidPath
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if base.Zxid == 0 {
		if err := c.makePath(ctx, c.dir, c.acl); err != nil {
			return err
		}
	}
	set := &zk.SetDataRequest{Path: c.dir}
	if base.stat != nil {
		set.Version = base.stat.Version
	}
	ops := []interface{}{set}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		path, data := c.dir+"/"+name, values[name]
		if old, ok := base.Values[name]; !ok {
			ops = append(ops, &zk.CreateRequest{Path: path, Data: data, Acl: c.acl})
		} else if !bytes.Equal(old, data) {
			ops = append(ops, &zk.SetDataRequest{Path: path, Data: data, Version: -1})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(base.Values)) {
		if _, ok := values[name]; !ok {
			ops = append(ops, &zk.DeleteRequest{Path: c.dir + "/" + name, Version: -1})
		}
	}
	err = c.receipted(ctx, c.dir, c.acl, ops...)
	switch err {
	case zk.ErrBadVersion, zk.ErrNoNode, zk.ErrNodeExists: // the znodes are not those of base
		return ErrConfigChanged
	}
	return err
}

// config is what all readers of a configuration share.
type config struct {
	session
	dir string
	acl []zk.ACL
}

// changing is the data of dir while a step-by-step update goes on.
const changing = "changing"

// Get returns the latest set, including all updates that ended before the call. It starts over when it is overtaken
// by an update. While a [FlaggedConfig] is being changed it returns ErrConfigInvalid.
func (c config) Get(ctx context.Context) (set ConfigSet, err error) {
	defer Forget(c.env)(&set.Values, &set.stat, &err)
	err = c.fresh(ctx, func() (err error) {
		set, err = c.read(ctx)
		return err
	}, &set.Values, &set.stat)
	return set, err
}

// errTorn says that an update came in between.
var errTorn = errors.New("recipes: configuration was changed while it was read")

// read returns a set, perhaps an old one.
func (c config) read(ctx context.Context) (set ConfigSet, err error) {
	defer Forget(c.env)(&set.Values, &set.stat, &err)
	for {
		if err := ctx.Err(); err != nil {
			return ConfigSet{}, err
		}
		Keep(c.env)
		if set, err = c.readOnce(ctx); err != errTorn {
			return set, err
		}
	}
}

func (c config) readOnce(ctx context.Context) (ConfigSet, error) {
	session := c.conn.SessionID()
	flag, begin, err := c.on(ctx).Get(c.dir)
	switch {
	case err == zk.ErrNoNode:
		return ConfigSet{Values: map[string][]byte{}}, nil
	case err != nil:
		return ConfigSet{}, err
	case string(flag) == changing:
		return ConfigSet{}, ErrConfigInvalid
	}
	set := ConfigSet{Values: map[string][]byte{}, Zxid: begin.Mzxid, stat: begin}
	names, _, err := c.on(ctx).Children(c.dir)
	for _, name := range names {
		if err == nil && !isReceipt(name) {
			set.Values[name], _, err = c.on(ctx).Get(c.dir + "/" + name)
		}
	}
	var end *zk.Stat
	if err == nil {
		_, end, err = c.on(ctx).Exists(c.dir)
	}
	if err == zk.ErrNoNode || err == nil && (end.Mzxid != begin.Mzxid || !c.continues(session)) {
		err = errTorn
	}
	if err != nil {
		return ConfigSet{}, err
	}
	return set, nil
}

func validValues(values map[string][]byte) bool {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !isName(name) || isReceipt(name) {
			return false
		}
	}
	return true
}
