package checkers

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"zksim/model/history"
)

var claimFamily = family{Claim{}, claimedInGoodFaith, &claimStage{}}

func TestTheMonitorOfClaimAgreesWithLookingBack(t *testing.T) {
	long(t)
	claimFamily.agrees(t)
}

func TestTheMonitorOfClaimRemembersEnough(t *testing.T) {
	long(t)
	claimFamily.forgets(t)
}

// claimStage is the stage of ephemeral znodes and of what is claimed by them: what the sessions of each client's
// connections are and were, which znodes there are, and which objects have begun something.
type claimStage struct {
	session [4][2]int64 // that the library has; 0: none
	past    [4][2]int64 // how many it had before
	owner   [2]int64    // the session that owns each znode; 0: there is none
	maker   [2]int32
	used    [5]bool
	open    [5]string // what each object does
	crashed [4]bool
}

// ownedPaths are those of ephemeral znodes.
var ownedPaths = [2]string{"/l/a", "/l/b"}

func (s *claimStage) clone() stage { x := *s; return &x }

func (s *claimStage) key() string { return fmt.Sprint(*s) }

// sessionOf returns session number n of a connection, the first of which is 0.
func sessionOf(c connection, n int64) int64 { return int64(100*c.client+10*c.number+1) + n }

func (s *claimStage) propose(r *rand.Rand) history.Event {
	o := []int32{1, 2, 1, 2, 4, 1}[r.IntN(6)]
	c := connection{holderOf[o], r.Int32N(5) / 4}
	e := history.Event{Client: c.client, Version: c.number, Session: s.session[c.client][c.number]}
	switch k := r.IntN(24); {
	case k == 0 && r.IntN(4) == 0:
		e.Kind = history.Crashed
	case k == 0:
		e.Kind = history.Exceeded
	case e.Session == 0 || k < 2:
		e.Kind, e.Op, e.Session = history.Session, "StateHasSession", sessionOf(c, s.past[c.client][c.number])
	case k < 7:
		e.Kind, e.Op = history.Session, []string{"StateDisconnected", "StateHasSession", "StateExpired"}[k%3]
		if e.Op == "StateExpired" {
			e.Session = 0
		}
	case k < 10:
		e.Kind, e.Op = history.Heard, []string{"", history.Connected, history.Disconnected}[k%3]
	default:
		return s.proceed(r, o, k)
	}
	if e.Kind == history.Heard && r.IntN(3) == 0 {
		e.Task = "other"
	}
	return e
}

// proceed proposes what becomes of a znode, or what an object does next.
func (s *claimStage) proceed(r *rand.Rand, o int32, k int) history.Event {
	i, c := r.IntN(len(ownedPaths)), holderOf[o]
	e := history.Event{Kind: history.Invoke, Client: c, Object: o, Path: ownedPaths[i]}
	switch {
	case k < 15:
		e.Object, e.Kind, e.Session = 0, history.Created, s.session[c][0]
		if s.owner[i] != 0 {
			e.Kind, e.Session, e.Client = history.Deleted, s.owner[i], r.Int32N(3)
		}
	case s.open[o] == "" && (k < 18 || !s.used[o]):
		e.Op = []string{"lock", "acknowledge", "enter", "downgrade"}[r.IntN(4)]
	case s.open[o] != "" && k < 19:
		e.Kind, e.Op = history.Return, s.open[o]
		if r.IntN(3) == 0 {
			e.Err = errors.New("canceled")
		}
	case k < 22:
		e.Kind = history.Acquired
	case r.IntN(2) == 0:
		e.Kind, e.Op = history.Told, []string{ToldJoined, ToldLost}[r.IntN(2)]
	default:
		e.Kind = []history.Kind{history.Lost, history.Released}[r.IntN(2)]
	}
	if e.Object != 0 && r.IntN(4) == 0 {
		e.Task = "other"
	}
	return e
}

// take accepts whatever an object that was used claims.
func (s *claimStage) take(e *history.Event) bool {
	o, c := e.Object, connectionOf(e)
	if s.crashed[e.Client] && e.Kind != history.Deleted {
		return false
	}
	switch e.Kind {
	case history.Crashed:
		s.crashed[e.Client] = true
		for o, c := range holderOf {
			if c == e.Client {
				s.open[o] = ""
			}
		}
	case history.Session:
		return s.changes(c, e)
	case history.Heard:
		return e.Session == s.session[c.client][c.number]
	case history.Created, history.Deleted:
		return s.change(e)
	case history.Invoke:
		if s.open[o] != "" || e.Op == "downgrade" && !s.used[o] {
			return false
		}
		s.open[o], s.used[o] = e.Op, true
	case history.Return:
		if s.open[o] != e.Op || e.Op == "" {
			return false
		}
		s.open[o] = ""
	case history.Exceeded:
	default:
		return s.used[o]
	}
	return true
}

// changes takes what a library says of its session.
func (s *claimStage) changes(c connection, e *history.Event) bool {
	session, past := &s.session[c.client][c.number], &s.past[c.client][c.number]
	n := *past
	if *session != 0 && e.Session != *session {
		n++
	}
	if e.Session == 0 && *session == 0 || e.Session != 0 && e.Session != sessionOf(c, n) {
		return false
	}
	*session, *past = e.Session, n
	return true
}

// change takes a txn that makes or deletes a znode.
func (s *claimStage) change(e *history.Event) bool {
	for i := range ownedPaths {
		switch {
		case ownedPaths[i] != e.Path || e.Session == 0:
		case e.Kind == history.Deleted && s.owner[i] == e.Session:
			s.owner[i], s.maker[i] = 0, 0
			return true
		case e.Kind == history.Created && s.owner[i] == 0 && e.Session/100 == int64(e.Client):
			s.owner[i], s.maker[i] = e.Session, e.Client
			return true
		}
	}
	return false
}

