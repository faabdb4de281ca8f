package checkers

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"zksim/model/history"
)

// lapseFamilies are of checkers that ask whether clients are told before their sessions end.
var lapseFamilies = []family{
	{Presence{}, presentAndTold, &insideStage{in: Join, out: Leave}},
	{Exit{}, func(h *history.History) Level { return toldInTime(h, believesInside) },
		&insideStage{in: "enter", out: "leave"}},
}

func TestTheMonitorsOfLapsesAgreeWithLookingBack(t *testing.T) {
	long(t)
	for _, f := range lapseFamilies {
		t.Run(f.checker.Name(), f.agrees)
	}
}

func TestTheMonitorsOfLapsesRememberEnough(t *testing.T) {
	long(t)
	for _, f := range lapseFamilies {
		t.Run(f.checker.Name(), f.forgets)
	}
}

// insideStage is the stage of members of a group, or of those inside a double barrier, a round for each: what each
// object is at, by which znode, besides the sessions and the znodes.
type insideStage struct {
	claimStage
	in, out string    // the operations
	at      [5]string // of each object: "", in, "inside", out or "gone"
	path    [5]string // of an object
	data    [2]string // of the znodes
	calm    bool
}

func (s *insideStage) clone() stage { x := *s; return &x }

func (s *insideStage) key() string { return fmt.Sprint(*s) }

func (s *insideStage) propose(r *rand.Rand) history.Event {
	e := s.claimStage.propose(r)
	switch e.Kind {
	case history.Session, history.Exceeded, history.Crashed, history.Deleted:
		return e
	case history.Created:
		e.Data = []string{"x", "x", "y"}[r.IntN(3)]
		return e
	}
	o := []int32{1, 2, 4}[r.IntN(3)]
	e = history.Event{Kind: history.Invoke, Client: holderOf[o], Object: o, Op: s.in, Path: s.path[o]}
	switch k := r.IntN(8); {
	case k == 0 && !s.calm:
		return history.Event{Kind: history.Calm}
	case s.at[o] == "":
		e.Path = ownedPaths[r.IntN(2)]
	case s.at[o] != "inside":
		e.Kind, e.Op, e.Value = history.Return, s.at[o], int64(o)
		if k == 1 {
			e.Err = errors.New("gave up")
		}
	case k < 3:
		e.Op = s.out
	case s.in == "enter":
		e.Kind, e.Op, e.Path = history.Lost, "", ""
	case k < 5:
		e.Op, e.Path = Rest, ""
	default:
		e.Kind, e.Op = history.Told, []string{ToldLost, ToldJoined}[k%2]
	}
	return e
}

func (s *insideStage) take(e *history.Event) bool {
	o := e.Object
	switch e.Kind {
	case history.Session, history.Exceeded, history.Crashed, history.Created, history.Deleted:
		if !s.claimStage.take(e) {
			return false
		}
		for i := range ownedPaths {
			if e.Path == ownedPaths[i] {
				s.data[i] = e.Data
			}
		}
		for o, c := range holderOf {
			if e.Kind == history.Crashed && c == e.Client {
				s.at[o], s.path[o] = "gone", ""
			}
		}
		return true
	case history.Calm:
		s.calm = true
		return true
	}
	phase := map[history.Kind]map[string]string{
		history.Invoke: {s.in: "", s.out: "inside", Rest: "inside"}, history.Return: {s.in: s.in, s.out: s.out},
		history.Told: {ToldLost: "inside", ToldJoined: "inside"}, history.Lost: {"": "inside"},
	}[e.Kind]
	was, known := phase[e.Op]
	if s.crashed[e.Client] || !known || s.at[o] != was || was != "" && e.Path != "" && e.Path != s.path[o] {
		return false
	}
	switch {
	case e.Kind == history.Invoke && e.Op == s.in:
		s.at[o], s.path[o] = s.in, e.Path
	case e.Kind == history.Invoke && e.Op == s.out:
		s.at[o] = s.out
	case e.Kind == history.Return && e.Op == s.in && e.Err == nil:
		s.at[o] = "inside"
	case e.Kind == history.Return:
		s.at[o] = "gone"
	}
	return true
}

// presentAndTold is Presence.
func presentAndTold(h *history.History) Level {
	return max(isPresent(h), toldInTime(h, believesToBeMember))
}

// toldInTime reports whether nobody believes to have what has just gone with its session, after a disconnection that
// it could know of. The function reports whether an object believes from event k on.
func toldInTime(h *history.History, begins func(h *history.History, k int) bool) Level {
	for i := range h.Events {
		end := &h.Events[i]
		if end.Kind != history.Deleted || end.Client != 0 || end.Session == 0 {
			continue
		}
		for k := range i {
			x := &h.Events[k]
			if x.Path == end.Path && begins(h, k) && !over(h, k, i) && couldKnow(h, k, i) {
				return Violated
			}
		}
	}
	return OK
}

// over reports whether what an object believes since event k has ended before event i.
func over(h *history.History, k, i int) bool {
	x := &h.Events[k]
	return before(h, i, func(e *history.Event) bool {
		switch e.Kind {
		case history.Exceeded, history.Crashed:
			return e.Client == x.Client
		case history.Deleted:
			return e.Path == x.Path
		case history.Invoke:
			return e.Object == x.Object && e.Op != Rest
		case history.Lost, history.Told:
			return e.Object == x.Object
		}
		return false
	}) > k
}

// couldKnow reports whether the client of event k has the session that ends by event i, and was not deceived when it
// began to believe.
func couldKnow(h *history.History, k, i int) bool {
	mine, deceived := false, false
	for c := range int32(2) {
		its := connection{h.Events[k].Client, c}
		list := sessionsOf(h, its, i)
		mine = mine || len(list) > 0 && list[len(list)-1] == h.Events[i].Session
		exceeded := before(h, k, func(e *history.Event) bool { return e.Kind == history.Exceeded && connectionOf(e) == its })
		deceived = deceived || exceeded >= 0 && !heardSince(h, exceeded, k)
	}
	return mine && !deceived
}

// believesToBeMember reports whether a member may believe that it is one from event k on.
func believesToBeMember(h *history.History, k int) bool {
	e := &h.Events[k]
	return e.Kind == history.Told && e.Op == ToldJoined || e.Kind == history.Return && e.Op == Join && e.Err == nil
}

// believesInside reports whether somebody is inside a double barrier from event k on: it has entered by a znode that
// the servers have not deleted in the call, if it is its client's.
func believesInside(h *history.History, k int) bool {
	e := &h.Events[k]
	if e.Kind != history.Return || e.Op != "enter" || e.Err != nil {
		return false
	}
	ended := before(h, k, func(x *history.Event) bool {
		return x.Kind == history.Deleted && x.Client == 0 && x.Path == e.Path
	})
	for ended > invoked(h, k) {
		made := before(h, ended, func(x *history.Event) bool { return x.Kind == history.Created && x.Path == e.Path })
		if h.Events[made].Client == e.Client {
			return false
		}
		ended = before(h, ended, func(x *history.Event) bool {
			return x.Kind == history.Deleted && x.Client == 0 && x.Path == e.Path
		})
	}
	return true
}
