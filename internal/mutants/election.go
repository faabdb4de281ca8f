package mutants

import (
	"context"
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// The flaws of elections. The numbers are those of docs/museum.md.
const (
	// EventLeads leads when the predecessor's znode is deleted, without listing again. But the predecessor may
	// have given up while another leads.
	EventLeads Flaw = 29
	// BlindAck acknowledges without checking its own candidate in the same multi. A former leader hides the present
	// one.
	BlindAck Flaw = 120
	// NoAck takes the first candidate for the leader. That candidate may not know yet that it is the first.
	NoAck Flaw = 121
	// OldMark takes the mark of a leader for a leader that leads, and does not look at it again. The leader may have
	// lost its session, which the servers have not ended yet.
	OldMark Flaw = 192
	// ToldEarly tells the listener that the leadership is lost before the election itself says so. The listener asks
	// the election, hears that the client leads, and goes on.
	ToldEarly Flaw = 193
)

// Election is an election with one flaw, on the znodes of recipes.Election.
type Election struct {
	*Lock // held by the leader
	root  string
}

// NewElection returns a candidate of the election on dir with the given flaw.
func NewElection(conn recipes.Conn, env recipes.Env, dir string, flaw Flaw) *Election {
	return &Election{NewLock(conn, env, dir+"/candidates", flaw), dir}
}

// Campaign waits until the object leads.
func (e *Election) Campaign(ctx context.Context) error { return e.Lock.Lock(ctx) }

// Resign gives the leadership up.
func (e *Election) Resign(ctx context.Context) error { return e.Unlock(ctx) }

// Acknowledge tells clients that ask for the leader that the object leads.
func (e *Election) Acknowledge(context.Context) error {
	ops := []any{&zk.CheckVersionRequest{Path: e.dir + "/" + e.node, Version: -1},
		&zk.SetDataRequest{Path: e.root + "/leader", Data: []byte(e.node), Version: -1}}
	if e.flaw == BlindAck {
		ops = ops[1:]
	}
	_, err := e.conn.Multi(ops...)
	if err == zk.ErrNoNode || interrupted(err) {
		return recipes.ErrNotLeading
	}
	return err
}

// Leader returns who leads, or recipes.ErrNoLeader.
func (e *Election) Leader(ctx context.Context) (recipes.Leader, error) {
	for {
		id := e.conn.SessionID()
		found, err := e.leader()
		if err == zk.ErrNoNode {
			err = recipes.ErrNoLeader
		}
		if !interrupted(err) && e.conn.SessionID() == id {
			return found, err
		}
		if err := e.session(ctx); err != nil {
			return found, err
		}
	}
}

func (e *Election) leader() (found recipes.Leader, err error) {
	if _, err := e.conn.Sync(e.root); err != nil {
		return found, err
	}
	data, _, err := e.conn.Get(e.root + "/leader")
	name := string(data)
	if e.flaw == NoAck {
		var names []string
		names, _, err = e.conn.Children(e.dir)
		if len(names) > 0 {
			name = slices.MinFunc(names, func(a, b string) int { return number(a) - number(b) })
		}
	}
	if err != nil || name == "" {
		return found, firstOf(err, zk.ErrNoNode)
	}
	_, stat, err := e.conn.Get(e.dir + "/" + name)
	if err == nil {
		found.Token = stat.Czxid
	}
	return found, err
}

func firstOf(err, other error) error {
	if err != nil {
		return err
	}
	return other
}
