package recipes

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// keeper keeps one membership of a [Group] alive.
type keeper struct {
	*Group
	name string
	data []byte

	proof  string // path of the znode that proves that the member's znode is ours
	made   int64  // the zxid that created both; 0: unknown
	joined bool   // as told last
	change <-chan zk.Event
	alarm  alarm // of renew
}

func (k *keeper) path() string { return k.dir + "/" + k.name }

// claim creates the znodes, or returns ErrNameTaken.
func (k *keeper) claim(ctx context.Context) (err error) {
	guid := k.env.UUID()
	dir := k.dir + "/" + owners
	proof := dir + "/" + guid
	defer Forget(k.env)(&proof, &k.proof, &k.made, &err)
	k.made = 0
	lost := 0 // tries that may be executed late, in a session that was given up, and then block the next one
	err = k.create(ctx, creation{what: "member", dir: dir, acl: k.opt.ACL, kept: []any{&lost},
		do: func() error {
			for {
				_, err := k.on(ctx).Multi(
					&zk.CreateRequest{Path: k.path(), Data: k.data, Acl: k.opt.ACL, Flags: zk.FlagEphemeral},
					&zk.CreateRequest{Path: proof, Acl: k.opt.ACL, Flags: zk.FlagEphemeral})
				if interrupted(err) {
					lost++
				}
				if err != zk.ErrNodeExists || lost == 0 {
					return err
				}
				lost--
				if err := k.removeProven(ctx, proof, k.path()); err != nil {
					return err
				}
			}
		},
		done: func(ctx context.Context) (bool, error) {
			name, err := k.find(ctx, dir, guid)
			return name != "", err
		},
		undo: func(ctx context.Context) { k.removeProven(ctx, proof, k.path()) }})
	switch err {
	case nil:
		k.proof = proof
		// If this fails, keep asks again, and meanwhile says that we are no member.
		if exists, stat, err := k.on(ctx).Exists(proof); err == nil && exists {
			k.made = stat.Czxid
		}
	case zk.ErrNodeExists: // a try that was lost may still be executed late
		k.proof, err = proof, ErrNameTaken
	}
	return err
}

// run stays in the group until life ends, and then leaves it. Requests are not given up when life ends: their outcome
// decides what there is to delete.
func (k *keeper) run(life context.Context) error {
	var err error
	for life.Err() == nil && err == nil {
		err = k.keep(life)
		if interrupted(err) {
			k.tell(false)
			err = k.again(life, err)
		}
	}
	if life.Err() != nil {
		return k.removeProven(context.Background(), k.proof, k.path())
	}
	k.tell(false)
	k.removeProven(context.Background(), k.proof, k.path()) // Leave would not do it
	return err
}

// keep looks after the member's znode: it makes it again if it is gone, or waits for something to happen.
func (k *keeper) keep(life context.Context) error {
	if k.change == nil || len(k.change) > 0 {
		k.change = k.env.SessionEvents()
		if k.conn.State() != zk.StateHasSession { // no event will say so, and the answer may take long
			k.tell(false)
		}
	}
	seen, err := k.look(context.Background(), k.path())
	if err != nil {
		return err
	}
	// Another membership of the same client may have that name by now: only ours was made together with our proof.
	if m := seen.stat; m == nil || m.Czxid != k.made || !k.continues(m.EphemeralOwner) {
		k.tell(false)
		return k.renew(life)
	}
	k.tell(true)
	i, ev, err := k.env.Await(life, k.change, seen.event)
	if err != nil || i > 0 {
		return err
	}
	k.change = nil
	if ev.State != zk.StateHasSession {
		k.tell(false)
	}
	return ev.Err
}

// renew joins again, unless it finds that the member's znode is ours, or waits for the end of the znode that has the
// name. That znode may be ours, of an earlier session that a deposed leader has called expired. Then its proof stays,
// because without it Leave would not delete the znode.
func (k *keeper) renew(life context.Context) error {
	var member, proof *zk.Stat
	var exists, proven bool
	err := k.fresh(context.Background(), func() (err error) {
		if exists, member, err = k.conn.Exists(k.path()); err == nil {
			proven, proof, err = k.conn.Exists(k.proof)
		}
		return err
	}, &exists, &member, &proven, &proof)
	switch {
	case err != nil:
		return err
	case exists && proven && proof.Czxid == member.Czxid:
		if k.continues(member.EphemeralOwner) {
			k.made = member.Czxid
			return nil
		}
		return k.awaitChange(life, k.path(), &k.alarm)
	}
	if err := k.remove(context.Background(), k.proof); err != nil {
		return err
	}
	err = k.claim(context.Background())
	if err == ErrNameTaken {
		return k.awaitChange(life, k.path(), &k.alarm)
	}
	return err
}

func (k *keeper) tell(joined bool) {
	if k.joined != joined {
		k.joined = joined
		if k.opt.Changed != nil {
			k.opt.Changed(k.name, joined)
		}
	}
}
