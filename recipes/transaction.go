package recipes

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

// Errors of a transaction.
var (
	// ErrVoted is returned by Vote when the site has already voted otherwise: a vote cannot be changed.
	ErrVoted = errors.New("recipes: the site has voted otherwise")
	// ErrUndecided is returned by Forget before the object has learned the
	// decision.
	ErrUndecided = errors.New("recipes: the decision is not known yet")
	// ErrRole is returned by methods that only the coordinator, or only a site, may call.
	ErrRole = errors.New("recipes: not for this role in the transaction")
)

// Form says who watches the votes of a transaction, and how the failure of a site is noticed. All participants of a
// transaction must use the same form.
type Form int

// The forms, in the order in which the recipes page develops them.
const (
	// AllSites: everybody watches all votes and decides. No coordinator is
	// needed once the transaction has begun.
	AllSites Form = iota
	// ByCoordinator: only the coordinator watches the votes, and the sites
	// watch for its decision. When it fails, they wait until they call Finish.
	ByCoordinator
	// EphemeralSites is AllSites in which a site that has joined shows that it is alive: when it fails before its vote,
	// the others abort at once.
	EphemeralSites
)

// TransactionOptions are the options of a participant. The zero value makes a
// coordinator.
type TransactionOptions struct {
	ACL  []zk.ACL // of the znodes made; nil: everything for everybody
	Site string   // name of the site; empty: the coordinator
	Form Form
}

// Transaction is one participant of a transaction that several sites commit or abort together: the recipe "Two-phased
// Commit" of the ZooKeeper documentation, in its three forms. One process may have several objects for a transaction,
// such as one for the coordinator and one for a site.
//
// # Protocol
//
//  1. The coordinator creates dir with the transaction's data, dir/coordinator, and dir/site-NAME for each site, in
//     one multi. The multi also deletes a ticket, an ephemeral znode _c_GUID-ticket made beside dir. If the answer is
//     lost, the GUID in dir/coordinator tells whether the multi was executed; without the ticket it cannot be
//     executed any more, even if the session that it was sent in lives.
//  2. A site reads the data ([Transaction.Join]). With EphemeralSites it writes
//     "joined" into its znode and creates dir/live-NAME, ephemeral, in one
//     multi.
//  3. A site votes by writing "yes" into its znode if the version is still that of a znode without a vote. A "no"
//     creates dir/decision in the same multi, with "aborted".
//  4. To decide, read all votes, leaving watches. If all are "yes", create dir/decision with "committed". If a site
//     has joined, has not voted and is not alive, create it with "aborted". Either is a multi that checks that the
//     versions of all votes are those that were read. If it fails, somebody else was first, or a vote has come: repeat
//     this step. If votes are missing, wait for the watches, or for a change of the session's state, after which all
//     are read again.
//  5. Everybody watches for dir/decision. It is created once and never written, so it is the outcome, whatever
//     happens to the client that made it.
//  6. To give up waiting, call [Transaction.Finish], which is step 4 with "aborted" in place of more waiting: a
//     missing vote is presumed to be "no".
//  7. When a participant has done what the decision asks of it, it deletes its own znode ([Transaction.Forget]); the
//     last one also deletes dir. The znodes wait for participants that have failed; if one never comes back, an
//     operator has to delete them.
//
// # What the recipe page leaves out
//
// The page has no znode for the decision: every site counts the votes. That is enough as long as nobody fails and
// nobody loses patience. A site that gives up on its own while the last vote arrives aborts what others commit
// (mutant own-decision); here both have to create the same znode, and one of them fails. The page does not say that
// the wait for a site may be in vain (endless-wait), nor that a client that gives up may abort only if a vote is
// still missing (blind-abort).
//
// It says that the coordinator creates the child nodes, not that it must do so at once: a site that reads the first
// of them takes them for all (partial-sites). It does not say that a vote is final: a site that loses its connection
// while it votes "yes" may believe that it has not voted, and vote "no" after the others have committed (blind-vote).
// It leaves the content of the child nodes undefined at first, which is not a "no" (hasty-abort). It does not say
// when the nodes may be deleted: a site that comes back later finds nothing and presumes the wrong thing
// (forget-early).
//
// For the first drawback that the page names, O(n²) messages, its remedy is ByCoordinator, "slower too, as it
// requires all communication to go through the coordinator". The page is silent about the failure of the coordinator,
// which blocks all sites that have voted "yes", in its recipe as in every two-phase commit. Here the votes are in
// ZooKeeper and outlive the coordinator: any site or a new coordinator ends the transaction with Finish.
//
// The second drawback is that the failure of a site does not show, because the coordinator has made its node. The
// page says that each site should create its own ephemeral node. A vote in it would vanish with the session, after
// some have counted it and before others have. So the znodes with the votes are persistent, and a second, ephemeral
// one shows that the site is alive. It matters for a site that has not voted; a site that has voted may fail, come
// back and learn the decision. The failure of a site that has not joined does not show; Finish is for this case too.
//
// # Fan-out
//
// Of two sites that call Outcome after their votes, the one that votes first is notified of the other's vote; the
// other one, which finds a vote there, is not. So a transaction of n sites causes at most these notifications: with
// AllSites n(n-1)/2 of votes (or of the end of a znode that has none), and one for each site of the decision. With
// ByCoordinator n of votes, to the coordinator, and one for each site and the coordinator of the decision, 2n + 1.
// With EphemeralSites those of AllSites, and n(n-1)/2 each of joinings and of ephemeral znodes that end. A
// coordinator that is not a site and calls Outcome counts as one that votes first. A site that calls Outcome before
// it has voted, and leaves the count to the coordinator, is also notified of the end of its own znode, or of its vote
// by another object.
//
// A Transaction is for one goroutine at a time.
type Transaction struct {
	session
	dir, own string // own: this participant's znode
	opt      TransactionOptions

	decision Decision
	alarm    alarm
	joined   bool            // its ephemeral znode may exist
	gaveUp   <-chan zk.Event // gets an event when what an abandoned Join has left is gone; nil: there is none
}

