package recipes

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// CachedConfig keeps the latest set of a [Config] or [FlaggedConfig] in memory.
//
// # Protocol
//
//  1. Leave a watch on dir, whether it exists or not.
//  2. If dir has changed since the set at hand, read the set as [Config] does. Keep it if its zxid is higher.
//  3. When the watch fires or the session changes state, go to 1.
//
// # What the text leaves out
//
// A watch fires once, and a reader that does not leave it again hears of one update only (mutant no-rearm). Nor can
// it be relied on across a disconnect: go-zookeeper sets its watches again "since the last zxid seen", but only after
// the requests that were waiting. If the answer to one of these brings a later zxid and the connection is lost again
// before the watches are set, the next connection asks for changes after that zxid, and nobody ever hears of the
// change in between (mutant keep-watch). A new session may begin on a server that lags behind the old one, so what
// was read last need not be the latest.
//
// # Fan-out
//
// An update notifies every reader, as it must, and each reads all values; an update of a [FlaggedConfig] notifies
// twice.
type CachedConfig struct {
	config
	told   func(ConfigSet)
	latest chan ConfigSet // always holds one, except while it is looked at
}

// NewCachedConfig returns a reader of the configuration in dir. The function told may be nil; it gets every set that
// Run sees, each later than the one before, but of updates in quick succession perhaps only the last.
func NewCachedConfig(conn Conn, env Env, dir string, told func(ConfigSet)) *CachedConfig {
	c := &CachedConfig{config{session{conn, env}, dir, nil}, told, make(chan ConfigSet, 1)}
	c.latest <- ConfigSet{} //zksim:ignore was just made with room for it
	return c
}

// Get returns the latest set that Run has seen, or the zero set before the first. It makes no request and may be
// called from any goroutine.
func (c *CachedConfig) Get() ConfigSet {
	set := <-c.latest //zksim:ignore whoever takes it out puts it back before waiting for something
	c.latest <- set   //zksim:ignore nobody else puts something in
	return set
}

// Run keeps the set up to date until ctx is done, and then returns ctx's error. It survives lost connections and
// expired sessions, and returns other errors, such as zk.ErrNoAuth, and zk.ErrClosing after the connection was
// closed. The set stays as it was.
func (c *CachedConfig) Run(ctx context.Context) error {
	var w configWatch
	for {
		set, err := c.next(ctx, &w)
		if err != nil {
			return err
		}
		if c.told != nil {
			c.told(set)
		}
	}
}

// configWatch is what Run waits for.
type configWatch struct {
	changed <-chan zk.Event // nil: to be left again
	session <-chan zk.Event
}

// next waits for a set that is later than the one at hand.
func (c *CachedConfig) next(ctx context.Context, w *configWatch) (set ConfigSet, err error) {
	defer Forget(c.env)(w, &set, &err)
	set = c.Get()
	for {
		if w.changed != nil {
			i, _, err := c.env.Await(ctx, w.changed, w.session)
			if err != nil {
				return set, err
			}
			if w.changed = nil; i == 1 {
				w.session = nil
			}
		}
		Keep(c.env, w, &set)
		if w.session == nil || len(w.session) > 0 {
			w.session = c.env.SessionEvents()
		}
		later, err := c.refresh(ctx, w, &set)
		if interrupted(err) {
			err = c.again(ctx, err)
		}
		if later || err != nil {
			return set, err
		}
	}
}

// refresh leaves a watch that fires, on this connection, when set is no longer the latest, and brings set up to date.
// It reports whether set has changed.
func (c *CachedConfig) refresh(ctx context.Context, w *configWatch, set *ConfigSet) (later bool, err error) {
	ok, stat, changed, err := c.on(ctx).ExistsW(c.dir)
	if err != nil {
		return false, err
	}
	if ok && stat.Mzxid == set.Zxid {
		w.changed = changed
		return false, nil
	}
	Keep(c.env, w, set, &changed)
	latest, err := c.read(ctx)
	if err == nil || err == ErrConfigInvalid { // the end of the update fires the watch
		w.changed = changed
	}
	if err == ErrConfigInvalid {
		return false, nil
	}
	if err == nil && latest.Zxid > set.Zxid {
		*set, later = latest, true
		<-c.latest         //zksim:ignore as in Get
		c.latest <- latest //zksim:ignore as in Get
	}
	return later, err
}
