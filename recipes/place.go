package recipes

import (
	"context"
	"errors"
	"strings"

	"github.com/go-zookeeper/zk"
)

// errGone sends an attempt back to its beginning: its own znode is gone.
var errGone = errors.New("recipes: own znode is gone")

// place is a place in a queue of ephemeral sequential znodes, in which the fair recipes wait. A contender's name is
// _c_GUID-WORD-NUMBER, where the word is what it wants. It waits for contenders ahead of it that have certain words.
// The protocol is that of [Lock].
type place struct {
	session
	dir    string
	word   string
	opt    LockOptions
	blocks func(word string) bool // whether a place ahead with that word keeps this one waiting
	herd   bool                   // watch the first of the queue, not the last one ahead

	partner   string // word of a second znode, made directly ahead of the first; "": none
	leases    int    // how many may hold at once; 0: 1
	revocable bool   // the holder is told when its data becomes "unlock"

	nodes []string // its own znodes while queued or held; the last is the place
	held  *hold
	alarm alarm
}

func newPlace(s session, dir, word string, opt LockOptions, blocks func(word string) bool) place {
	opt.ACL = open(opt.ACL)
	return place{session: s, dir: dir, word: word, opt: opt, blocks: blocks}
}

func (p *place) acquire(ctx context.Context, wait bool) (err error) {
	defer Forget(p.env)(&p.nodes, &p.held, &p.alarm, &err)
	if p.held != nil {
		return ErrHeld
	}
	for {
		Keep(p.env, &p.alarm)
		if err = p.enqueue(ctx); err != nil {
			return err
		}
		err = p.queue(ctx, p.name(), wait)
		if err == nil {
			return nil
		}
		nodes := p.nodes
		p.nodes = nil
		if err == errGone || err == ErrLocked { // perhaps gone only for this session: the next attempt would be behind it
			switch removed := p.removeAll(ctx, p.dir, nodes); {
			case removed != nil:
				err = removed
			case err == errGone:
				continue
			default:
				return err
			}
		}
		p.giveUp(ctx, nodes)
		return err
	}
}

// enqueue creates its own znodes. Each attempt has a GUID of its own, so that a name comes only once: where sequence
// numbers end, an attempt could otherwise have the name of the one before, which others may still know.
func (p *place) enqueue(ctx context.Context) (err error) {
	var prefix string
	var nodes []string
	defer Forget(p.env)(&prefix, &p.nodes, &err)
	err = p.create(ctx, creation{what: p.word, dir: p.dir, acl: p.opt.ACL, kept: []any{&prefix, &nodes},
		do: func() (err error) {
			prefix = "_c_" + p.env.UUID() + "-"
			nodes, err = p.make(ctx, prefix)
			return err
		},
		done: func(ctx context.Context) (bool, error) {
			var err error
			if nodes, err = p.made(ctx, prefix); err == nil && len(nodes) < len(p.words()) {
				err = p.removeAll(ctx, p.dir, nodes) // an operator has deleted the other
				return false, err
			}
			return err == nil, err
		},
		undo: func(ctx context.Context) {
			if nodes, err := p.made(ctx, prefix); err == nil {
				p.removeAll(ctx, p.dir, nodes)
			}
		}})
	if err == nil {
		p.nodes = nodes
	}
	return err
}

// words are the words of its own znodes.
func (p *place) words() []string {
	if p.partner == "" {
		return []string{p.word}
	}
	return []string{p.partner, p.word}
}

// make sends the request that creates its own znodes and returns their names.
func (p *place) make(ctx context.Context, prefix string) (names []string, err error) {
	const flags = zk.FlagEphemeral | zk.FlagSequence
	prefix = p.dir + "/" + prefix
	if p.partner == "" {
		path, err := p.on(ctx).Create(prefix+p.word+"-", p.opt.Data, flags, p.opt.ACL)
		return []string{strings.TrimPrefix(path, p.dir+"/")}, err
	}
	var requests []interface{}
	for _, word := range p.words() {
		requests = append(requests, &zk.CreateRequest{Path: prefix + word + "-", Data: p.opt.Data, Acl: p.opt.ACL,
			Flags: flags})
	}
	results, err := p.on(ctx).Multi(requests...)
	for _, r := range results {
		names = append(names, strings.TrimPrefix(r.String, p.dir+"/"))
	}
	return names, err
}

