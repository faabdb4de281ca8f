package recipes

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// Errors of elections.
var (
	// ErrLeading is returned by Campaign when the object already leads, or has led and not resigned.
	ErrLeading = errors.New("recipes: this object leads already")
	// ErrNotLeading is returned by Resign and Acknowledge when the object does not lead, and by Acknowledge also when it
	// has been deposed.
	ErrNotLeading = errors.New("recipes: not the leader")
	// ErrNoLeader is returned by Leader when nobody leads, or when the leader has not acknowledged yet.
	ErrNoLeader = errors.New("recipes: there is no acknowledged leader")
)

// ElectionOptions are the options of an election. The zero value is fine.
type ElectionOptions struct {
	ACL  []zk.ACL // of the znodes made; nil: everything for everybody
	Data []byte   // of its own candidate, shown by Candidates and Leader
}

// Election elects a leader among clients that campaign: the recipe "Leader Election" of the ZooKeeper documentation,
// without its holes.
//
// # Protocol
//
//  1. To campaign, create dir/candidates/_c_GUID-candidate-, ephemeral and sequential, and wait until it is the
//     first. The queue is the one of [Lock].
//  2. The leader executes the leader procedure: whatever it must do before it can serve.
//  3. To acknowledge, write the name of its own candidate into dir/leader, in
//     one multi with a check that the candidate is still there.
//  4. To learn who leads, fence, read the name in dir/leader and then that candidate. If either is missing, there is
//     no leader yet.
//  5. To resign, delete its own candidate.
//
// The acknowledgement need not be taken back: it is void once the candidate that it names is gone, and the name of a
// candidate that has led never comes again. Because the first candidate stays the first, the check in step 3 makes
// sure that the acknowledgement comes from the present leader, even when the request is executed after its author's
// session has ended.
//
// # What the recipe page leaves out
//
// The page elects again "upon receiving a notification of znode deletion", which invites clients to lead on that
// event alone; but the predecessor may have given up before it was the first (mutant event-leads). It does not say
// how to recognize one's own znode after a lost answer, nor that it may be gone; see [Lock].
//
// It suggests "a separate znode to acknowledge that the leader has executed the leader procedure", because the first
// candidate may not know yet that it is the first, but does not say how this znode ends. Written without the check,
// it may come from a leader that was deposed meanwhile and hide the present one (mutant blind-ack). Without such a
// znode followers turn to a leader that is not ready (mutant no-ack).
//
// A leader can learn too late that it was deposed. It should make every change in ZooKeeper in a multi with
// [Election.Check]. Other resources should refuse an [Election.Token] that is lower than one they have seen.
//
// # Fan-out
//
// The end of a leader or of a candidate notifies one candidate (and the client itself). An acknowledgement notifies
// the clients that wait in AwaitLeader.
//
// An Election is for one goroutine at a time.
type Election struct {
	place
	root   string
	follow alarm // of AwaitLeader, which may be called while the object leads
}

// NewElection returns a candidate for, or a mere observer of, the election on the znode dir, which must not be "/"
// and should be used for nothing else. Campaign creates it when it is missing.
func NewElection(conn Conn, env Env, dir string, opt ElectionOptions) *Election {
	const word = "candidate"
	return &Election{newPlace(session{conn, env}, dir+"/candidates", word, LockOptions(opt),
		func(w string) bool { return w == word }), dir, alarm{}}
}

// NewHerdElection is NewElection for candidates that all watch the first one. This is just as correct, but a leader's
// end notifies every candidate, all but one in vain; it is here as the reference for the herd effect.
func NewHerdElection(conn Conn, env Env, dir string, opt ElectionOptions) *Election {
	e := NewElection(conn, env, dir, opt)
	e.herd = true
	return e
}

// Campaign waits until the object leads, or returns ErrLeading if it already leads. When ctx is done first it returns
// ctx's error, and the candidacy is given up. Other errors are as for [Lock.Lock].
func (e *Election) Campaign(ctx context.Context) error {
	if e.held != nil {
		return ErrLeading
	}
	return e.acquire(ctx, true)
}

// Resign gives up the leadership, even if it was lost meanwhile, or returns ErrNotLeading if there is none to give
// up. For its outcome see [Lock.Unlock].
func (e *Election) Resign(ctx context.Context) error {
	if e.held == nil {
		return ErrNotLeading
	}
	return e.release(ctx)
}

// Lost returns a channel that gets one event when the leadership can no longer be relied on, and is then closed, like
// [Lock.Lost]. The leader should stop, call Resign, and campaign again.
func (e *Election) Lost() <-chan zk.Event { return e.held.Lost() }

// Token returns a number that is higher for each later leader, like [Lock.Token].
func (e *Election) Token() int64 { return e.held.Token() }

// Znodes returns the paths that the object answers for: its candidate while it
// leads or campaigns.
func (e *Election) Znodes() []string { return e.znodes() }

// Candidates returns the data of all clients that lead or campaign, the leader first. It is a snapshot, perhaps of
// the past.
func (e *Election) Candidates(ctx context.Context) ([][]byte, error) { return e.contenders(ctx) }
