package recipes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

// Errors of the double barrier.
var (
	// ErrInside is returned by Enter when the object is already inside, or was inside and has not left.
	ErrInside = errors.New("recipes: already inside the barrier")
	// ErrOutside is returned by Leave when the object is not inside.
	ErrOutside = errors.New("recipes: not inside the barrier")
)

// DoubleBarrierOptions are the options of a double barrier. The zero value is
// fine.
type DoubleBarrierOptions struct {
	ACL     []zk.ACL // of the znodes made; nil: everything for everybody
	Leaving Leaving  // the same for all participants
}

// DoubleBarrier lets n participants begin a computation together and end it
// together, round after round: the recipe "Double Barriers" of the ZooKeeper
// documentation, without its holes.
//
// # What it promises
//
// A round is a set of n participants, fixed at one moment. When Enter returns, that moment was during the call: n
// participants had begun Enter and had neither given up nor lost their session nor begun to leave. If there are more
// than n, n make the round and the others wait for the next one.
//
// When Leave returns nil, every participant of the round has begun to leave, or its session has ended. A round begins
// only when all of the round before it are outside.
//
// A participant that ends inside does not hold the others up longer than its session lasts. One whose session ends
// inside learns it from [DoubleBarrier.Lost]: from then on the others may leave without it, and it should leave too.
// One that gives up while it enters is no longer counted once Enter has returned. But if the connection is down at
// that moment, nobody can remove its znode until the connection is up again or the session has ended; until then the
// others see it as one that ended inside. The same is true of a create whose answer was lost, if it is executed later
// in a session that the client believes to be over. Nothing keeps n participants from waiting forever for one that
// never comes; a caller that minds gives Enter a deadline.
//
// # Protocol
//
//  1. In one multi, check that dir/ready has the version last seen and create dir/member-GUID-TRY, ephemeral, with
//     one GUID for each Enter. If the version is another one, read it and start over. If the answer is lost, fence
//     and look for the znode; if it is not there, start over with the next TRY.
//  2. Read its own znode, leaving a watch. If it is gone or belongs to an earlier session, which may still live for
//     others, delete it and start over with the next TRY.
//  3. Read dir/ready, leaving a watch: it lists the members of the latest round. If
//     its own znode is among them, and the session has not changed state since
//     before step 2, the client is inside.
//  4. List dir. If members of the latest round are still there, wait until the lowest of them is gone, and go to 2.
//     Of several tries of one Enter the last one counts: an earlier one may be executed late, in a session that its
//     client has given up. If an earlier try is in the latest round, the client deletes it, because it is not inside
//     by that try. Otherwise, by the check of step 1, the earlier try was executed before the round of the last one
//     began; the client deletes it first when it leaves.
//  5. If fewer than n are there, wait for the watch of step 2 or 3, and go to 2. The last to come sees all that came
//     before it, so one of n tries step 6.
//  6. In one multi, check that its own znode and n-1 others exist and set dir/ready, at the version of step 3, to
//     their names. Whatever the result, go to 2.
//
// To leave, see [Leaving].
//
// # What the recipe page leaves out
//
// On the page "ready" is one of the children that are counted (mutant count-ready), nothing removes it before the
// next round (stale-ready), it lets in any client that comes while it is there (late-joiner), and it is created after
// a listing, when the listed znodes may be gone. Here it stays, names the members, and is set in one txn with the
// proof that they all exist. Counting the children without it is not enough, because a quick participant may have
// left before a slow one has counted (count-only). The page lets nobody give up (timeout-stays), and does not say
// that a client that waits for the lowest or the highest znode has to look again when it is gone (leave-once).
//
// # Fan-out
//
// The beginning of a round notifies the n-1 others, which can all go on, and the clients that wait for the next
// round, which cannot. The end of a round, when its last znode goes, notifies all clients that wait to enter. For
// clients that leave see [Leaving].
//
// A DoubleBarrier is for one goroutine at a time.
type DoubleBarrier struct {
	session
	dir     string
	n       int
	acl     []zk.ACL
	leaving Leaving

	node   string // name of its own znode, "" outside
	marked bool   // see LeaveSequential
	round  round
	held   *hold
	alarm  alarm

	version int32 // of dir/ready, as last seen
}

// round is what dir/ready says.
type round struct {
	members []string
	stat    *zk.Stat
	session int64 // the session in which that was read
}

const memberPrefix = "member-"

// NewDoubleBarrier returns a barrier for n participants, at least one, on the znode dir, which must not be "/" and
// should be used for nothing else. Enter creates it when it is missing. All participants must agree on n and on how
// to leave. The multi that begins a round names n znodes twice and must fit into a packet (1 MB, unless
// jute.maxbuffer says otherwise), which is enough for 7,000.
func NewDoubleBarrier(conn Conn, env Env, dir string, n int, opt DoubleBarrierOptions) *DoubleBarrier {
	return &DoubleBarrier{session: session{conn, env}, dir: dir, n: max(n, 1), acl: open(opt.ACL), leaving: opt.Leaving}
}

