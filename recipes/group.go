package recipes

import (
	"context"
	"slices"

	"github.com/go-zookeeper/zk"
)

// GroupOptions are the options of a group. The zero value is fine.
type GroupOptions struct {
	ACL []zk.ACL // of the znodes made; nil: everything for everybody

	// Changed, if not nil, is called when a membership that Join returned may have ended (false) and when it is certain
	// again (true). The calls for one membership come one after the other, from a goroutine of its own. Leave waits until
	// they have returned, so Changed must not call it.
	Changed func(name string, joined bool)

	WatchOptions // of Watch
}

// Group is the recipe "Group Membership" of the ZooKeeper documentation: the children of one znode are the members,
// each as long as its session lives. With addresses as data it is the page's name service.
//
// # Protocol
//
// To join, create in one multi dir/NAME, with the member's data, and dir/_owners/GUID, both ephemeral. If dir/NAME
// exists, the name is taken. If the answer is lost, fence and look for the GUID, and create both again if it is not
// there. If dir/NAME then exists, the first try may have been executed late, in a session that was given up: delete
// both in one multi, dir/_owners/GUID first, and create them again.
//
// From then on, as long as the member has not left:
//
//  1. Leave a watch on dir/NAME. If it is there, belongs to the present session, and has the same czxid as
//     dir/_owners/GUID, so that both were created together, wait for the watch or a change of the session, and go to
//     1.
//  2. Otherwise the session has ended, or somebody has deleted the znode. Fence and look at both. Delete
//     dir/_owners/GUID if it is there without dir/NAME, and join again. If the name is taken, perhaps by a znode of
//     an earlier session that the servers have not removed yet, wait for its end first.
//
// To leave, delete both in one multi, dir/_owners/GUID first: after the session has ended, dir/NAME may be another
// member's, and then the multi fails as a whole.
//
// To watch the members, watch the children of dir, as [ChildrenCache] does. To list them, fence first: a leader that
// was deposed answers a sync at once, and does not know who has joined since.
//
// # What the recipe page leaves out
//
// The page says nothing about a disconnect, and doing nothing is right: a client that tidies up when it is connected
// again makes live members depart (mutant flapping). After its session has ended the member must join again (mutant
// once), and must not take a znode for its own because it has its name: it may be another's by then, or left by the
// old session (mutant any-znode). A member's znode has no room for a GUID, because its name and data are the user's.
// So the znode in _owners proves who made it, and keeps a late request to leave from removing another member (mutant
// leave-by-name).
//
// # Fan-out
//
// A member that joins or leaves notifies each watcher of the group once, or twice if the watcher has read the
// member's data.
//
// Deleting dir/NAME by hand lets another member join by that name before the first one has heard of it; the Leave of
// the first one then deletes the other's znode. Without dir/_owners/GUID Leave deletes nothing, and the member stays
// until its session ends. An operator who must remove a member ends its session instead.
//
// A process that was restarted gets ErrNameTaken until its predecessor's session has ended. Any number of goroutines
// may use a Group at once.
type Group struct {
	session
	dir string
	opt GroupOptions
	// idle holds one list: channels for the next change of the session's state that past memberships have left, for new
	// ones to use.
	idle chan []<-chan zk.Event
}

// owners is the child of a group's znode that has the proofs below it. It is no member.
const owners = "_owners"

// NewGroup returns the group of the children of the znode dir, which must not be
// "/" and should be used for nothing else. Join creates it when it is missing.
func NewGroup(conn Conn, env Env, dir string, opt GroupOptions) *Group {
	opt.ACL = open(opt.ACL)
	g := &Group{session{conn, env}, dir, opt, make(chan []<-chan zk.Event, 1)}
	g.idle <- nil //zksim:ignore was just made with room for it
	return g
}

// Join makes a member. It returns ErrNameTaken, zk.ErrInvalidPath for a name that cannot be one, ctx's error when ctx
// is done first (then nothing stays), and errors of ZooKeeper that waiting does not cure. Once joined, the membership
// survives lost connections, and is made again in each new session, until Leave.
func (g *Group) Join(ctx context.Context, name string, data []byte) (*Membership, error) {
	if !isName(name) || name == owners {
		return nil, zk.ErrInvalidPath
	}
	k := &keeper{Group: g, name: name, data: slices.Clone(data), joined: true}
	if err := k.claim(ctx); err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	done := make(chan zk.Event, 1)
	g.env.Go("member", func() {
		idle := <-g.idle //zksim:ignore whoever takes it out puts it back before waiting for something
		if n := len(idle); n > 0 {
			k.change, idle = idle[n-1], idle[:n-1]
		}
		g.idle <- idle //zksim:ignore nobody else puts something in
		err := k.run(life)
		g.idle <- append(<-g.idle, k.change) //zksim:ignore as above
		done <- zk.Event{Err: err}
		close(done)
	})
	return &Membership{g.env, end, done}, nil
}

// Membership is what [Group.Join] returns.
type Membership struct {
	env  Env
	end  context.CancelFunc
	done <-chan zk.Event
}

// Leave ends the membership. It returns nil when the znode is certainly gone. When ctx is done before that, Leave
// returns ctx's error and goes on in the background. If the membership had ended for good, Leave says why:
// zk.ErrClosing after the connection was closed, zk.ErrNoAuth if the znode could not be made again. To leave again
// does nothing.
func (m *Membership) Leave(ctx context.Context) error {
	m.end()
	_, ev, err := m.env.Await(ctx, m.done)
	if err == nil {
		err = ev.Err
	}
	return err
}

// Watch calls f, from the calling goroutine, with all members and what has
// changed, as [ChildrenCache.Run] does.
func (g *Group) Watch(ctx context.Context, f func(now []Child, changes []Change) bool) error {
	first := true
	return NewChildrenCache(g.conn, g.env, g.dir, g.opt.WatchOptions).Run(ctx, func(now []Child, changes []Change) bool {
		now = slices.DeleteFunc(now, func(c Child) bool { return c.Name == owners })
		changes = slices.DeleteFunc(changes, func(c Change) bool { return c.Name == owners })
		tell := first || len(changes) > 0
		first = false
		return !tell || f(now, changes)
	})
}

// List returns the members, sorted by name. Every member that had joined before the call and has not left is among
// them; together they are not a snapshot.
func (g *Group) List(ctx context.Context) (members []Child, err error) {
	defer Forget(g.env)(&members, &err)
	o := &observer{session: g.session, synced: -1} // no session, so the first read comes after a fence
	var names []string
	err = o.read(ctx, g.dir, func() (err error) {
		names, _, err = g.on(ctx).Children(g.dir)
		return err
	})
	if err == zk.ErrNoNode {
		return nil, nil
	}
	slices.Sort(names)
	for _, name := range names {
		c := Child{Name: name}
		if name == owners || err != nil {
			continue
		}
		path := g.dir + "/" + name
		err = o.read(ctx, path, func() (err error) {
			c.Data, c.Stat, err = g.on(ctx).Get(path)
			return err
		})
		switch err {
		case nil:
			members = append(members, c)
		case zk.ErrNoNode: // has left meanwhile
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	return members, nil
}