// NewTransaction returns a participant of the transaction whose znode is dir. The
// name of dir must never be used for another transaction.
func NewTransaction(conn Conn, env Env, dir string, opt TransactionOptions) *Transaction {
	opt.ACL = open(opt.ACL)
	t := &Transaction{session: session{conn, env}, dir: dir, opt: opt}
	t.own = t.path("coordinator")
	if opt.Site != "" {
		t.own = t.path(sitePrefix + opt.Site)
	}
	return t
}

const sitePrefix = "site-"

// Contents of a site's znode, which is empty at first.
const (
	joined  = "joined"
	voteYes = "yes"
	voteNo  = "no"
)

func (t *Transaction) path(name string) string { return t.dir + "/" + name }

// live returns the path of the site's ephemeral znode.
func (t *Transaction) live() string { return t.path("live-" + t.opt.Site) }

// Begin creates the transaction, as its coordinator, with all its sites. It returns zk.ErrNodeExists when there
// already is one of that name, zk.ErrBadArguments when there is no site, or two of the same name, or a name is empty
// or contains a slash, and ErrRole if the object is a site's. When ctx is done first it returns ctx's error; a
// transaction that was begun nevertheless is withdrawn in the background or, if a site has already voted, or joined
// with EphemeralSites, finished and forgotten by the coordinator. If the connection is closed meanwhile, it may stay.
func (t *Transaction) Begin(ctx context.Context, data []byte, sites ...string) (err error) {
	if t.opt.Site != "" {
		return ErrRole
	}
	sites = slices.Clone(sites) // withdraw may need them when the caller has gone on
	guid := t.env.UUID()
	defer Forget(t.env)(&guid, &err)
	ops := []any{
		&zk.CreateRequest{Path: t.dir, Data: data, Acl: t.opt.ACL},
		&zk.CreateRequest{Path: t.own, Data: []byte(guid), Acl: t.opt.ACL},
	}
	seen := map[string]bool{"": true}
	for _, name := range sites {
		if seen[name] || strings.Contains(name, "/") {
			return zk.ErrBadArguments
		}
		seen[name] = true
		ops = append(ops, &zk.CreateRequest{Path: t.path(sitePrefix + name), Acl: t.opt.ACL})
	}
	if len(sites) == 0 {
		return zk.ErrBadArguments
	}
	return t.ticketed(ctx, t.beside, creation{what: "transaction",
		done: func(ctx context.Context) (bool, error) { return t.begun(ctx, guid) },
		undo: func(ctx context.Context) { t.withdraw(ctx, guid, sites) },
	}, func(ticket *zk.DeleteRequest) ([]zk.MultiResponse, error) {
		return t.on(ctx).Multi(append([]any{ticket}, ops...)...)
	})
}