func (d *DoubleBarrier) ready() string { return d.dir + "/ready" }

func (d *DoubleBarrier) path(member string) string { return d.dir + "/" + member }

// Enter waits until the client is inside, as one of n, or returns ErrInside if it is already inside. When ctx is done
// first it gives up and returns ctx's error, once its znode is gone or there is no connection. Errors of ZooKeeper
// that waiting does not cure, such as zk.ErrNoAuth, are returned as they are, and zk.ErrClosing after the connection
// was closed. Lost connections and expired sessions are handled.
func (d *DoubleBarrier) Enter(ctx context.Context) (err error) {
	defer Forget(d.env)(&d.node, &d.marked, &d.round, &d.held, &d.alarm, &d.version, &err)
	if d.held != nil {
		return ErrInside
	}
	who, tries := memberPrefix+d.env.UUID()+"-", 0
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		d.marked = false
		Keep(d.env, &who, &tries, &d.alarm, &d.version)
		if err := d.join(ctx, who, &tries); err != nil {
			return err
		}
		err = d.gather(ctx)
		if err == nil {
			return nil
		}
		if err == errGone { // perhaps only for this session: until that is certain, others may wait for it
			if err = d.remove(ctx, d.path(d.node)); err == nil {
				tries++
				d.node = ""
				continue
			}
		}
		d.withdraw()
		return err
	}
}

// join creates its own znode. Each try has a name of its own: a try that was executed in a session that has ended may
// be in a round, and its name must not come again. tries counts those whose outcome is unknown.
func (d *DoubleBarrier) join(ctx context.Context, who string, tries *int) (err error) {
	var node string
	defer Forget(d.env)(&node, tries, &d.alarm, &d.version, &err)
	c := creation{what: "barrier", dir: d.ready(), acl: d.acl, insist: &d.alarm,
		kept: []any{&node, tries, &d.alarm, &d.version},
		do: func() error {
			node = try(who, *tries)
			_, err := d.on(ctx).Multi(
				&zk.CheckVersionRequest{Path: d.ready(), Version: d.version},
				&zk.CreateRequest{Path: d.path(node), Acl: d.acl, Flags: zk.FlagEphemeral})
			if unanswered(err) {
				*tries++
			}
			return err
		},
		done: func(ctx context.Context) (bool, error) { return d.exists(ctx, d.path(node)) },
		undo: func(ctx context.Context) { d.removeAll(ctx, d.dir, triesUpTo(node)) }}
	for err = d.create(ctx, c); err == zk.ErrBadVersion; err = d.create(ctx, c) {
		err = d.retry(ctx, func() error {
			_, stat, err := d.on(ctx).Get(d.ready())
			if err == nil {
				d.version = stat.Version
			}
			return err
		}, &d.version)
		if err != nil && err != zk.ErrNoNode { // create makes what was deleted meanwhile
			return err
		}
	}
	if err == nil {
		d.node = node
	}
	return err
}

// try returns the name of a try; who is the name of its Enter.
func try(who string, number int) string { return fmt.Sprintf("%s%03d", who, number) }

// triesUpTo returns the names of all tries up to the one called name, in order.
func triesUpTo(name string) (all []string) {
	who := name[:strings.LastIndexByte(name, '-')+1]
	for i := 0; len(all) == 0 || all[i-1] != name; i++ {
		all = append(all, try(who, i))
	}
	return all
}

// gather waits until its own znode is in a round. It returns errGone when that znode no longer exists.
func (d *DoubleBarrier) gather(ctx context.Context) (err error) {
	defer Forget(d.env)(&d.round, &d.held, &d.alarm, &d.version, &err)
	for {
		Keep(d.env, &d.alarm)
		if err := ctx.Err(); err != nil {
			return err
		}
		d.alarm.set(d.env)
		err := d.look(ctx)
		if err == nil {
			d.alarm.left = nil // only an abandoned wait leaves something to the next
		}
		if err == nil && d.held != nil {
			return nil
		}
		if interrupted(err) {
			err = d.again(ctx, err)
		}
		if err != nil {
			return err
		}
	}
}

// withdraw removes its own znode, so that nobody counts it any more, and waits for that while there is a connection.
func (d *DoubleBarrier) withdraw() {
	own := triesUpTo(d.node)
	d.node = ""
	defer Forget(d.env)(&own, &d.alarm)
	d.whileConnected(d.cleanUp("barrier", func(ctx context.Context) { d.removeAll(ctx, d.dir, own) }), &d.alarm)
}

