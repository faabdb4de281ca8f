package checkers

import "zksim/model/history"

// Atomicity is what a commit protocol is for: all who learn the decision on a
// transaction learn the same one, however often they ask and whatever failed in
// between; and that is "committed" only if every site has voted yes, and none has
// voted no.
//
// It reads Invoke of begin (Path: the transaction, Value: the number of its
// sites), Invoke and Return of vote-yes and vote-no (Client: the site), and Told
// committed and aborted. A vote that fails may count or not.
type Atomicity struct{}

// Name implements [Checker].
func (Atomicity) Name() string { return "atomicity" }

// Doc implements [Checker].
func (Atomicity) Doc() string {
	return "all learn the same decision on a transaction, and to commit only if every site has voted yes"
}

// trial is a transaction so far. Of clients, 0 is none.
type trial struct {
	sites  int
	yes    []int32 // clients that may have voted yes
	no     int32   // a client that has certainly voted no
	commit int32   // a client that has learned that it is committed
	abort  int32   // likewise aborted
}

// Check implements [Checker].
func (a Atomicity) Check(h *history.History) Verdict {
	all := map[string]*trial{} // by path
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Invoke && e.Kind != history.Return && e.Kind != history.Told {
			continue
		}
		t := all[e.Path]
		if t == nil {
			t = &trial{}
			all[e.Path] = t
		}
		switch {
		case e.Kind == history.Invoke && e.Op == "begin":
			t.sites = int(e.Value)
		case e.Kind == history.Invoke && e.Op == "vote-yes":
			t.yes = append(drop(t.yes, func(c int32) bool { return c == e.Client }), e.Client)
		case e.Kind == history.Return && e.Op == "vote-no" && e.Err == nil:
			t.no = e.Client
		case e.Kind == history.Told && e.Op == "committed":
			t.commit = e.Client
			if len(t.yes) < t.sites {
				return violated(a, i, "c%d learned that %s is committed when %d of its %d sites had voted yes", e.Client, e.Path, len(t.yes), t.sites)
			}
		case e.Kind == history.Told && e.Op == "aborted":
			t.abort = e.Client
		}
		switch {
		case t.commit != 0 && t.abort != 0:
			return violated(a, i, "c%d learned that %s is committed, and c%d that it is aborted", t.commit, e.Path, t.abort)
		case t.commit != 0 && t.no != 0:
			return violated(a, i, "c%d learned that %s is committed, and c%d has voted no", t.commit, e.Path, t.no)
		}
	}
	return Verdict{}
}