// beside makes a ticket beside dir.
func (t *Transaction) beside(ctx context.Context) (ticket string, err error) {
	return t.ticket(ctx, t.dir[:max(0, strings.LastIndexByte(t.dir, '/'))], t.opt.ACL)
}

// begun reports whether the transaction is the one with that GUID. That one cannot have come and gone: it stays until
// the coordinator forgets it.
func (t *Transaction) begun(ctx context.Context, guid string) (ours bool, err error) {
	defer Forget(t.env)(&ours, &err)
	err = t.fresh(ctx, func() error {
		data, _, err := t.on(ctx).Get(t.own)
		ours = string(data) == guid
		return err
	}, &ours)
	if err == zk.ErrNoNode {
		return false, nil
	}
	return ours, err
}

// check returns nil or zk.ErrNoNode, according to whether its own znode exists. Unlike a read, it is answered by the
// leader.
func (t *Transaction) check(ctx context.Context) error {
	_, err := t.on(ctx).Multi(&zk.CheckVersionRequest{Path: t.own, Version: -1})
	return err
}

// withdraw undoes the Begin with that GUID, unless a site has joined or voted: then it finishes the transaction. Once
// it is undone, another coordinator may begin one by the same name, so a ticket makes sure that it is undone only
// once.
func (t *Transaction) withdraw(ctx context.Context, guid string, sites []string) {
	var ops []any
	for _, name := range sites {
		ops = append(ops, &zk.DeleteRequest{Path: t.path(sitePrefix + name), Version: 0})
	}
	ops = append(ops, &zk.DeleteRequest{Path: t.own, Version: -1}, &zk.DeleteRequest{Path: t.dir, Version: -1})
	gone := func(ctx context.Context) (bool, error) {
		ours, err := t.begun(ctx, guid)
		return !ours, err
	}
	if gone, err := gone(ctx); gone || err != nil {
		return
	}
	err := t.ticketed(ctx, t.beside, creation{what: "transaction", done: gone, undo: func(context.Context) {}},
		func(ticket *zk.DeleteRequest) ([]zk.MultiResponse, error) {
			return t.on(ctx).Multi(append([]any{ticket}, ops...)...)
		})
	if err == nil {
		return
	}
	if gone, err := gone(ctx); gone || err != nil {
		return
	}
	helper := NewTransaction(t.conn, t.env, t.dir, t.opt)
	if _, err := helper.Finish(ctx); err == nil {
		helper.Forget(ctx)
	}
}