// claimedInGoodFaith is Claim.
func claimedInGoodFaith(h *history.History) Level {
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.Kind == history.Acquired, e.Kind == history.Told && e.Op == ToldJoined,
			e.Kind == history.Return && e.Err == nil && (e.Op == "acknowledge" || e.Op == "enter"):
			if claimsInVain(h, i) {
				return Violated
			}
		case e.Kind == history.Deleted && e.Client == 0 && e.Session != 0:
			for k := range i {
				if stillBelieved(h, k, i) {
					return Violated
				}
			}
		}
	}
	return OK
}

// claimsInVain reports whether the goroutine that claims at event i knows better.
func claimsInVain(h *history.History, i int) bool {
	e := &h.Events[i]
	begun := before(h, i, func(x *history.Event) bool {
		return x.Kind == history.Invoke && x.Op != "downgrade" && x.Object == e.Object
	})
	session := int64(0)
	made := before(h, i, func(x *history.Event) bool {
		return x.Kind == history.Created && x.Session != 0 && x.Path == e.Path && x.Client == e.Client
	})
	if made >= 0 {
		if end := deletion(h, e.Path, made, i); end > i || begun >= 0 && end > begun {
			session = h.Events[made].Session
		}
	}
	all, its := map[connection]bool{}, connection{}
	for _, x := range h.Events[:i] {
		if (x.Kind == history.Session || x.Kind == history.Heard) && x.Client == e.Client {
			all[connectionOf(&x)] = true
			if its == (connection{}) || session != 0 && x.Kind == history.Session && x.Session == session {
				its = connectionOf(&x)
			}
		}
	}
	if len(all) > 1 && (session == 0 || !slices.Contains(sessionsOf(h, its, i), session)) {
		return false
	}
	heard := before(h, i, func(x *history.Event) bool {
		return x.Kind == history.Heard && connectionOf(x) == its && x.Task == e.Task
	})
	up := before(h, i, func(x *history.Event) bool {
		return x.Kind == history.Session && connectionOf(x) == its && x.Op == "StateHasSession" ||
			x.Kind == history.Heard && connectionOf(x) == its && x.Task == e.Task && x.Op == history.Connected
	})
	down := before(h, i, func(x *history.Event) bool {
		return x.Kind == history.Heard && connectionOf(x) == its && x.Task == e.Task && x.Op == history.Disconnected
	})
	known := sessionsOf(h, its, heard)
	over := slices.Index(known, session)
	return session != 0 && over >= 0 && over < len(known)-1 || down > up && e.Kind != history.Return
}

// sessionsOf returns the sessions of a connection before event i, the last of which is the one that it has.
func sessionsOf(h *history.History, c connection, i int) (list []int64) {
	for k := range i {
		if e := &h.Events[k]; e.Kind == history.Session && connectionOf(e) == c &&
			(len(list) == 0 || list[len(list)-1] != e.Session) {
			list = append(list, e.Session)
		}
	}
	return list
}

// stillBelieved reports whether event k is a claim by the znode that goes with its session at event i, which nobody has
// been told of.
func stillBelieved(h *history.History, k, i int) bool {
	x, end := &h.Events[k], &h.Events[i]
	if x.Kind != history.Acquired || x.Path != end.Path {
		return false
	}
	mine, deceived := false, false
	for c := range int32(2) {
		its := connection{x.Client, c}
		list := sessionsOf(h, its, i)
		mine = mine || len(list) > 0 && list[len(list)-1] == end.Session
		exceeded := before(h, k, func(e *history.Event) bool { return e.Kind == history.Exceeded && connectionOf(e) == its })
		deceived = deceived || exceeded >= 0 && !heardSince(h, exceeded, k)
	}
	return mine && !deceived && before(h, i, func(e *history.Event) bool {
		switch e.Kind {
		case history.Acquired, history.Lost, history.Released:
			return e.Object == x.Object
		case history.Exceeded, history.Crashed:
			return e.Client == x.Client
		case history.Deleted:
			return e.Path == x.Path
		}
		return e.Kind == history.Invoke && e.Op == "downgrade" && e.Object == x.Object
	}) <= k
}

func TestTheMonitorOfClaimRemembersWhatIsRare(t *testing.T) {
	const more = "acquired c1 o1 /l/a"
	const two = "session c1 StateHasSession s11\nsession c1 StateHasSession s21\n"
	const made = "created c1 /l/a z1 s21\n"
	remembersRare(t, Claim{}, "of which session its end was told", more,
		two+"heard c1 s21\n"+made+"session c1 StateHasSession s31",
		two+made+"session c1 StateHasSession s31\nheard c1 s31")
	const gone = two + "heard c1 s21\ninvoke c1 o1 lock\ncreated c1 /l/a z1 %s\ndeleted c1 /l/a z2"
	remembersRare(t, Claim{}, "whose a znode was that is gone", more, fmt.Sprintf(gone, "s21"), fmt.Sprintf(gone, "s11"))
	const both = "session c1 StateHasSession s11\ninvoke c1 o1 lock\ninvoke c1 o4 lock\ncreated c1 /l/a z1 s11\n" +
		"deleted c1 /l/a z2\nsession c1 StateHasSession s21\nheard c1 s21\n"
	remembersRare(t, Claim{}, "whose call began before a znode was gone", more, both+"invoke c1 o1 lock",
		both+"invoke c1 o4 lock")
}