// made returns the names of the znodes that a request of make has created; see find.
func (p *place) made(ctx context.Context, prefix string) (names []string, err error) {
	for _, word := range p.words() {
		name, err := p.find(ctx, p.dir, prefix+word+"-")
		if err != nil {
			return nil, err
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

// queue waits until nobody ahead of name keeps it waiting, and then holds the place. It returns errGone when name is
// no longer in the queue.
func (p *place) queue(ctx context.Context, name string, wait bool) (err error) {
	defer Forget(p.env)(&p.held, &p.alarm, &err)
	for {
		Keep(p.env, &p.alarm)
		if err := ctx.Err(); err != nil {
			return err
		}
		p.alarm.set(p.env)
		ahead, err := p.ahead(ctx, name)
		switch {
		case err != nil:
		case ahead == "":
			err = p.take(ctx, name)
			if err == nil && p.held != nil {
				return nil
			}
		case !wait:
			return ErrLocked
		case p.alarm.rang(): // the own znode may be gone since: to wait without a place would let others pass
		case p.leases > 1:
			err = p.awaitLease(ctx, name)
		default:
			err = p.awaitChange(ctx, p.dir+"/"+ahead, &p.alarm)
		}
		if interrupted(err) {
			err = p.again(ctx, err)
		}
		if err != nil {
			return err
		}
	}
}

// awaitLease waits until a contender enters or leaves the queue, or the session changes state. It returns at once if
// a lease has become free.
func (p *place) awaitLease(ctx context.Context, name string) (err error) {
	defer Forget(p.env)(&p.alarm, &err)
	names, _, event, err := p.on(ctx).ChildrenW(p.dir)
	if err == zk.ErrNoNode { // somebody has removed the whole queue
		return errGone
	}
	if err != nil {
		return err
	}
	if ahead, err := p.aheadOf(ctx, name, names); ahead == "" || err != nil {
		return err
	}
	return p.alarm.await(ctx, p.env, event)
}

// take makes sure that the first of the queue is ours and holds it. If the session has changed state meanwhile, it
// does nothing and returns nil.
func (p *place) take(ctx context.Context, name string) error {
	seen, err := p.look(ctx, p.dir+"/"+name)
	if err != nil {
		return err
	}
	if seen.stat == nil || seen.stat.EphemeralOwner != p.conn.SessionID() {
		return errGone
	}
	if p.alarm.rang() {
		return nil
	}
	var revoked chan zk.Event
	if p.revocable {
		revoked = make(chan zk.Event, 1)
	}
	p.held = p.hold(p.dir+"/"+name, seen, &p.alarm, revoked)
	return nil
}

// release is [Lock.Unlock]. The partner goes first: nobody waits for it while the place is there.
func (p *place) release(ctx context.Context) (err error) {
	defer Forget(p.env)(&p.alarm, &err)
	if p.held == nil {
		return ErrNotHeld
	}
	p.held.end()
	nodes := p.nodes
	p.held, p.nodes = nil, nil
	err = p.removeAll(ctx, p.dir, nodes)
	if err != nil && ctx.Err() != nil {
		p.giveUp(ctx, nodes)
	}
	return err
}

// giveUp is removeAll for a caller that cannot wait.
func (p *place) giveUp(ctx context.Context, names []string) {
	for _, name := range names {
		p.abandon(ctx, p.word, p.dir+"/"+name)
	}
}

// shaken reports whether what is held can no longer be relied on, even if the guard has not yet said so, and even if
// the holder has heard of it. It does not ask the connection, because time passes between two questions: after any
// change of the session, the alarm has rung.
func (p *place) shaken() bool { return p.alarm.rang() || len(p.held.lost) > 0 }

// name returns the name of the place itself while it is queued or held.
func (p *place) name() string { return p.nodes[len(p.nodes)-1] }

func (p *place) znodes() (paths []string) {
	for _, name := range p.nodes {
		paths = append(paths, p.dir+"/"+name)
	}
	return paths
}

// contenders is [Lock.Contenders].
func (p *place) contenders(ctx context.Context) (all [][]byte, err error) {
	defer Forget(p.env)(&all, &err)
	queue, err := p.list(ctx)
	if err == zk.ErrNoNode {
		return nil, nil
	}
	for _, name := range queue {
		var data []byte
		if err == nil {
			err = p.retry(ctx, func() (err error) {
				data, _, err = p.on(ctx).Get(p.dir + "/" + name)
				return err
			}, &data)
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
	defer Forget(p.env)(&queue, &err)
	err = p.retry(ctx, func() error {
		names, _, err := p.on(ctx).Children(p.dir)
		if err == nil {
			queue, err = p.ordered(ctx, names)
		}
		return err
	}, &queue)
	return queue, err
}

// abandon removes an own znode that must not stay: at once if that is possible before ctx is done, else in the
// background.
func (s session) abandon(ctx context.Context, what, path string) {
	defer Forget(s.env)(&path)
	err := s.on(ctx).Delete(path, -1)
	if interrupted(err) {
		s.removeLater(what, path)
	}
}
