package recipes

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// announce creates the sign of life, whose data is a GUID. It is not made again when its session ends: then the site
// has failed. So an object that has joined has nothing to do; a try that was given up would make it forget its sign.
func (t *Transaction) announce(ctx context.Context) error {
	if t.joined {
		return nil
	}
	version, err := t.afterGivenUp(ctx)
	if err != nil {
		return err
	}
	t.joined = true
	guid := t.env.UUID()
	err = t.retry(ctx, func() error {
		_, err := t.on(ctx).Multi(
			&zk.SetDataRequest{Path: t.own, Data: []byte(joined), Version: version},
			&zk.CreateRequest{Path: t.live(), Data: []byte(guid), Acl: t.opt.ACL, Flags: zk.FlagEphemeral})
		return err
	})
	if err == zk.ErrBadVersion || err == zk.ErrNodeExists {
		return nil // joined already, perhaps by another object
	}
	if err != nil {
		t.joined = false
		t.gaveUp = t.cleanUp("site", func(ctx context.Context) { t.endLife(ctx, guid) })
	}
	return err
}

// afterGivenUp waits until all that an abandoned Join has left is gone; the next Join would take it for its own sign
// of life. It returns the version that the site's znode has before this Join.
func (t *Transaction) afterGivenUp(ctx context.Context) (version int32, err error) {
	if t.gaveUp == nil {
		return 0, nil
	}
	if _, _, err := t.env.Await(ctx, t.gaveUp); err != nil {
		return 0, err
	}
	t.gaveUp = nil
	err = t.fresh(ctx, func() error { // an older state would show a site that has not joined
		data, stat, err := t.on(ctx).Get(t.own)
		if err == nil && string(data) == joined {
			version = stat.Version
		}
		return err
	}, &version)
	return version, err
}

// endLife removes the sign of life with that GUID. It leaves the sign of another object that has joined for the site
// meanwhile. Making a sign also changes the site's znode, so the version of that znode, read first, tells whether the
// sign is still the same.
func (t *Transaction) endLife(ctx context.Context, guid string) {
	defer Forget(t.env)()
	for err := zk.ErrBadVersion; err == zk.ErrBadVersion; {
		var version int32
		var life []byte
		err = t.fresh(ctx, func() error {
			_, stat, err := t.on(ctx).Get(t.own)
			if err == nil {
				version = stat.Version
				life, _, err = t.on(ctx).Get(t.live())
			}
			return err
		}, &version, &life)
		if err != nil || string(life) != guid {
			return
		}
		err = t.retry(ctx, func() error {
			_, err := t.on(ctx).Multi(
				&zk.CheckVersionRequest{Path: t.own, Version: version},
				&zk.DeleteRequest{Path: t.live(), Version: -1})
			return err
		})
	}
}
