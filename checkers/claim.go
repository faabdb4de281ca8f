package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Claim is the layer of lock safety that concerns a single client. A goroutine of its code that was told that the
// session is disconnected or over must not claim a lock (Acquired) or a membership of a group (ToldJoined). Once it was
// told that the session is over, no operation may succeed that says that the session still has something: acknowledge
// of a leader, enter of a double barrier. What the library knows does not count. Nor does what another goroutine was
// told, such as one that still watches a lock that was given up. Heard means that code asked for the state or the id of
// the session, or received an event that says how it is.
//
// A client that is told of a disconnection may claim again as soon as its library has a connection: what it saw before
// still holds if the session is the same. What a session owned can never be claimed again once the session is over.
//
// A client that was disconnected must have been told of the loss, Lost, by the time its session ends: from then on the
// lock is another's. A client whose session ends before its code could know is excused. For members and for clients
// inside a barrier, [Presence] and [Exit] ask this.
type Claim struct {
	Of Claimed // what is claimed
}

// Claimed is what clients claim to have by an ephemeral znode.
type Claimed uint8

// What clients claim to have.
const (
	ClaimedLock   Claimed = iota // or a lease, or the leadership
	ClaimedPlace                 // in a round of a double barrier
	ClaimedMember                // of a group
)

// Name implements [Checker].
func (Claim) Name() string { return "claim" }

// Doc implements [Checker].
func (c Claim) Doc() string {
	switch c.Of {
	case ClaimedPlace:
		return "nobody enters a barrier by a znode of a session that it was told is over"
	case ClaimedMember:
		return "no member is told that it is one again in a session that it was told is disconnected or over"
	}
	return "nobody claims a lock in a session that it was told is disconnected or over, and a holder that is " +
		"disconnected is told before its session ends"
}

// Needs implements [Declaring].
func (c Claim) Needs() Needs {
	n := Needs{Txns: true}
	switch c.Of {
	case ClaimedPlace:
		n.Words = slices.Concat(judged("its success says that the znode in Path is of a session that lasts", "enter"),
			unjudged("claims nothing", "leave"), untells("is for gather", "impatient"))
		n.Seen = []Need{goesIn}
	case ClaimedMember:
		n.Words = slices.Concat(unjudged("claims nothing", Join, Leave, Rest),
			tells("says that the znode in Path is of a session that lasts", ToldJoined),
			untells("is for presence", ToldLost))
		n.Seen = []Need{some("a member that is told that it is one again", "record it as Told",
			toldAs(ToldJoined)).during()}
	default:
		n.Words = slices.Concat(
			judged("its beginning: what was deleted before it can be claimed no more", "lock", "trylock", "rlock",
				"tryrlock", "campaign", "acquire", "tryacquire"),
			judged("a writer becomes a reader, by the same znode", "downgrade"),
			judged("its success says that the znode in Path still leads", "acknowledge"),
			unjudged("claims nothing", "unlock", "runlock", "resign", "release", "break", "leader"),
			[]Word{readMode})
		n.Seen = []Need{acquired}
	}
	return n
}

// Check implements [Checker].
func (c Claim) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored].
func (c Claim) Monitor() Monitor { return &claims{Claim: c} }

// claims is the monitor of Claim.
type claims struct {
	Claim
	news    []news
	there   []owned // ephemeral znodes that exist
	deleted claimable
	lapses
}

// news is what the code of a client was told of its session.
type news struct {
	connection
	present int64   // the session of its library; 0: none
	past    []int64 // its earlier sessions
	told    []hearing
}

// hearing is what a goroutine was told of the session: that one is over, that there is no connection, or both.
type hearing struct {
	task string
	over []int64 // the sessions that it was told are over
	down bool    // it was told that there is no connection, and there is none
}

// owned is an ephemeral znode.
type owned struct {
	client  int32
	session int64
	path    string
}

func (c *claims) Reset() {
	c.news, c.there = c.news[:0], c.there[:0]
	c.deleted.reset()
	c.lapses.reset()
}

func (c *claims) Sees(k history.Kind) bool {
	switch k {
	case history.Session, history.Heard, history.Created, history.Deleted, history.Invoke, history.Return,
		history.Told, history.Acquired, history.Lost, history.Released, history.Exceeded, history.Crashed:
		return true
	}
	return false
}

// Hash implements [Monitor]. The world knows which znodes exist and which sessions there were. So the number of
// sessions that a goroutine knows to be over says which they are.
func (c *claims) Hash() uint64 {
	var all hash.Hash // in any order
	for _, n := range c.news {
		for _, t := range n.told {
			all += hash.Hash(n.client).Int(int64(n.number)).String(t.task).Int(int64(len(t.over))).Bool(t.down)
		}
	}
	return uint64(all.Uint64(uint64(c.deleted.print())).Uint64(uint64(c.print())))
}

