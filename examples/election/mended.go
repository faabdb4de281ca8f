package election

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// Mended is the election without the bugs that the tests find:
//
//   - The own znode has a name by which it is found again when the answer to its create is lost.
//   - It is removed for certain, also when the connection is lost, before Run returns, and not before the candidate
//     resigns: until then it may still lead.
//   - A leader hears of everything after which another one may lead: that it is disconnected, that its session has
//     ended, that its znode was deleted.
//   - An event of a watch is a reason to look, and nothing else. The end of a session is not that of the election.
//   - A lost connection is no reason to give up.
type Mended struct {
	conn        recipes.Conn
	env         recipes.Env
	dir         string
	status      *recipes.Mailbox[Status]
	resign, end chan zk.Event
}

// ErrLost is the Status.Err of a leader that may not be the only one.
var ErrLost = errors.New("the leadership cannot be relied on any more")

// errResigned ends a candidacy, of which there is nothing to tell.
var errResigned = errors.New("resigned")

// NewMended is New for the election without bugs.
func NewMended(conn recipes.Conn, env recipes.Env, dir string) *Mended {
	return &Mended{conn: conn, env: env, dir: dir, status: recipes.NewMailbox[Status](env),
		resign: make(chan zk.Event), end: make(chan zk.Event)}
}

// Status is as that of [Election].
func (e *Mended) Status() *recipes.Mailbox[Status] { return e.status }

// Resign is as that of [Election].
func (e *Mended) Resign() { close(e.resign) }

// End is as that of [Election].
func (e *Mended) End() { close(e.end) }

// Run is as that of [Election].
func (e *Mended) Run() {
	id := e.env.UUID()
	if err := e.campaign(id); err != errResigned {
		e.status.Put(Status{Err: err})
		e.env.Await(context.Background(), e.resign, e.end)
	}
	e.persist(func() error { return e.remove(id) })
}

// pause is how long it waits before it tries again.
const pause = 10 * time.Millisecond

// interrupted reports whether an error is that of a connection.
func interrupted(err error) bool {
	var socket interface{ Timeout() bool } // the error of a write to the connection
	return err == zk.ErrConnectionClosed || err == zk.ErrNoServer || err == zk.ErrSessionExpired ||
		err == zk.ErrSessionMoved || errors.As(err, &socket)
}

// persist tries until there is a connection.
func (e *Mended) persist(try func() error) (err error) {
	for err = try(); interrupted(err); err = try() {
		e.env.Sleep(context.Background(), pause)
	}
	return err
}

// campaign is the candidacy up to its end, for which it returns the reason.
func (e *Mended) campaign(id string) error {
	var told Status
	for {
		change := e.env.SessionEvents()
		status, watch, err := e.look(id)
		switch {
		case interrupted(err):
			ctx, end := e.env.WithTimeout(context.Background(), pause)
			i, _, _ := e.env.Await(ctx, e.resign, e.end)
			end()
			if i >= 0 {
				return e.ends(i)
			}
			continue
		case err != nil:
			return err
		case watch == nil || len(change) > 0: // the znode is new, or that of another session
			continue
		case status != told:
			told = status
			e.status.Put(told)
		}
		i, _, _ := e.env.Await(context.Background(), e.resign, e.end, change, watch)
		if i < 2 {
			return e.ends(i)
		}
		if told.Leads {
			return ErrLost
		}
	}
}

// ends is what the candidate asks for.
func (e *Mended) ends(i int) error {
	if i == 0 {
		return errResigned
	}
	err := e.persist(func() error {
		_, err := e.conn.Create(e.dir+"/"+done, nil, 0, zk.WorldACL(zk.PermAll))
		if err == zk.ErrNodeExists {
			return nil
		}
		return err
	})
	if err == nil {
		err = errResigned
	}
	return err
}

// look finds out who leads. The watch fires when that may change; it is nil where there is something to wait for first.
func (e *Mended) look(id string) (status Status, watch <-chan zk.Event, err error) {
	names, err := e.candidates()
	if err != nil {
		return status, nil, err
	}
	if slices.Contains(names, done) {
		return status, nil, ErrOver
	}
	at := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, id) })
	if at < 0 {
		_, err := e.conn.Create(e.dir+"/"+id+"-le_", nil, zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
		return status, nil, err
	}
	status = Status{Candidate: e.dir + "/" + names[at], Leads: at == 0}
	watched := status.Candidate
	if at > 0 {
		status.Following = e.dir + "/" + names[at-1]
		watched = status.Following
	}
	exists, stat, watch, err := e.conn.ExistsW(watched)
	if err != nil || !exists {
		return status, nil, err
	}
	if at == 0 && stat.EphemeralOwner != e.conn.SessionID() {
		e.env.Sleep(context.Background(), pause) // it goes with the session that made it
		return status, nil, nil
	}
	return status, watch, nil
}

// candidates returns the names of all candidates in order, as they are now.
func (e *Mended) candidates() ([]string, error) {
	if _, err := e.conn.Sync(e.dir); err != nil {
		return nil, err
	}
	names, _, err := e.conn.Children(e.dir)
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(a[strings.LastIndexByte(a, '_')+1:], b[strings.LastIndexByte(b, '_')+1:])
	})
	return names, err
}

// remove removes what there is by that id.
func (e *Mended) remove(id string) error {
	names, err := e.candidates()
	for _, name := range names {
		if strings.HasPrefix(name, id) && err == nil {
			if err = e.conn.Delete(e.dir+"/"+name, -1); err == zk.ErrNoNode {
				err = nil
			}
		}
	}
	return err
}
