package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Validity keeps a commit protocol from being safe by always aborting: where all vote yes, nobody fails and nobody
// loses patience, the decision is to commit. So there must be a reason before a client learns that a transaction is
// aborted. Somebody was about to vote no, did not want to wait any longer (Invoke of finish), was a site whose
// ephemeral znode went with its session or otherwise, or failed to begin it, though perhaps only later.
//
// Nobody may abort when the last vote has come: a znode with "aborted" is not created below a transaction in which the
// znodes of all sites say "yes", or all said so at some moment. A znode that has gone with its session no longer says
// so. Nor may a transaction vanish when a site has voted: nobody deletes a persistent znode that says "yes" until
// somebody has learned the decision. An ephemeral one may go, however that happens: it is a site that has failed.
//
// The other events are those of [Atomicity].
type Validity struct{}

// Name implements [Checker].
func (Validity) Name() string { return "validity" }

// Doc implements [Checker].
func (Validity) Doc() string {
	return "a transaction is aborted only if a site votes no or fails or somebody gives up waiting, and not when all " +
		"have voted yes"
}

// Needs implements [Declaring].
func (Validity) Needs() Needs {
	return Needs{
		Txns: true,
		Words: slices.Concat(
			judged("begins the transaction in Path, of as many sites as Value; to fail is a reason to abort", "begin"),
			judged("is a reason to abort the transaction in Path", "vote-no", "finish"),
			unjudged("is no reason to abort; what counts as a yes is a znode below the transaction that says yes",
				"vote-yes", "join", "outcome"),
			tells("the decision that a client learns on the transaction in Path", "aborted", "committed")),
		Seen: []Need{some("a decision that is told, aborted", "record it as Told", toldAs("aborted")).during()},
	}
}

// Check implements [Checker].
func (v Validity) Check(h *history.History) Verdict { return check(h, v.Monitor()) }

// Monitor implements [Monitored].
func (v Validity) Monitor() Monitor { return &ballots{} }

// ballots is the monitor of Validity.
type ballots struct {
	recipeEvents
	Validity
	all []ballot
}

// ballot is a transaction so far.
type ballot struct {
	path   string
	sites  int64
	yes    []string // znodes that say so
	full   bool     // all have, at some moment
	reason bool     // to abort it
	told   bool     // somebody has learned the decision
	begins []caller // that are in begin
	early  int32    // the client that has learned of the abort without a reason, when a begin might still fail; else 0
}

// vote notes what the znode of a site says.
func (b *ballot) vote(path string, yes bool) {
	b.yes = drop(b.yes, func(x string) bool { return x == path })
	if yes {
		b.yes = append(b.yes, path)
	}
	b.count()
}

// count notes whether all sites have voted yes.
func (b *ballot) count() { b.full = b.full || b.sites > 0 && int64(len(b.yes)) >= b.sites }

func (m *ballots) Reset() { m.all = m.all[:0] }

func (m *ballots) Hash() uint64 {
	all := hash.Hash(0) // in any order
	for k := range m.all {
		b := &m.all[k]
		p := hash.Hash(0).String(b.path).Bool(b.reason).Bool(b.told).Bool(b.full)
		if !b.full || !b.told {
			p = p.Uint64(uint64(b.sites)).Uint64(printOfNames(b.yes))
		}
		begins := hash.Hash(0)
		for _, x := range b.begins {
			begins += printOf(b.begins, x)
		}
		all += p.Uint64(uint64(begins)).Int(int64(b.early))
	}
	return uint64(all)
}

// of returns the transaction of that path.
func (m *ballots) of(path string) *ballot {
	return recall(&m.all, func(b *ballot) bool { return b.path == path }, ballot{path: path})
}

// saysYes reports whether a znode says "yes".
func (m *ballots) saysYes(path string) bool {
	return slices.ContainsFunc(m.all, func(b ballot) bool { return slices.Contains(b.yes, path) })
}

func (m *ballots) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	switch {
	case e.Kind == history.Created && e.Data == "yes", e.Kind == history.Changed && (e.Data == "yes" || m.saysYes(e.Path)):
		m.of(parent(e.Path)).vote(e.Path, e.Data == "yes")
	case e.Kind == history.Created && e.Data == "aborted":
		if b := m.of(parent(e.Path)); b.full {
			return violated(m, i, "c%d aborted %s when all its %d sites had voted yes", e.Client, b.path, b.sites)
		}
	case e.Kind == history.Deleted && e.Session != 0:
		b := m.of(parent(e.Path))
		b.reason = true
		b.vote(e.Path, false)
	case e.Kind == history.Deleted:
		if b := m.of(parent(e.Path)); !b.told && slices.Contains(b.yes, e.Path) {
			return violated(m, i, "c%d deleted %s, which says yes, before anybody had learned the decision", e.Client, e.Path)
		}
	case e.Kind == history.Told && e.Op == "committed":
		m.of(e.Path).told = true
	case e.Kind == history.Invoke && e.Op == "begin":
		b := m.of(e.Path)
		b.sites, b.begins = e.Value, append(b.begins, callerOf(e))
		b.count()
	case e.Kind == history.Return && e.Op == "begin":
		b := m.of(e.Path)
		b.begins = forget(b.begins, callerOf(e))
		if e.Err != nil {
			b.reason, b.early = true, 0
		}
		return b.unfounded(m, i)
	case e.Kind == history.Invoke && (e.Op == "vote-no" || e.Op == "finish"):
		m.of(e.Path).reason = true
	case e.Kind == history.Told && e.Op == "aborted":
		b := m.of(e.Path)
		if b.told = true; !b.reason {
			b.early = e.Client
		}
		return b.unfounded(m, i)
	}
	return Verdict{}
}

// unfounded returns a violation if somebody has learned of an abort that has no reason, and no begin can become one.
func (b *ballot) unfounded(m *ballots, i int) Verdict {
	if b.early == 0 || len(b.begins) > 0 {
		return Verdict{}
	}
	return violated(m, i, "c%d learned that %s is aborted, and nobody had voted no, failed or given up waiting", b.early,
		b.path)
}
