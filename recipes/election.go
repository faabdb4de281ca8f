package recipes

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"
)

// Errors of elections.
var (
	// ErrLeading is returned by Campaign when the object leads already, or did
	// and has not resigned.
	ErrLeading = errors.New("recipes: this object leads already")
	// ErrNotLeading is returned by Resign when the object does not lead, and by
	// Acknowledge also when it has been deposed.
	ErrNotLeading = errors.New("recipes: not the leader")
	// ErrNoLeader is returned by Leader when nobody leads, or when the leader
	// has not acknowledged it yet.
	ErrNoLeader = errors.New("recipes: there is no acknowledged leader")
)

// ElectionOptions are the options of an election. The zero value is fine.
type ElectionOptions struct {
	ACL  []zk.ACL // of the znodes made; nil: everything for everybody
	Data []byte   // of its own candidate, shown by Candidates and Leader
}

// Election elects a leader among those who campaign: the recipe "Leader Election"
// of the ZooKeeper documentation, without its holes.
//
// # Protocol
//
//  1. To campaign, create dir/candidates/_c_GUID-candidate-, ephemeral and
//     sequential, and wait until it is the first, as in the protocol of [Lock],
//     whose place in a queue it shares.
//  2. The leader executes the leader procedure: whatever it takes to be of use.
//  3. To acknowledge, write the name of its own candidate into dir/leader, in
//     one multi with a check that the candidate is still there.
//  4. A client that wants to know the leader fences, reads the name in dir/leader and
//     then that candidate. If either is missing, there is no leader yet.
//  5. To resign, delete its own candidate.
//
// The acknowledgement need not be taken back: it is void from the moment when
// the candidate that it names is gone, and the name of one that has led never
// comes again. As the first candidate stays the first, the check in step 3 makes
// sure that the acknowledgement is that of the present leader, even when the
// request is executed after its author's session has ended.
//
// # What the recipe page leaves out
//
// The page elects again "upon receiving a notification of znode deletion" and so
// invites to lead on that event alone; but the predecessor may have given up
// before it was the first (mutant event-leads). It does not say how to recognize
// its own znode after a lost answer, nor that it may be gone: see [Lock].
//
// It suggests "a separate znode to acknowledge that the leader has executed the
// leader procedure", because the first candidate need not know yet that it is
// the first, but not how this znode ends. Written without the check, it may
// come from a leader that was deposed meanwhile and hide the present one (mutant
// blind-ack); and without such a znode followers turn to a leader that is not
// ready (mutant no-ack).
//
// A leader can learn of its deposition too late. Whatever it changes in ZooKeeper
// it should change in a multi with [Election.Check]; other resources should
// refuse a lower [Election.Token] than they have seen.
//
// # Fan-out
//
// The end of a leader or of a candidate notifies one candidate (and the client
// itself). An acknowledgement notifies those who wait in AwaitLeader.
//
// An Election is for one goroutine at a time.
type Election struct {
	place
	root   string
	follow alarm // of AwaitLeader, which may be called while the object leads
}

// NewElection returns a candidate, or a mere observer, of the election on the
// znode dir, which must not be "/" and should be used for nothing else. Campaign
// creates it when it is missing.
func NewElection(conn Conn, env Env, dir string, opt ElectionOptions) *Election {
	const word = "candidate"
	return &Election{newPlace(session{conn, env}, dir+"/candidates", word, LockOptions(opt),
		func(w string) bool { return w == word }), dir, alarm{}}
}

// NewHerdElection is NewElection for candidates that all watch the first one. This
// is as correct, but a leader's end notifies every candidate, and all but one in
// vain; it stands here as the reference for the herd effect.
func NewHerdElection(conn Conn, env Env, dir string, opt ElectionOptions) *Election {
	e := NewElection(conn, env, dir, opt)
	e.herd = true
	return e
}

// Campaign waits until the object leads, or returns ErrLeading if it leads already. When
// ctx is done first it returns ctx's error, and the candidacy is given up. Other errors
// are those of [Lock.Lock].
func (e *Election) Campaign(ctx context.Context) error {
	if e.held != nil {
		return ErrLeading
	}
	return e.acquire(ctx, true)
}

// Resign gives the leadership up, whether or not it was lost meanwhile, or returns
// ErrNotLeading if there is none to give up. For its outcome see [Lock.Unlock].
func (e *Election) Resign(ctx context.Context) error {
	if e.held == nil {
		return ErrNotLeading
	}
	return e.release(ctx)
}

// Lost returns a channel that gets one event when the leadership can no longer be
// relied on, and is then closed, as [Lock.Lost]. The leader should stop, call
// Resign, and campaign again.
func (e *Election) Lost() <-chan zk.Event { return e.held.Lost() }

// Token returns a number that is higher for each later leader, as [Lock.Token].
func (e *Election) Token() int64 { return e.held.Token() }

// Znodes returns the paths that the object answers for: its candidate while it
// leads or campaigns.
func (e *Election) Znodes() []string { return e.znodes() }

// Candidates returns the data of everyone who leads or campaigns, the leader
// first. It is a snapshot, perhaps of the past.
func (e *Election) Candidates(ctx context.Context) ([][]byte, error) { return e.contenders(ctx) }
