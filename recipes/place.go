package recipes

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// errGone sends an attempt back to its beginning: the own znode is gone.
var errGone = errors.New("recipes: own znode is gone")

// place is a place in a queue of ephemeral sequential znodes, by which the fair
// recipes grant what they have to grant. A contender's name is
// _c_GUID-WORD-NUMBER, where the word is what it wants. Some words of those
// ahead of it keep it waiting; the protocol is that of [Lock].
type place struct {
	session
	dir    string
	word   string
	opt    LockOptions
	blocks func(word string) bool // whether one ahead with that word keeps this one waiting

	node  string // own znode while queued or held
	held  *hold
	alarm alarm
}

func newPlace(s session, dir, word string, opt LockOptions, blocks func(word string) bool) place {
	opt.ACL = open(opt.ACL)
	return place{session: s, dir: dir, word: word, opt: opt, blocks: blocks}
}

func (p *place) acquire(ctx context.Context, wait bool) error {
	if p.held != nil {
		return ErrHeld
	}
	for {
		name, err := p.enqueue(ctx)
		if err != nil {
			return err
		}
		p.node = p.dir + "/" + name
		err = p.queue(ctx, name, wait)
		if err == nil {
			return nil
		}
		p.node = ""
		p.abandon(p.dir + "/" + name)
		if err != errGone {
			return err
		}
	}
}

// enqueue creates the own znode and returns its name.
func (p *place) enqueue(ctx context.Context) (name string, err error) {
	guid := p.env.UUID()
	err = p.create(ctx, creation{dir: p.dir, acl: p.opt.ACL,
		do: func() error {
			path, err := p.conn.Create(p.dir+"/_c_"+guid+"-"+p.word+"-", p.opt.Data, zk.FlagEphemeral|zk.FlagSequence, p.opt.ACL)
			if err == nil {
				name = path[len(p.dir)+1:]
			}
			return err
		},
		done: func(ctx context.Context) (bool, error) {
			var err error
			name, err = p.find(ctx, p.dir, guid)
			return name != "", err
		},
		undo: func(ctx context.Context) {
			if name, err := p.find(ctx, p.dir, guid); err == nil && name != "" {
				p.remove(ctx, p.dir+"/"+name)
			}
		}})
	return name, err
}

// queue waits until nobody ahead of name keeps it waiting, and then takes what
// was queued for. It returns errGone when name is not in the queue any more.
func (p *place) queue(ctx context.Context, name string, wait bool) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.alarm.set(p.env)
		ahead, err := p.ahead(name)
		switch {
		case err != nil:
		case ahead == "":
			err = p.take(name)
			if err == nil && p.held != nil {
				return nil
			}
		case !wait:
			return ErrLocked
		default:
			err = p.awaitChange(ctx, p.dir+"/"+ahead)
		}
		if interrupted(err) {
			err = p.await(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// take makes sure that the first of the queue is ours and holds it. It does
// nothing, without error, if the session has changed state meanwhile.
func (p *place) take(name string) error {
	path := p.dir + "/" + name
	ok, stat, gone, err := p.conn.ExistsW(path)
	if err != nil {
		return err
	}
	if !ok || stat.EphemeralOwner != p.conn.SessionID() {
		return errGone
	}
	if p.alarm.rang() {
		return nil
	}
	p.held = p.hold(path, stat.Czxid, &p.alarm, gone)
	return nil
}

// release is [Lock.Unlock].
func (p *place) release(ctx context.Context) error {
	if p.held == nil {
		return ErrNotHeld
	}
	h := p.held
	p.held, p.node = nil, ""
	h.end()
	err := p.remove(ctx, h.path)
	if err != nil && ctx.Err() != nil {
		p.abandon(h.path)
	}
	return err
}

func (p *place) znodes() []string {
	if p.node == "" {
		return nil
	}
	return []string{p.node}
}

// contenders is [Lock.Contenders].
func (p *place) contenders(ctx context.Context) ([][]byte, error) {
	queue, err := p.list(ctx)
	if err == zk.ErrNoNode {
		return nil, nil
	}
	var all [][]byte
	for _, name := range queue {
		var data []byte
		if err == nil {
			err = p.retry(ctx, func() (err error) {
				data, _, err = p.conn.Get(p.dir + "/" + name)
				return err
			})
		}
		switch err {
		case nil:
			all = append(all, data)
		case zk.ErrNoNode: // left meanwhile
			err = nil
		default:
			return nil, err
		}
	}
	return all, err
}

// list returns the names of the queue in order.
func (p *place) list(ctx context.Context) (queue []string, err error) {
	err = p.retry(ctx, func() error {
		names, _, err := p.conn.Children(p.dir)
		if err == nil {
			queue, err = p.ordered(names)
		}
		return err
	})
	return queue, err
}

// abandon removes the own znode: at once if possible, else in the background,
// because the caller may be in a hurry but the znode must not stay.
func (s session) abandon(path string) {
	err := s.conn.Delete(path, -1)
	if interrupted(err) {
		s.env.Go("lock-cleanup", func() { s.remove(context.Background(), path) })
	}
}
