package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Entry is the promise of a double barrier to those that enter: when Enter returns, n were inside at some moment during
// the call. An Enter that has begun counts until it fails or Leave begins. If it fails and the connection was down
// meanwhile, it cannot be sure that its znode is gone, and may count forever, unless it was refused. So may a client
// that crashed. If a client has several connections, nobody knows which is meant: all have to be up.
//
// The operations are called enter, asked for n participants (Value), and leave.
type Entry struct{}

// Name implements [Checker].
func (Entry) Name() string { return "entry" }

// Doc implements [Checker].
func (Entry) Doc() string {
	return "a client that has entered the barrier was inside with all others at some moment"
}

// Needs implements [Declaring].
func (Entry) Needs() Needs {
	return Needs{
		Words: slices.Concat(
			judged("goes in when as many as Value are inside", "enter"),
			judged("goes out, and is inside no longer", "leave"),
			untells("is for gather", "impatient")),
		Seen: []Need{goesIn, some("an enter that begins with the number of those that are enough",
			"record it with Object.Record and its Value",
			func(e *history.Event) bool { return e.Kind == history.Invoke && e.Op == "enter" && e.Value > 0 })},
	}
}

// Check implements [Checker].
func (c Entry) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored].
func (c Entry) Monitor() Monitor { return &entries{} }

// entries is the monitor of Entry.
type entries struct {
	sessionEvents
	Entry
	calls  []entering
	inside int64
	stays  []caller // whose Enter counts, and who have not begun to leave
	lines  []line   // of which something was heard
}

// entering is an Enter in progress.
type entering struct {
	caller
	need    int64
	most    int64 // most that were inside at one time since it began
	offline bool  // the connection was down at some time
}

// line is a connection, and whether it is up.
type line struct {
	connection
	up bool
}

func (m *entries) Reset() {
	m.calls, m.inside, m.stays, m.lines = m.calls[:0], 0, m.stays[:0], m.lines[:0]
}

// Hash implements [Monitor]. Once a call has seen enough inside, it no longer matters how many are enough.
func (m *entries) Hash() uint64 {
	var calls, stays, lines hash.Hash // in any order
	for _, x := range m.calls {
		p := printOf(m.calls, x.caller).Bool(x.offline)
		if x.most < x.need {
			p = p.Uint64(uint64(x.need))
		}
		calls += p
	}
	for _, s := range m.stays {
		stays += printOf(m.stays, s)
	}
	for _, x := range m.lines {
		lines += hash.Hash(x.client).Uint64(uint64(x.number)).Bool(x.up)
	}
	return uint64(hash.Hash(m.inside).Uint64(uint64(calls)).Uint64(uint64(stays)).Uint64(uint64(lines)))
}

// ends notes that a stay no longer counts, if it still did.
func (m *entries) ends(who caller) {
	if find(m.stays, who) >= 0 {
		m.stays = forget(m.stays, who)
		m.inside--
	}
}

func (m *entries) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	switch {
	case e.Kind == history.Session:
		m.session(connectionOf(e), e.Op == "StateHasSession")
	case e.Kind == history.Crashed: // it counts as inside
		m.calls = withoutClient(m.calls, e.Client)
	case e.Kind == history.Invoke && e.Op == "enter":
		m.inside++
		m.stays = append(forget(m.stays, callerOf(e)), callerOf(e))
		m.calls = append(m.calls, entering{caller: callerOf(e), need: e.Value, offline: !m.online(e.Client)})
		for k := range m.calls {
			m.calls[k].most = max(m.calls[k].most, m.inside)
		}
	case e.Kind == history.Invoke && e.Op == "leave":
		m.ends(callerOf(e))
	case e.Kind == history.Return && e.Op == "enter":
		var x entering
		m.calls, x = take(m.calls, e)
		if e.Err != nil && (!x.offline || refused(e)) {
			m.ends(callerOf(e))
		}
		if e.Err == nil && x.most < x.need {
			return violated(m, i, "c%d entered%s for %d, but there were never more than %d inside while it did", e.Client,
				byPath(e.Path), x.need, x.most)
		}
	}
	return Verdict{}
}

// online reports whether a client has a connection, and none that is down.
func (m *entries) online(client int32) bool {
	is := func(up bool) func(x line) bool {
		return func(x line) bool { return x.client == client && x.up == up }
	}
	return slices.ContainsFunc(m.lines, is(true)) && !slices.ContainsFunc(m.lines, is(false))
}

// session notes whether a connection is up.
func (m *entries) session(c connection, up bool) {
	recall(&m.lines, func(x *line) bool { return x.connection == c }, line{connection: c}).up = up
	for k := range m.calls {
		if x := &m.calls[k]; x.client == c.client && !up {
			x.offline = true
		}
	}
}