func (c *claims) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	if x := c.step(e); x != nil {
		return violated(c, i, "c%d still believes that it holds the lock by %s, whose session has ended, and was "+
			"disconnected before", x.client, x.path)
	}
	switch e.Kind {
	case history.Session:
		c.of(e).changed(e)
	case history.Heard:
		c.of(e).hears(e)
	case history.Created:
		if e.Session != 0 {
			c.there = append(c.there, owned{client: e.Client, session: e.Session, path: e.Path})
		}
	case history.Deleted:
		c.remove(e.Path)
	case history.Invoke:
		if e.Op == "downgrade" { // which claims what the call before it got, and does nothing until it is told
			c.end(e.Object)
		} else {
			c.deleted.begin(callerOf(e))
		}
	case history.Return:
		if e.Err == nil && (e.Op == "acknowledge" || e.Op == "enter") {
			return c.judge(i, e, "succeeds with "+e.Op)
		}
	case history.Told:
		if e.Op == ToldJoined {
			return c.judge(i, e, "is told that it is a member")
		}
	case history.Acquired:
		c.lapses.begin(claimOf(e))
		return c.judge(i, e, "claims the lock")
	case history.Lost, history.Released:
		c.end(e.Object)
	case history.Crashed:
		c.news = drop(c.news, func(n news) bool { return n.client == e.Client })
	}
	return Verdict{}
}

// of returns what a client was told of the session of the event's connection.
func (c *claims) of(e *history.Event) *news {
	of := connectionOf(e)
	return recall(&c.news, func(n *news) bool { return n.connection == of }, news{connection: of})
}

// about returns what the goroutine that claims was told of a session, and the session that the library has. If the
// session is unknown, that of the client's only connection is meant; with several connections about returns nothing.
func (c *claims) about(e *history.Event, session int64) (about hearing, present int64) {
	n := 0
	for _, x := range c.news {
		switch {
		case x.client != e.Client:
			continue
		case session != 0 && (session == x.present || slices.Contains(x.past, session)):
			return x.by(e.Task), x.present
		}
		about, present, n = x.by(e.Task), x.present, n+1
	}
	if n > 1 {
		return hearing{}, 0
	}
	return about, present
}

// by returns what a goroutine was told.
func (n *news) by(task string) hearing {
	for _, t := range n.told {
		if t.task == task {
			return t
		}
	}
	return hearing{}
}

// hears notes what a goroutine is told. It may be told that it is connected before the library says so to others.
func (n *news) hears(e *history.Event) {
	t := n.by(e.Task)
	t.task, t.over = e.Task, n.past
	if e.Op != "" {
		t.down = e.Op == history.Disconnected
	}
	if n.told = drop(n.told, func(t hearing) bool { return t.task == e.Task }); len(t.over) > 0 || t.down {
		n.told = append(n.told, t)
	}
}

// changed notes that the library enters another state.
func (n *news) changed(e *history.Event) {
	if e.Session != n.present {
		if n.present != 0 {
			n.past = append(n.past, n.present)
		}
		n.present = e.Session
	}
	if e.Op == "StateHasSession" {
		for i := range n.told {
			n.told[i].down = false
		}
		n.told = drop(n.told, func(t hearing) bool { return len(t.over) == 0 })
	}
}

// judge objects to a claim that the client knows to be wrong.
func (c *claims) judge(i int, e *history.Event, what string) Verdict {
	session := c.owner(e)
	t, present := c.about(e, session)
	switch {
	case session != 0 && slices.Contains(t.over, session) && session != present:
		return violated(c, i, "c%d %s%s after it was told that the session which owns that, 0x%x, is over", e.Client, what,
			byPath(e.Path), session)
	case t.down && e.Kind != history.Return:
		return violated(c, i, "c%d %s%s after it was told that it is disconnected", e.Client, what, byPath(e.Path))
	}
	return Verdict{}
}

// owner returns the session that owned the znode of a claim when the call began or later, or 0 if there was none.
func (c *claims) owner(e *history.Event) int64 {
	for _, x := range slices.Backward(c.there) {
		if x.path == e.Path && x.client == e.Client {
			return x.session
		}
	}
	if x := c.deleted.by(e.Path, callerOf(e)); x != nil {
		return x.session
	}
	return 0
}

// remove notes that a znode is deleted.
func (c *claims) remove(path string) {
	if k := slices.IndexFunc(c.there, func(x owned) bool { return x.path == path }); k >= 0 {
		x := c.there[k]
		c.there = slices.Delete(c.there, k, k+1)
		c.deleted.add(remnant{path: path, client: x.client, session: x.session,
			print: hash.Hash(x.client).Int(x.session).String(path)})
	}
}
