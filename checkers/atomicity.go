package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Atomicity is what a commit protocol is for. All clients that learn the decision on a transaction learn the same one,
// however often they ask and whatever fails in between. The decision is "committed" only if every site has voted yes
// and none has voted no.
//
// It reads Invoke of begin (Path: the transaction, Value: the number of its sites), Invoke and Return of vote-yes and
// vote-no (Client: the site), and Told committed and aborted. A vote that fails may or may not count. A transaction
// begins before anybody can learn that it is committed.
type Atomicity struct{}

// Name implements [Checker].
func (Atomicity) Name() string { return "atomicity" }

// Doc implements [Checker].
func (Atomicity) Doc() string {
	return "all learn the same decision on a transaction, and to commit only if every site has voted yes"
}

// Needs implements [Declaring].
func (Atomicity) Needs() Needs {
	return Needs{
		Words: slices.Concat(
			judged("begins the transaction in Path, of as many sites as Value", "begin"),
			judged("a site, the client, votes for the transaction in Path", "vote-yes"),
			judged("a site votes against the transaction in Path", "vote-no"),
			unjudged("is judged by what is told", "join", "outcome", "finish"),
			tells("the decision that a client learns on the transaction in Path", "committed", "aborted")),
		Seen: []Need{some("the operation begin", "record it with Object.Record and its Path",
			func(e *history.Event) bool {
				return e.Kind == history.Invoke && e.Op == "begin"
			}),
			{What: "a decision that is told, committed or aborted, on a transaction that began with its Path and Value",
				Hint: "record begin with Object.Record, and the decision as Told with the same Path",
				In: func(h *history.History) bool {
					m := &trials{}
					return reaches(h, m, func(e *history.Event) bool {
						return toldAs("committed", "aborted")(e) && m.of(e.Path).sites > 0
					})
				}}},
	}
}

// Check implements [Checker].
func (a Atomicity) Check(h *history.History) Verdict { return check(h, a.Monitor()) }

// Monitor implements [Monitored].
func (a Atomicity) Monitor() Monitor { return &trials{} }

// trials is the monitor of Atomicity.
type trials struct {
	recipeEvents
	Atomicity
	all []trial
}

// trial is a transaction so far. Client 0 means none.
type trial struct {
	path   string
	sites  int
	yes    []int32 // clients that may have voted yes
	no     int32   // a client that has certainly voted no
	commit int32   // a client that has learned that it is committed
	abort  int32   // or aborted
}

func (m *trials) Reset() { m.all = m.all[:0] }

// Hash implements [Monitor]. Which clients have voted yes matters only until all have, one has voted no, or somebody
// has learned the decision. A no and an abort count the same.
func (m *trials) Hash() uint64 {
	all := hash.Hash(0) // in any order
	for k := range m.all {
		t := &m.all[k]
		p := hash.Hash(0).String(t.path).Bool(t.commit != 0).Bool(t.abort != 0 || t.no != 0)
		if t.commit == 0 && t.abort == 0 && t.no == 0 && (t.sites == 0 || len(t.yes) < t.sites) {
			yes := hash.Hash(0)
			for _, c := range t.yes {
				yes += hash.Hash(0).Uint64(uint64(c))
			}
			p = p.Uint64(uint64(t.sites)).Uint64(uint64(yes))
		}
		all += p
	}
	return uint64(all)
}

// of returns the transaction with that path.
func (m *trials) of(path string) *trial {
	return recall(&m.all, func(t *trial) bool { return t.path == path }, trial{path: path})
}

func (m *trials) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	var t *trial
	switch {
	case e.Kind == history.Invoke && e.Op == "begin":
		m.of(e.Path).sites = int(e.Value)
		return Verdict{}
	case e.Kind == history.Invoke && e.Op == "vote-yes":
		t = m.of(e.Path)
		t.yes = append(drop(t.yes, func(c int32) bool { return c == e.Client }), e.Client)
		return Verdict{}
	case e.Kind == history.Return && e.Op == "vote-no" && e.Err == nil:
		t = m.of(e.Path)
		t.no = e.Client
	case e.Kind == history.Told && e.Op == "committed":
		t = m.of(e.Path)
		t.commit = e.Client
		if len(t.yes) < t.sites {
			return violated(m, i, "c%d learned that %s is committed when %d of its %d sites had voted yes", e.Client, e.Path,
				len(t.yes), t.sites)
		}
	case e.Kind == history.Told && e.Op == "aborted":
		t = m.of(e.Path)
		t.abort = e.Client
	default:
		return Verdict{}
	}
	switch {
	case t.commit != 0 && t.abort != 0:
		return violated(m, i, "c%d learned that %s is committed, and c%d that it is aborted", t.commit, e.Path, t.abort)
	case t.commit != 0 && t.no != 0:
		return violated(m, i, "c%d learned that %s is committed, and c%d has voted no", t.commit, e.Path, t.no)
	}
	return Verdict{}
}
