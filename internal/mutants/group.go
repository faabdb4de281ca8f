package mutants

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// The flaws of groups. The number below 100 is from docs/museum.md.
const (
	// Flapping tidies up when it is connected again: it deletes the member's znode and makes a new one, although the
	// session lives.
	Flapping Flaw = 30

	// Once joins and never looks again, so it does not rejoin after the end of its session.
	Once Flaw = 154
	// AnyZnode takes the znode of its name for its own, without comparing the session that owns it.
	AnyZnode Flaw = 155
	// LeaveByName deletes the znode of its name, whoever has it now.
	LeaveByName Flaw = 156
	// Forgetful reports all members as removed when it is disconnected, and as added when it is connected again.
	Forgetful Flaw = 157
	// NotOurs takes a znode of its name, seen after a sync in a new session, for somebody else's, and does not join
	// again. It may be its own, from a session that a deposed leader has declared expired.
	NotOurs Flaw = 159
	// FewJoins tries a few times to join in a new session, and then no longer. The znode of its name may be its own,
	// from a session that the servers keep for longer; it does not look whose it is.
	FewJoins Flaw = 191
	// TwoClients dials another connection when its session has ended, and does not close the old one, whose library
	// opens a new session by itself. Both look after the one member, and what the older says last counts.
	TwoClients Flaw = 194
	// ConfiguredTimeout waits for the znode of its old session to go, for the session timeout that it has asked for.
	// The servers keep the session for the timeout that they have granted, which is longer. After an election they keep
	// it for as long again, so no fixed time is enough.
	ConfiguredTimeout Flaw = 195
	// NoInterval waits only for the event of its watch, and ignores the event that ends the watch with its session.
	// Looking again at intervals, whatever it has heard, repairs that.
	NoInterval Flaw = 196
)

// Group is a group with one flaw. Otherwise it follows the protocol of recipes.Group in the plainest way.
type Group struct {
	patient
	dir  string
	flaw Flaw

	changed func(name string, joined bool)

	// Dial makes another connection; for TwoClients.
	Dial func() (recipes.Conn, recipes.Env, error)
	// Interval is the time after which NoInterval looks again, whatever it has heard; 0: never.
	Interval time.Duration
}

// NewGroup returns a group on dir with the given flaw; changed is as in recipes.GroupOptions.
func NewGroup(conn recipes.Conn, env recipes.Env, dir string, changed func(name string, joined bool),
	flaw Flaw) *Group {
	return &Group{patient: patient{conn, env}, dir: dir, flaw: flaw, changed: changed}
}

// Watch is like that of recipes.Group.
func (g *Group) Watch(ctx context.Context, f func(now []recipes.Child, changes []recipes.Change) bool) error {
	var all []recipes.Child
	tell := func(kind recipes.ChangeKind) {
		var changes []recipes.Change
		for _, c := range all {
			changes = append(changes, recipes.Change{Kind: kind, Child: c})
		}
		f(all, changes)
	}
	var opt recipes.GroupOptions
	if g.flaw == Forgetful {
		opt.Suspect = func(suspect bool) {
			if suspect {
				tell(recipes.Removed)
			} else {
				tell(recipes.Added)
			}
		}
	}
	return recipes.NewGroup(g.conn, g.env, g.dir, opt).Watch(ctx,
		func(now []recipes.Child, changes []recipes.Change) bool {
			all = now
			return f(now, changes)
		})
}

// Join is like that of recipes.Group.
func (g *Group) Join(ctx context.Context, name string, data []byte) (*Membership, error) {
	m := &Membership{Group: g, path: g.dir + "/" + name, data: data, done: make(chan zk.Event),
		joined: new(true)}
	if err := m.claim(ctx); err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	m.end = end
	g.env.Go("member", func() {
		if g.flaw == Once {
			g.env.Await(life)
		} else {
			m.keep(life)
		}
		m.release()
		if m.successor != nil {
			g.env.Await(context.Background(), m.successor)
		}
		close(m.done)
	})
	return m, nil
}