// look goes through steps 2 to 6 of the protocol once.
func (d *DoubleBarrier) look(ctx context.Context) error {
	own, err := d.session.look(ctx, d.path(d.node))
	if err != nil {
		return err
	}
	if own.stat == nil || own.stat.EphemeralOwner != d.conn.SessionID() {
		return errGone
	}
	session := own.stat.EphemeralOwner
	own.stat = nil // is not needed any more
	Keep(d.env, &d.alarm, &own, &session)
	data, stat, changed, err := d.alarm.getW(d.on(ctx), d.ready())
	if err == zk.ErrNoNode { // somebody has deleted it
		return errGone
	}
	if err != nil {
		return err
	}
	d.alarm.leave(d.ready(), changed)
	latest := round{strings.Fields(string(data)), &zk.Stat{Mzxid: stat.Mzxid, Version: stat.Version}, session}
	Keep(d.env, &d.alarm, &own, &latest, &changed)
	if slices.Contains(latest.members, d.node) {
		if !d.alarm.rang() {
			d.round, d.held, d.version = latest, d.hold(d.path(d.node), own, &d.alarm, nil), stat.Version
		}
		return nil
	}
	inside, others, err := d.list(ctx, latest)
	earlier := slices.IndexFunc(inside, func(name string) bool { return sameMember(name, d.node) })
	switch {
	case err == zk.ErrNoNode: // somebody has deleted it all
		return errGone
	case !d.continues(session): // the list may be older than the round before it, and the own znode still exist
		return errGone
	case err != nil:
	case earlier >= 0:
		err = d.remove(ctx, d.path(inside[earlier]))
	case len(inside) > 0:
		err = d.awaitChange(ctx, d.path(inside[0]), &d.alarm)
	case len(others) < d.n-1:
		Keep(d.env, &d.alarm, &changed, &own)
		err = d.alarm.await(ctx, d.env, changed, own.event)
	default:
		err = d.begin(ctx, append(others[:d.n-1], d.node), latest.stat.Version)
	}
	return err
}

// list returns, in order, the members of a round that are still there, and the others that wait, without the client
// itself. Of the tries of one Enter the last one counts, and none that is before a try in the round. No member is
// missing because its znode is too new: the round is younger than its members' znodes and was read before the list.
func (d *DoubleBarrier) list(ctx context.Context, r round) (inside, others []string, err error) {
	names, _, err := d.on(ctx).Children(d.dir)
	slices.Sort(names)
	for _, name := range names {
		switch {
		case slices.Contains(r.members, name):
			inside = append(inside, name)
		case !strings.HasPrefix(name, memberPrefix) || sameMember(name, d.node) || late(name, r.members):
		case len(others) > 0 && sameMember(name, others[len(others)-1]):
			others[len(others)-1] = name
		default:
			others = append(others, name)
		}
	}
	return inside, others, err
}

// late reports whether name is a try that came before one of members.
func late(name string, members []string) bool {
	return slices.ContainsFunc(members, func(m string) bool { return name < m && sameMember(name, m) })
}

// sameMember reports whether a and b are tries of the same Enter.
func sameMember(a, b string) bool {
	return a[:strings.LastIndexByte(a, '-')+1] == b[:strings.LastIndexByte(b, '-')+1]
}

// begin makes members a round, if they all exist and there has been no other round meanwhile. The own znode is one of
// them.
func (d *DoubleBarrier) begin(ctx context.Context, members []string, version int32) (err error) {
	defer Forget(d.env)(&err)
	var ops []any
	for _, name := range members {
		ops = append(ops, &zk.CheckVersionRequest{Path: d.path(name), Version: -1})
	}
	ops = append(ops, &zk.SetDataRequest{Path: d.ready(), Data: []byte(strings.Join(members, " ")), Version: version})
	_, err = d.on(ctx).Multi(ops...)
	if errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrBadVersion) {
		return nil
	}
	return err
}

// Lost returns a channel that gets one event when being inside can no longer be relied on, and is then closed: the
// session was disconnected or has ended, or its own znode was deleted. Outside it is nil, and so blocks forever.
func (d *DoubleBarrier) Lost() <-chan zk.Event { return d.held.Lost() }

// Round returns the zxid at which the client's round began, the same for all its members and higher for each later
// round; 0 outside.
func (d *DoubleBarrier) Round() int64 {
	if d.held == nil {
		return 0
	}
	return d.round.stat.Mzxid
}

// Znodes returns the paths that the object answers for: its own znode from Enter
// to the end of Leave.
func (d *DoubleBarrier) Znodes() []string {
	if d.node == "" {
		return nil
	}
	return []string{d.path(d.node)}
}
