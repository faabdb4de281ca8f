package mutants

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// The flaws of double barriers.
const (
	// CountReady counts the znode "ready" as a member, so that n-1 enter.
	CountReady Flaw = 18
	// StaleReady takes the mark of an earlier round for its own round's, since nobody removes it. In the second round
	// each client enters alone.
	StaleReady Flaw = 19
	// CountOnly counts the members and has no mark that they were enough. A quick client enters and leaves before a
	// slow one has counted, and each waits for the other.
	CountOnly Flaw = 20
	// TimeoutStays leaves the znode of an Enter that has timed out. Clients that come later count it.
	TimeoutStays Flaw = 21

	// LeaveOnce leaves as soon as the znode that it waited for is gone, without looking who else is inside.
	LeaveOnce Flaw = 132
	// LateJoiner lets in clients that come while a round is on.
	LateJoiner Flaw = 133
	// WaitGone goes on waiting after its session has ended and its znode with it. The others wait for it, and it waits
	// for them.
	WaitGone Flaw = 134

	// SyncedRejoin looks, after a sync, for the znode of a create without an answer. If it does not see the znode, it
	// creates another one under a new GUID, and both count.
	SyncedRejoin Flaw = 221

	// LeaveHerd has all clients that leave wait for the lowest member, although each should wait for a neighbour. See
	// NewHerd.
	LeaveHerd Flaw = 233
)

// DoubleBarrier is a double barrier with one flaw. Otherwise it follows the protocol of recipes.DoubleBarrier in the
// plainest way, below a znode that exists and has a child "ready".
type DoubleBarrier struct {
	patient
	dir  string
	n    int
	flaw Flaw

	node    string // name of the client's znode
	round   int64
	members []string // of the round
}

// NewDoubleBarrier returns a barrier for n on dir with the given flaw.
func NewDoubleBarrier(conn recipes.Conn, env recipes.Env, dir string, n int, flaw Flaw) *DoubleBarrier {
	return &DoubleBarrier{patient: patient{conn, env}, dir: dir, n: n, flaw: flaw}
}

// NewHerd returns a barrier with the flaw LeaveHerd. Otherwise it is recipes.DoubleBarrier with LeaveSequential.
func NewHerd(conn recipes.Conn, env recipes.Env, dir string, n int) *recipes.DoubleBarrier {
	return recipes.NewDoubleBarrier(conn, env, dir, n, recipes.DoubleBarrierOptions{Leaving: recipes.LeaveLowest})
}

// Enter waits until the client is inside.
func (d *DoubleBarrier) Enter(ctx context.Context) (err error) {
	defer recipes.Forget(d.env)(d, &err)
	d.node, d.round = "member-"+d.env.UUID(), 0
	err = d.join(ctx)
	for err == nil && d.round == 0 {
		recipes.Keep(d.env, d)
		err = d.until(ctx, func() error { return d.look(ctx) })
		if err == errGone {
			err = d.join(ctx) // in the new session
		}
	}
	if err != nil && d.flaw != TimeoutStays {
		d.remove()
	}
	return err
}

// join creates the client's znode unless it exists.
func (d *DoubleBarrier) join(ctx context.Context) error {
	again := false
	err := d.until(ctx, func() error {
		if again && d.flaw == SyncedRejoin {
			if there, err := d.joined(); there || err != nil {
				return err
			}
			d.node = "member-" + d.env.UUID()
		}
		again = true
		_, err := d.conn.Create(d.path(d.node), nil, zk.FlagEphemeral, everybody)
		return err
	})
	if err == zk.ErrNodeExists {
		return nil
	}
	return err
}

// joined reports, after a sync, whether the client's znode exists.
func (d *DoubleBarrier) joined() (there bool, err error) {
	if _, err = d.conn.Sync(d.dir); err == nil {
		there, _, err = d.conn.Exists(d.path(d.node))
	}
	return there, err
}

func (d *DoubleBarrier) path(name string) string { return d.dir + "/" + name }

func (d *DoubleBarrier) remove() error { return d.discard(d.path(d.node)) }