// Join waits until the transaction has begun and returns its data, or ErrRole if the object is the coordinator's. A
// site calls it before it votes; with EphemeralSites the others notice its failure from then on.
func (t *Transaction) Join(ctx context.Context) (data []byte, err error) {
	defer Forget(t.env)(&t.joined, &t.gaveUp, &data, &err)
	if t.opt.Site == "" {
		return nil, ErrRole
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = t.retry(ctx, func() error {
		for {
			data, _, err = t.on(ctx).Get(t.dir)
			if err != zk.ErrNoNode {
				return err
			}
			exists, _, made, err := t.on(ctx).ExistsW(t.dir)
			if err == nil && !exists {
				_, _, err = t.env.Await(ctx, made)
			}
			if err != nil {
				return err
			}
		}
	}, &data)
	if err == nil && t.opt.Form == EphemeralSites {
		err = t.announce(ctx)
	}
	return data, err
}

// Vote is the site's word that it can commit, or that the transaction must be aborted. A site that votes yes must be
// able to commit from then on, whatever happens, until the decision is known. A vote counts once. It is no error to
// repeat it; ErrVoted is returned when the site has voted otherwise, ErrRole if the object is the coordinator's. When
// ctx is done first Vote returns ctx's error and the vote may or may not count: vote again to find out. The error is
// zk.ErrNoNode when the transaction or site does not exist (any more); such a vote does not count. If the answer to
// an earlier try was lost, the error also wraps ErrUnknownOutcome: that try may have counted, or may still count if
// the transaction begins after it.
func (t *Transaction) Vote(ctx context.Context, yes bool) (err error) {
	defer Forget(t.env)(&err)
	if t.opt.Site == "" {
		return ErrRole
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	vote := voteNo
	if yes {
		vote = voteYes
	}
	lost := false // an answer
	err = t.retry(ctx, func() error {
		version := int32(0)
		for {
			err := t.cast(ctx, vote, version)
			if err != zk.ErrBadVersion {
				lost = lost || unanswered(err)
				return err
			}
			data, stat, err := t.on(ctx).Get(t.own)
			switch {
			case err == zk.ErrNoNode: // cast will tell for certain
			case err != nil:
				return err
			case string(data) == vote:
				return nil
			case final(string(data)):
				return ErrVoted
			default:
				version = stat.Version
			}
		}
	}, &lost)
	if err == zk.ErrNoNode && lost { // a lost try was executed before, or may be once the transaction has begun
		return errors.Join(ErrUnknownOutcome, err)
	}
	return err
}

// cast writes the vote if the znode has that version.
func (t *Transaction) cast(ctx context.Context, vote string, version int32) error {
	ops := []any{&zk.SetDataRequest{Path: t.own, Data: []byte(vote), Version: version}}
	if vote == voteNo {
		ops = append(ops, t.publish(Aborted))
	}
	_, err := t.on(ctx).Multi(ops...)
	if err == zk.ErrNodeExists { // already decided, but the vote counts
		_, err = t.on(ctx).Multi(ops[0])
	}
	return err
}

// publish is the request that makes a decision, unless there is one.
func (t *Transaction) publish(d Decision) *zk.CreateRequest {
	return &zk.CreateRequest{Path: t.path("decision"), Data: []byte(d.String()), Acl: t.opt.ACL}
}

// final reports whether a site's znode has that site's vote.
func final(content string) bool { return content == voteYes || content == voteNo }

// Outcome waits for the decision and returns it. When ctx is done first it returns Undecided and ctx's error; see
// Finish. The error is zk.ErrNoNode when the transaction has not begun, was withdrawn, or was forgotten by all, and may
// be so when it was forgotten by this participant: a site that has voted yes never gets it before. An object that has
// learned the decision goes on returning it. A participant that waits leaves one channel of [Env.SessionEvents] behind
// in each Transaction.
func (t *Transaction) Outcome(ctx context.Context) (Decision, error) { return t.settle(ctx, true) }

// Finish ends the transaction without waiting for more votes: it is aborted unless all have voted yes or it is
// already decided. Any participant may call it at any time, such as a site whose Outcome has taken too long because a
// site or the coordinator has failed, or a new coordinator. Its result and its errors are those of Outcome.
func (t *Transaction) Finish(ctx context.Context) (Decision, error) { return t.settle(ctx, false) }

// Forget says that this participant has done what the decision asks of it, and does not need it any more. When all
// sites and the coordinator have called it, nothing is left of the transaction. It returns ErrUndecided when the
// object has not learned the decision. When ctx is done first Forget may be called again.
func (t *Transaction) Forget(ctx context.Context) (err error) {
	defer Forget(t.env)(&t.joined, &err)
	if t.decision == Undecided {
		return ErrUndecided
	}
	if t.opt.Site != "" && t.opt.Form == EphemeralSites {
		if err := t.remove(ctx, t.live()); err != nil {
			return err
		}
		t.joined = false
	}
	if err := t.remove(ctx, t.own); err != nil {
		return err
	}
	err = t.retry(ctx, func() error {
		_, err := t.on(ctx).Multi(
			&zk.DeleteRequest{Path: t.path("decision"), Version: -1},
			&zk.DeleteRequest{Path: t.dir, Version: -1})
		return err
	})
	if err == zk.ErrNotEmpty || err == zk.ErrNoNode {
		return nil // others need it, or it is gone
	}
	return err
}

// Znodes returns the ephemeral znodes that the object answers for.
func (t *Transaction) Znodes() []string {
	if !t.joined {
		return nil
	}
	return []string{t.live()}
}
