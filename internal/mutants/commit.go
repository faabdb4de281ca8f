package mutants

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// The flaws of two-phase commit. The first two have the numbers of docs/museum.md.
const (
	// PartialSites makes the participants' znodes one by one. A site decides by those that it sees.
	PartialSites Flaw = 34
	// BlindVote writes votes whatever the version of the znode, and takes a vote for failed when the connection is
	// lost. The site then votes no after it has voted yes, and others have committed.
	BlindVote Flaw = 35

	// HastyAbort takes a znode without a vote for a no.
	HastyAbort Flaw = 170
	// OwnDecision has no znode for the decision: each site counts the votes, and a site that loses patience aborts on
	// its own.
	OwnDecision Flaw = 171
	// ForgetEarly deletes the transaction when the coordinator knows the decision. A site that comes later finds
	// nothing and presumes that it was aborted.
	ForgetEarly Flaw = 172
	// EndlessWait waits for the last vote without a limit. The site may have failed.
	EndlessWait Flaw = 173
	// BlindAbort aborts when it loses patience, whatever the votes are by then.
	BlindAbort Flaw = 174
)

// Transaction is a participant in a two-phase commit with one flaw. Otherwise it follows the protocol of
// recipes.Transaction, form AllSites, in the plainest way; nothing is ever cleaned up.
type Transaction struct {
	patient
	dir  string
	site string
	flaw Flaw

	joined bool
}

// NewTransaction returns a participant with the given flaw. The coordinator has no site.
func NewTransaction(conn recipes.Conn, env recipes.Env, dir, site string, flaw Flaw) *Transaction {
	return &Transaction{patient: patient{conn, env}, dir: dir, site: site, flaw: flaw}
}

// Begin creates the transaction. Its data is ignored; the names of the sites take its place.
func (t *Transaction) Begin(ctx context.Context, _ []byte, sites ...string) error {
	ops := []any{&zk.CreateRequest{Path: t.dir, Data: []byte(strings.Join(sites, " ")), Acl: everybody}}
	for _, name := range sites {
		ops = append(ops, &zk.CreateRequest{Path: t.dir + "/" + name, Acl: everybody})
	}
	all := [][]any{ops}
	if t.flaw == PartialSites {
		all = nil
		for _, op := range ops {
			all = append(all, []any{op})
		}
	}
	for _, ops := range all {
		err := t.until(ctx, func() error {
			_, err := t.conn.Multi(ops...)
			return err
		})
		if err != nil && err != zk.ErrNodeExists { // an answer was lost
			return err
		}
	}
	return nil
}

// Join waits for the site's znode.
func (t *Transaction) Join(ctx context.Context) ([]byte, error) {
	return nil, t.until(ctx, func() error {
		for {
			exists, _, made, err := t.conn.ExistsW(t.dir + "/" + t.site)
			if exists || err != nil {
				t.joined = exists
				return err
			}
			if _, _, err := t.env.Await(ctx, made); err != nil {
				return err
			}
		}
	})
}

// Vote writes the site's vote.
func (t *Transaction) Vote(ctx context.Context, yes bool) error {
	path, vote := t.dir+"/"+t.site, []byte("no")
	if yes {
		vote = []byte("yes")
	}
	if t.flaw == BlindVote {
		_, err := t.conn.Set(path, vote, -1)
		return err // perhaps it was written
	}
	return t.until(ctx, func() error {
		_, err := t.conn.Set(path, vote, 0)
		if err == zk.ErrBadVersion {
			return t.sameVote(path, string(vote))
		}
		return err
	})
}

func (t *Transaction) sameVote(path, vote string) error {
	data, _, err := t.conn.Get(path)
	if err == nil && string(data) != vote {
		return recipes.ErrVoted
	}
	return err
}

// errChanged means that something has changed and everything must be read again.
var errChanged = errors.New("broken: a watch has fired")