// look enters, makes a round or waits for something to happen.
func (d *DoubleBarrier) look(ctx context.Context) error {
	if d.flaw == CountOnly {
		return d.count(ctx)
	}
	data, stat, changed, err := d.conn.GetW(d.path("ready"))
	if err != nil {
		return err
	}
	d.members = strings.Fields(string(data))
	names, _, err := d.conn.Children(d.dir)
	if err != nil {
		return err
	}
	listed := slices.Contains(names, d.node)
	if !listed && d.flaw != WaitGone {
		return errGone
	}
	inside, others := d.sort(names)
	if slices.Contains(d.members, d.node) || d.flaw == StaleReady && len(d.members) > 0 || d.flaw == LateJoiner &&
		len(inside) > 0 {
		d.round = stat.Mzxid
		return nil
	}
	if d.flaw == CountReady {
		others = append([]string{"ready"}, others...)
	}
	switch {
	case len(inside) > 0:
		var ok bool
		var left <-chan zk.Event
		ok, _, left, err = d.conn.ExistsW(d.path(inside[0]))
		if ok && err == nil {
			err = d.await(ctx, changed, left)
		}
		return err
	case len(others) < d.n-1 || !listed:
		return d.await(ctx, changed)
	}
	return d.begin(append(others[:d.n-1], d.node), stat.Version)
}

// count enters when there are enough now.
func (d *DoubleBarrier) count(ctx context.Context) error {
	names, _, changed, err := d.conn.ChildrenW(d.dir)
	if err != nil {
		return err
	}
	if len(names)-1 < d.n { // without "ready"
		return d.await(ctx, changed)
	}
	d.round = 1
	d.members = names
	return nil
}

// await waits for one of the events, and remembers only what the barrier does.
func (d *DoubleBarrier) await(ctx context.Context, events ...<-chan zk.Event) error {
	recipes.Keep(d.env, d, &events)
	_, _, err := d.env.Await(ctx, events...)
	return err
}

// sort returns the members of the round that are inside, and those that wait.
func (d *DoubleBarrier) sort(names []string) (inside, others []string) {
	slices.Sort(names)
	for _, name := range names {
		switch {
		case name == "ready":
		case slices.Contains(d.members, name):
			inside = append(inside, name)
		case name != d.node:
			others = append(others, name)
		}
	}
	return inside, others
}

// begin makes a round of the members, which must all exist.
func (d *DoubleBarrier) begin(members []string, version int32) error {
	var ops []any
	for _, name := range members {
		ops = append(ops, &zk.CheckVersionRequest{Path: d.path(name), Version: -1})
	}
	ops = append(ops, &zk.SetDataRequest{Path: d.path("ready"), Data: []byte(strings.Join(members, " ")),
		Version: version})
	_, err := d.conn.Multi(ops...)
	if errors.Is(err, zk.ErrNoNode) || errors.Is(err, zk.ErrBadVersion) {
		return nil
	}
	return err
}

// Leave waits until all members of the round leave.
func (d *DoubleBarrier) Leave(ctx context.Context) (err error) {
	defer recipes.Forget(d.env)(d, &err)
	done := false
	for {
		recipes.Keep(d.env, d)
		err := d.until(ctx, func() (err error) {
			done, err = d.leave(ctx)
			return err
		})
		if done || err != nil {
			return err
		}
	}
}

// leave does or waits for one thing on the way out.
func (d *DoubleBarrier) leave(ctx context.Context) (done bool, err error) {
	names, _, err := d.conn.Children(d.dir)
	if err != nil {
		return false, err
	}
	inside, _ := d.sort(names)
	if len(inside) == 0 {
		return true, nil
	}
	lowest, other := inside[0], inside[0]
	if lowest == d.node {
		other = inside[len(inside)-1]
	}
	if lowest != d.node && slices.Contains(inside, d.node) || other == d.node {
		if err := d.remove(); err != nil || other == d.node {
			return true, err
		}
	}
	ok, _, gone, err := d.conn.ExistsW(d.path(other))
	if ok && err == nil {
		err = d.await(ctx, gone)
	}
	return err == nil && d.flaw == LeaveOnce, err
}

// Round returns the number of the round.
func (d *DoubleBarrier) Round() int64 { return d.round }

// Lost returns nil: the client hears of nothing.
func (d *DoubleBarrier) Lost() <-chan zk.Event { return nil }

// Znodes returns the paths that the object knows of.
func (d *DoubleBarrier) Znodes() []string { return []string{d.path(d.node)} }
