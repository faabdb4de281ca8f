package checkers

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"zksim/model/history"
)

var commitFamilies = []family{
	{Atomicity{}, decidedAsOne, &commitStage{}},
	{Validity{}, abortedForAReason, &commitStage{}},
}

func TestTheMonitorsOfTwoPhaseCommitAgreeWithLookingBack(t *testing.T) {
	long(t)
	for _, f := range commitFamilies {
		t.Run(f.checker.Name(), f.agrees)
	}
}

func TestTheMonitorsOfTwoPhaseCommitRememberEnough(t *testing.T) {
	long(t)
	for _, f := range commitFamilies {
		t.Run(f.checker.Name(), f.forgets)
	}
}

// commitStage is the stage of two transactions with three clients. The operations of a
// client that are in progress are told apart by what they are.
type commitStage struct {
	begun [2]bool
	ops   [4][2]string
	data  [2][4]string // of the znodes of sites
}

func (s *commitStage) clone() stage { x := *s; return &x }

func (s *commitStage) key() string { return fmt.Sprint(*s) }

func (s *commitStage) propose(r *rand.Rand) history.Event {
	c, tx := 1+r.Int32N(3), r.IntN(2)*r.IntN(2)
	dir := fmt.Sprintf("/t%d", tx)
	e := history.Event{Kind: history.Return, Client: c, Path: dir, Op: s.ops[c][tx]}
	switch k := r.IntN(24); {
	case !s.begun[tx]:
		return history.Event{Kind: history.Invoke, Client: 1, Path: dir, Op: "begin", Value: 1 + r.Int64N(3)}
	case k == 0 && r.IntN(3) > 0:
		return history.Event{Kind: history.Deleted, Path: dir + "/live", Session: 7 * r.Int64N(2)}
	case k == 0:
		return history.Event{Kind: history.Deleted, Client: c, Path: fmt.Sprintf("%s/site-c%d", dir, 1+r.IntN(3))}
	case k < 3:
		return history.Event{Kind: history.Told, Client: c, Path: dir, Op: []string{"aborted", "committed"}[r.IntN(2)]}
	case k == 3:
		return history.Event{Kind: history.Created, Client: c, Path: dir + "/decision",
			Data: []string{"aborted", "aborted", "committed"}[r.IntN(3)]}
	case k < 9:
		kind := history.Changed
		if s.data[tx][c] == "" && r.IntN(2) == 0 {
			kind = history.Created
		}
		return history.Event{Kind: kind, Client: c, Path: fmt.Sprintf("%s/site-c%d", dir, c),
			Data: []string{"yes", "yes", "yes", "no", "joined"}[r.IntN(5)]}
	case e.Op == "":
		e.Kind = history.Invoke
		e.Op = []string{"vote-yes", "vote-yes", "vote-yes", "vote-yes", "vote-yes", "vote-no", "finish", "join"}[r.IntN(8)]
	case r.IntN(4) == 0:
		e.Err = errors.New("gave up")
	}
	return e
}

func (s *commitStage) take(e *history.Event) bool {
	tx := e.Path[2] - '0'
	op := &s.ops[e.Client][tx]
	if i := strings.Index(e.Path, "/site-c"); i > 0 {
		at := &s.data[tx][e.Path[i+len("/site-c")]-'0']
		if e.Kind == history.Deleted && *at == "" || e.Kind == history.Created && *at != "" {
			return false
		}
		*at = e.Data
	}
	switch {
	case e.Op == "begin" && e.Kind == history.Invoke:
		if s.begun[tx] || *op != "" {
			return false
		}
		s.begun[tx], *op = true, e.Op
	case !s.begun[tx]:
		return false
	case e.Kind == history.Invoke:
		if *op != "" {
			return false
		}
		*op = e.Op
	case e.Kind == history.Return:
		if *op != e.Op {
			return false
		}
		*op = ""
	}
	return true
}

// transactions calls f with the events of each transaction, until it objects.
func transactions(h *history.History, f func(events []history.Event) bool) Level {
	for _, dir := range []string{"/t0", "/t1"} {
		var own []history.Event
		for _, e := range h.Events {
			if len(e.Path) >= len(dir) && e.Path[:len(dir)] == dir {
				own = append(own, e)
			}
		}
		if !f(own) {
			return Violated
		}
	}
	return OK
}

// sitesIn returns the number of sites with which the transaction began.
func sitesIn(events []history.Event) (n int) {
	for _, e := range events {
		if e.Kind == history.Invoke && e.Op == "begin" {
			n = int(e.Value)
		}
	}
	return n
}

// decidedAsOne is Atomicity.
func decidedAsOne(h *history.History) Level {
	return transactions(h, func(events []history.Event) bool {
		commit, other := false, false
		for i, e := range events {
			other = other || e.Kind == history.Told && e.Op == "aborted" || e.Kind == history.Return && e.Op == "vote-no" &&
				e.Err == nil
			if e.Kind != history.Told || e.Op != "committed" {
				continue
			}
			commit = true
			yes := map[int32]bool{}
			for _, x := range events[:i] {
				if x.Kind == history.Invoke && x.Op == "vote-yes" {
					yes[x.Client] = true
				}
			}
			if len(yes) < sitesIn(events[:i]) {
				return false
			}
		}
		return !commit || !other
	})
}

// abortedForAReason is Validity.
func abortedForAReason(h *history.History) Level {
	return transactions(h, func(events []history.Event) bool {
		for i, e := range events {
			reason, learned := false, false
			for _, x := range events[:i] {
				reason = reason || x.Kind == history.Invoke && (x.Op == "vote-no" || x.Op == "finish") ||
					x.Kind == history.Deleted && x.Session != 0 || x.Kind == history.Invoke && x.Op == "begin" && fails(events, x)
				learned = learned || x.Kind == history.Told
			}
			switch {
			case e.Kind == history.Told && e.Op == "aborted" && !reason,
				e.Kind == history.Created && e.Data == "aborted" && lastVoteHadCome(events[:i]),
				e.Kind == history.Deleted && e.Session == 0 && !learned && votesFor(events[:i])[e.Path]:
				return false
			}
		}
		return true
	})
}

// fails reports whether a begin does not succeed.
func fails(events []history.Event, begin history.Event) bool {
	return !slices.ContainsFunc(events, func(x history.Event) bool {
		return x.Kind == history.Return && x.Op == "begin" && x.Object == begin.Object && x.Err == nil
	})
}

// votesFor returns the znodes that say "yes" after some events, those that are gone included.
func votesFor(events []history.Event) map[string]bool {
	yes := map[string]bool{}
	for _, e := range events {
		if e.Kind == history.Changed || e.Kind == history.Created {
			yes[e.Path] = e.Data == "yes"
		}
	}
	return yes
}

// lastVoteHadCome reports whether at some moment the znodes of all sites have said "yes".
func lastVoteHadCome(events []history.Event) bool {
	for i := range events {
		n := 0
		for _, yes := range votesFor(events[:i+1]) {
			n += one(yes)
		}
		if sites := sitesIn(events[:i+1]); sites > 0 && n >= sites {
			return true
		}
	}
	return false
}
