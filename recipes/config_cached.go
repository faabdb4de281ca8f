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
//  2. If dir is not that of the set at hand, read the set as [Config] does. Keep
//     it if its zxid is higher.
//  3. When the watch fires or the session changes state, go to 1.
//
// # What the text leaves out
//
// A watch fires once, and a reader that does not leave it anew hears of one
// update only (twin no-rearm). Nor may it be relied upon across a disconnect:
// go-zookeeper asks for its watches again "since the last zxid seen", but only
// after the requests that were waiting. If the answer to one of these brings a later
// zxid and the connection is lost again before the watches are asked for, the next
// connection asks for what came later still, and nobody ever hears of the change
// in between (twin keep-watch). A new session may begin on a server that lags behind
// that of the old one, so that what was read last need not be what is latest.
//
// # Fan-out
//
// An update notifies every reader, as it must, and each reads all values; one of a
// [FlaggedConfig] notifies twice.
type CachedConfig struct {
	config
	told   func(ConfigSet)
	latest chan ConfigSet // always has one, but while it is looked at
}

// NewCachedConfig returns a reader of the configuration in dir. The function told
// may be nil; it gets every set that Run comes across, each later than the one
// before; of updates that follow each other closely it may see only the last.
func NewCachedConfig(conn Conn, env Env, dir string, told func(ConfigSet)) *CachedConfig {
	c := &CachedConfig{config{session{conn, env}, dir, nil}, told, make(chan ConfigSet, 1)}
	c.latest <- ConfigSet{}
	return c
}

// Get returns the latest set that Run has seen, the zero set before the first. It
// asks nobody and may be called from any goroutine.
func (c *CachedConfig) Get() ConfigSet {
	set := <-c.latest
	c.latest <- set
	return set
}

// Run keeps the set up to date until ctx is done, and then returns ctx's error.
// It survives lost connections and expired sessions, and returns other errors,
// such as zk.ErrNoAuth, and zk.ErrClosing after the connection was closed. The set
// stays what it was.
func (c *CachedConfig) Run(ctx context.Context) error {
	var session <-chan zk.Event
	for {
		if session == nil || len(session) > 0 {
			session = c.env.SessionEvents()
		}
		changed, err := c.refresh(ctx)
		if err == nil {
			var i int
			if i, _, err = c.env.Await(ctx, changed, session); i == 1 {
				session = nil
			}
		}
		if interrupted(err) {
			err = c.await(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// refresh brings the set up to date and returns what fires, on this connection,
// when it no longer is.
func (c *CachedConfig) refresh(ctx context.Context) (changed <-chan zk.Event, err error) {
	ok, stat, changed, err := c.conn.ExistsW(c.dir)
	have := c.Get().Zxid
	if err != nil || ok && stat.Mzxid == have {
		return changed, err
	}
	set, err := c.read(ctx)
	if err == ErrConfigInvalid {
		return changed, nil // the end of the update fires the watch
	}
	if err == nil && set.Zxid > have {
		<-c.latest
		c.latest <- set
		if c.told != nil {
			c.told(set)
		}
	}
	return changed, err
}