// Outcome waits for the decision.
func (t *Transaction) Outcome(ctx context.Context) (d recipes.Decision, err error) {
	wait := ctx
	if t.flaw == EndlessWait {
		wait = context.Background()
	}
	err = t.until(wait, func() error {
		for {
			if d, err = t.round(wait, true); err != errChanged {
				return err
			}
		}
	})
	return t.presume(d, err)
}

// presume says what became of a transaction that no longer exists.
func (t *Transaction) presume(d recipes.Decision, err error) (recipes.Decision, error) {
	if err == zk.ErrNoNode && t.flaw == ForgetEarly && t.joined {
		return recipes.Aborted, nil
	}
	return d, err
}

// round looks for the decision, and then counts the votes up to the first one missing. It waits for that vote, or takes
// it for a reason to abort.
func (t *Transaction) round(ctx context.Context, wait bool) (recipes.Decision, error) {
	exists, _, made, err := t.conn.ExistsW(t.dir + "/decision")
	if exists || err != nil {
		return t.read(err)
	}
	sites, err := t.sites()
	if err != nil {
		return 0, err
	}
	for _, name := range sites {
		data, _, changed, err := t.conn.GetW(t.dir + "/" + name)
		vote := string(data)
		switch {
		case err != nil:
			return 0, err
		case vote == "no" || vote == "" && t.flaw == HastyAbort:
			return t.decide(recipes.Aborted, "")
		case vote == "" && !wait:
			return t.decide(recipes.Aborted, name)
		case vote == "":
			_, _, err := t.env.Await(ctx, made, changed)
			return 0, cmp.Or(err, errChanged)
		}
	}
	return t.decide(recipes.Committed, "")
}

// sites are the names of the sites.
func (t *Transaction) sites() ([]string, error) {
	if t.flaw == PartialSites {
		names, _, err := t.conn.Children(t.dir) // perhaps more are to come
		return names, err
	}
	data, _, err := t.conn.Get(t.dir)
	return strings.Fields(string(data)), err
}

// decide makes a decision unless there is one, and returns the one that stands. If a site is named, its vote must still
// be missing.
func (t *Transaction) decide(d recipes.Decision, missing string) (recipes.Decision, error) {
	if t.flaw == OwnDecision {
		return d, nil
	}
	ops := []any{&zk.CreateRequest{Path: t.dir + "/decision", Data: []byte(d.String()), Acl: everybody}}
	if missing != "" {
		ops = append(ops, &zk.CheckVersionRequest{Path: t.dir + "/" + missing, Version: 0})
	}
	_, err := t.conn.Multi(ops...)
	switch err {
	case zk.ErrNodeExists:
		return t.read(nil)
	case zk.ErrBadVersion:
		return 0, errChanged
	}
	return d, err
}

// read reads the decision.
func (t *Transaction) read(err error) (recipes.Decision, error) {
	if err != nil {
		return 0, err
	}
	data, _, err := t.conn.Get(t.dir + "/decision")
	if string(data) == recipes.Committed.String() {
		return recipes.Committed, err
	}
	return recipes.Aborted, err
}

// Finish decides without waiting.
func (t *Transaction) Finish(ctx context.Context) (d recipes.Decision, err error) {
	err = t.until(ctx, func() error {
		for {
			if t.flaw == BlindAbort {
				d, err = t.decide(recipes.Aborted, "")
			} else {
				d, err = t.round(ctx, false)
			}
			if err != errChanged {
				return err
			}
		}
	})
	return t.presume(d, err)
}

// Forget does nothing, or too much.
func (t *Transaction) Forget(ctx context.Context) error {
	if t.flaw != ForgetEarly || t.site != "" {
		return nil
	}
	names, _, err := t.conn.Children(t.dir)
	for _, name := range names {
		t.conn.Delete(t.dir+"/"+name, -1)
	}
	t.conn.Delete(t.dir, -1)
	return err
}

// Znodes returns nothing: there are no ephemerals.
func (t *Transaction) Znodes() []string { return nil }