// Membership is one membership of a group with a flaw.
type Membership struct {
	*Group
	path, proof string
	data        []byte
	joined      *bool         // what was told last
	tries       int           // to join again, of FewJoins
	id          int64         // of the first session that TwoClients has known
	successor   chan zk.Event // closed when the other client of TwoClients has ended
	end         context.CancelFunc
	done        chan zk.Event
}

// Leave is like that of recipes.Membership.
func (m *Membership) Leave(ctx context.Context) error {
	m.end()
	_, _, err := m.env.Await(ctx, m.done)
	return err
}

// claim creates the member's znode and another that proves whose it is.
func (m *Membership) claim(ctx context.Context) error {
	m.proof = m.dir + "/_owners/" + m.env.UUID()
	for {
		_, err := m.conn.Multi(
			&zk.CreateRequest{Path: m.path, Data: m.data, Acl: everybody, Flags: zk.FlagEphemeral},
			&zk.CreateRequest{Path: m.proof, Acl: everybody, Flags: zk.FlagEphemeral})
		switch {
		case err == zk.ErrNoNode:
			m.conn.Create(m.dir, nil, 0, everybody)
			m.conn.Create(m.dir+"/_owners", nil, 0, everybody)
			continue
		case err == zk.ErrNodeExists:
			return recipes.ErrNameTaken
		case !interrupted(err):
			return err
		}
		for exists := false; interrupted(err); {
			if err := m.session(ctx); err != nil {
				return err
			}
			if _, err = m.conn.Sync(m.dir); err == nil {
				exists, _, err = m.conn.Exists(m.proof)
			}
			if exists {
				return nil
			}
		}
	}
}

// keep looks after the znode until life ends.
func (m *Membership) keep(life context.Context) {
	for life.Err() == nil {
		if m.flaw == TwoClients {
			m.replace(life)
		}
		change := m.env.SessionEvents()
		exists, stat, gone, err := m.conn.ExistsW(m.path)
		switch {
		case interrupted(err):
			m.tell(false)
			err = m.session(life)
		case err != nil:
		case exists && (m.flaw == AnyZnode || stat.EphemeralOwner == m.conn.SessionID()):
			m.tell(true)
			err = m.guard(life, change, gone)
		default:
			m.tell(false)
			if m.claim(life) == recipes.ErrNameTaken && m.taken(life, exists, gone) {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// tell reports whether it is a member, if that has changed.
func (m *Membership) tell(now bool) {
	if *m.joined != now {
		*m.joined = now
		m.changed(m.path, now)
	}
}

// taken is what the member does while somebody else has its name, and reports whether the member gives up. gone is the
// watch on that znode, if it exists.
func (m *Membership) taken(life context.Context, exists bool, gone <-chan zk.Event) bool {
	switch {
	case m.flaw == NotOurs:
		m.conn.Sync(m.path)
		return true
	case m.flaw == FewJoins:
		m.tries++
		return m.tries > fewJoins
	case exists && m.flaw == ConfiguredTimeout:
		return m.outlast(life, gone) != nil
	case exists:
		_, _, err := m.env.Await(life, gone)
		return err != nil
	}
	return false
}

// fewJoins is how often FewJoins tries again after it was told that the name is taken.
const fewJoins = 1

// guard waits until something happens to the znode or the session.
func (m *Membership) guard(life context.Context, change, gone <-chan zk.Event) error {
	if m.flaw == NoInterval {
		return m.flagged(life, gone)
	}
	i, _, err := m.env.Await(life, change, gone)
	if err == nil && i == 0 && m.flaw == Flapping {
		m.release()
	}
	return err
}

// release deletes the znodes.
func (m *Membership) release() {
	err := zk.ErrConnectionClosed
	for interrupted(err) && m.session(context.Background()) == nil {
		if m.flaw == LeaveByName {
			err = m.conn.Delete(m.path, -1)
		} else {
			_, err = m.conn.Multi(&zk.DeleteRequest{Path: m.proof, Version: -1}, &zk.DeleteRequest{Path: m.path, Version: -1})
		}
	}
	if m.flaw == LeaveByName {
		m.conn.Delete(m.proof, -1)
	}
}
