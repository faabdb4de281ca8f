// Package election is a port of a leader election, and one in which its bugs are mended.
//
// [Election] has the logic of github.com/Comcast/go-leaderelection (Election.go at 1d7a4ea, Apache License 2.0,
// copyright 2016 Comcast Cable Communications Management, LLC), in words of its own. What the port changes: goroutines
// are those of Env.Go, each select is an Await, and what goroutines tell one another goes through a Mailbox. A select
// takes any of the channels that are ready, Await the first of them; so a select in which that matters lists first what
// is worse.
package election

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// Status is what a candidate is told.
type Status struct {
	Candidate string // the own znode
	Leads     bool
	Following string // the znode of the candidate before; "" for the leader
	Err       error  // the candidate is out of the election, and resigns
}

// What Status.Err may be, beside errors of ZooKeeper.
var (
	ErrOver    = errors.New("the election is over")
	ErrDeleted = errors.New("the candidate was deleted")
)

// done is the znode that is there when an election is over.
const done = "DONE"

// Election is one candidacy, as it is published. Its methods are for several goroutines.
type Election struct {
	conn   recipes.Conn
	env    recipes.Env
	dir    string
	status *recipes.Mailbox[Status]
	again  *recipes.Mailbox[error] // of watches: look again, if it is nil
	resign chan zk.Event           // closed by the candidate
	end    chan zk.Event           // closed by the candidate
	stop   chan zk.Event           // closed when watches need not be listened to any more
	over   <-chan zk.Event         // the watch of DONE
	own    <-chan zk.Event         // the watch of the own znode
	mine   string
}

// New returns a candidacy in the election at dir, which exists.
func New(conn recipes.Conn, env recipes.Env, dir string) (*Election, error) {
	exists, _, err := conn.Exists(dir)
	if err == nil && !exists {
		err = zk.ErrNoNode
	}
	if err != nil {
		return nil, fmt.Errorf("the election %s: %w", dir, err)
	}
	_, _, over, err := conn.ExistsW(dir + "/" + done)
	if err != nil {
		return nil, fmt.Errorf("the watch of the end of %s: %w", dir, err)
	}
	return &Election{conn: conn, env: env, dir: dir, status: recipes.NewMailbox[Status](env),
		again: recipes.NewMailbox[error](env), resign: make(chan zk.Event), end: make(chan zk.Event),
		stop: make(chan zk.Event), over: over}, nil
}

// Status tells who leads, whenever that changes.
func (e *Election) Status() *recipes.Mailbox[Status] { return e.status }

// Resign ends the candidacy. It is called once, also after an error.
func (e *Election) Resign() { close(e.resign) }

// End ends the election for all. It is called by the leader, instead of Resign.
func (e *Election) End() { close(e.end) }

// Run is the candidacy. It returns when that has ended.
func (e *Election) Run() {
	status := e.offer()
	if status.Err == nil {
		e.determine(&status)
	}
	e.status.Put(status)
	for {
		switch i, _, _ := e.env.Await(context.Background(), e.again.Ready(), e.resign, e.end); i {
		case 0:
			err := e.again.Next()
			if err == nil {
				e.determine(&status)
			} else {
				status.Err = err
			}
			e.status.Put(status)
			if err != nil {
				e.leave()
				return
			}
		case 1:
			e.leave()
			return
		case 2:
			e.finish()
			return
		}
	}
}

// offer makes the own znode.
func (e *Election) offer() (status Status) {
	names, _, err := e.conn.Children(e.dir)
	if err == nil && slices.Contains(names, done) {
		err = ErrOver
	}
	if err != nil {
		return Status{Err: err}
	}
	mine, err := e.conn.Create(e.dir+"/le_", []byte(" "), zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
	if err != nil {
		return Status{Err: err}
	}
	exists, _, own, err := e.conn.ExistsW(mine)
	if err == nil && !exists {
		err = ErrOver
	}
	if err != nil {
		return Status{Err: err}
	}
	e.mine, e.own = mine, own
	return Status{Candidate: mine}
}

// determine finds out who leads, and listens to the watches that say when that may change.
func (e *Election) determine(status *Status) {
	names, _, err := e.conn.Children(e.dir)
	if err != nil {
		status.Err = err
		return
	}
	if slices.Contains(names, done) {
		status.Err = ErrOver
		return
	}
	slices.Sort(names)
	at := slices.Index(names, e.mine[len(e.dir)+1:])
	switch {
	case at < 0:
		status.Err = ErrDeleted
		return
	case at == 0:
		status.Leads, status.Following = true, ""
		e.env.Go("leads", e.lead)
		return
	}
	before := e.dir + "/" + names[at-1]
	exists, _, gone, err := e.conn.ExistsW(before)
	if err != nil {
		status.Err = err
		return
	}
	if !exists {
		e.again.Put(nil)
	}
	status.Leads, status.Following = false, before
	e.env.Go("follows", func() { e.follow(gone) })
}

// lead listens to the watches of a leader.
func (e *Election) lead() {
	switch i, event, _ := e.env.Await(context.Background(), e.own, e.over, e.stop); {
	case i == 0 && event.Type == zk.EventNodeDeleted:
		e.again.Put(ErrDeleted)
	case i == 1:
		e.again.Put(ErrOver)
	}
}

// follow listens to the watches of a candidate that does not lead.
func (e *Election) follow(gone <-chan zk.Event) {
	for {
		switch i, event, _ := e.env.Await(context.Background(), e.over, gone, e.own, e.stop); {
		case i == 0:
			e.again.Put(ErrOver)
			return
		case i == 1 && event.Type == zk.EventNodeDeleted:
			e.again.Put(nil)
			return
		case i == 2 && event.Type == zk.EventNodeDeleted:
			e.again.Put(ErrDeleted)
			return
		case i == 3:
			return
		}
	}
}

// leave removes the own znode.
func (e *Election) leave() {
	close(e.stop)
	e.conn.Delete(e.mine, -1)
}

// finish removes all candidates, the last first, so that none of them is the first for a while.
func (e *Election) finish() {
	close(e.stop)
	names, _, err := e.conn.Children(e.dir)
	if err != nil {
		return
	}
	slices.Sort(names)
	slices.Reverse(names)
	var all []any
	for _, name := range names {
		all = append(all, &zk.DeleteRequest{Path: e.dir + "/" + name, Version: -1})
	}
	e.conn.Multi(all...)
}
