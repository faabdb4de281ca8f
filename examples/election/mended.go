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
//   - The znode has a unique name, so that a candidate finds it after the reply to the create was lost.
//   - Run deletes the znode before it returns, however often the connection is lost. It does not delete it before the
//     candidate resigns, because until then the candidate may still lead.
//   - A leader hears of everything after which another candidate may lead: a disconnection, the end of its session, and
//     the deletion of its znode.
//   - To a follower an event only means to look again. The end of a session is not the end of the election.
//   - A candidate that does not lead stays in the election when its connection is lost.
type Mended struct {
	conn        recipes.Conn
	env         recipes.Env
	dir         string
	status      *recipes.Mailbox[Status]
	resign, end chan zk.Event
}

// ErrLost is the Status.Err of a leader that may no longer be the only one.
var ErrLost = errors.New("the leadership cannot be relied on any more")

// errResigned ends a candidacy that its candidate wants to end. No status reports it.
var errResigned = errors.New("resigned")

// NewMended is New for the election without bugs. It does not check that dir exists.
func NewMended(conn recipes.Conn, env recipes.Env, dir string) *Mended {
	return &Mended{conn: conn, env: env, dir: dir, status: recipes.NewMailbox[Status](env),
		resign: make(chan zk.Event), end: make(chan zk.Event)}
}

// Status is like [Election.Status].
func (e *Mended) Status() *recipes.Mailbox[Status] { return e.status }

// Resign is like [Election.Resign].
func (e *Mended) Resign() { close(e.resign) }

// End is like [Election.End], but creates DONE and leaves the candidates to resign. After an error it only resigns.
func (e *Mended) End() { close(e.end) }

// Run is like [Election.Run].
func (e *Mended) Run() {
	id := e.env.UUID()
	if err := e.campaign(id); err != errResigned {
		e.status.Put(Status{Err: err})
		e.env.Await(context.Background(), e.resign, e.end)
	}
	e.persist(func() error { return e.remove(id) })
}

// pause is the wait before the next try.
const pause = 10 * time.Millisecond

// interrupted reports whether an error only says that the connection or the session was lost.
func interrupted(err error) bool {
	var socket interface{ Timeout() bool } // the error of a write to the connection
	return err == zk.ErrConnectionClosed || err == zk.ErrNoServer || err == zk.ErrSessionExpired ||
		err == zk.ErrSessionMoved || errors.As(err, &socket)
}

// persist calls try until it returns nil or an error that a new connection does not cure.
func (e *Mended) persist(try func() error) (err error) {
	for err = try(); interrupted(err); err = try() {
		e.env.Sleep(context.Background(), pause)
	}
	return err
}

// campaign takes part in the election, and returns the reason why that has ended.
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
		case watch == nil || len(change) > 0: // look has no answer yet, or the session has changed meanwhile
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

// ends does what the candidate asks for: 0 is to resign, 1 is to end the election.
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

// look finds out who leads. Its watch fires when this may change; if it is nil, the caller has to look again at once.
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
		e.env.Sleep(context.Background(), pause) // a znode of an old session ends with it
		return status, nil, nil
	}
	return status, watch, nil
}

// candidates returns the names below dir after a sync, in the order of their numbers.
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

// remove deletes all znodes whose names begin with id.
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
