// Package election has a port of a published leader election, and a version without its bugs.
//
// [Election] has the logic of github.com/Comcast/go-leaderelection (Election.go at 1d7a4ea, Apache License 2.0,
// copyright 2016 Comcast Cable Communications Management, LLC), but its code is written anew. The port makes three
// changes: Env.Go starts the goroutines, Await replaces select, and goroutines send each other values through a
// Mailbox. A select takes any channel that is ready, but Await takes the first one. So where the order matters, the
// worst event comes first in the list.
package election

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// Status is what an election tells a candidate.
type Status struct {
	Candidate string // the candidate's own znode
	Leads     bool
	Following string // the znode of the next candidate ahead; "" for the leader
	Err       error  // if not nil, the candidate is out of the election and has to resign
}

// Errors of a Status, besides those of ZooKeeper and [ErrLost].
var (
	ErrOver    = errors.New("the election is over")
	ErrDeleted = errors.New("the candidate was deleted")
)

// done is the name of the znode that marks an election as over.
const done = "DONE"

// Election is one candidacy with the published logic. Several goroutines may call its methods.
type Election struct {
	conn   recipes.Conn
	env    recipes.Env
	dir    string
	status *recipes.Mailbox[Status]
	again  *recipes.Mailbox[error] // from the goroutines that wait for watches; nil means to look again
	resign chan zk.Event           // closed by the candidate
	end    chan zk.Event           // closed by the candidate
	stop   chan zk.Event           // closed to end the goroutines that wait for watches
	over   <-chan zk.Event         // the watch on DONE
	own    <-chan zk.Event         // the watch on the candidate's own znode
	mine   string
}

// New returns a candidacy in the election at dir. It fails if dir does not exist.
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

// Status returns the mailbox that receives the first status, and a new one whenever it may have changed.
func (e *Election) Status() *recipes.Mailbox[Status] { return e.status }

// Resign ends the candidacy. The candidate calls it once, also after an error.
func (e *Election) Resign() { close(e.resign) }

// End ends the election for all candidates. The leader calls it instead of Resign.
func (e *Election) End() { close(e.end) }

// Run takes part in the election. It returns when the candidacy has ended.
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

// offer creates the candidate's znode and leaves a watch on it.
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

// determine finds out who leads, and starts a goroutine that waits for the watches that say when this may change.
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

// lead waits for the watches of a leader.
func (e *Election) lead() {
	switch i, event, _ := e.env.Await(context.Background(), e.own, e.over, e.stop); {
	case i == 0 && event.Type == zk.EventNodeDeleted:
		e.again.Put(ErrDeleted)
	case i == 1:
		e.again.Put(ErrOver)
	}
}

// follow waits for the watches of a candidate that does not lead.
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

// leave deletes the candidate's znode. It ignores errors.
func (e *Election) leave() {
	close(e.stop)
	e.conn.Delete(e.mine, -1)
}

// finish deletes all candidates in one transaction, the last one first and the leader at the end. It ignores errors.
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
