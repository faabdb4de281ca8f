package checkers

import (
	"slices"
	"strings"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Taken is [Refusal] for names: register, or join, says that the name is taken, with OK and an error, only if at some
// moment of the call there was a znode of that name. One that the client itself has made since the call began does not
// count: nobody else has the name. It does count if its session is no longer the client's, because an earlier try may
// have been executed late. It also counts if an earlier call of the client has failed, because its undoing may go on.
type Taken struct{}

// Name implements [Checker]. Refusal has the same name: no scenario has both.
func (Taken) Name() string { return "refusal" }

// Doc implements [Checker].
func (Taken) Doc() string { return "nobody is told that a name is taken which nobody else has" }

// Needs implements [Declaring].
func (Taken) Needs() Needs {
	return Needs{
		Txns: true,
		Words: judged("is told, with OK and an error, that the name in Path, or the znode, is another's", "register",
			Join),
		Seen: []Need{some("a register or a join without an error, of the name in Path",
			"record it with Object.Record and its Path",
			withPath(succeeds("register", Join)))},
	}
}

// Check implements [Checker].
func (c Taken) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored].
func (Taken) Monitor() Monitor { return &takings{} }

// takings is the monitor of Taken.
type takings struct {
	sessionEvents
	Taken
	calls   []taking
	znodes  []titled // that exist, or have since some call began
	failed  []int32  // clients with a call that has failed
	present []lineOf
}

// taking is a call in progress.
type taking struct {
	caller
	begin int // position
}

// titled is a znode.
type titled struct {
	path         string
	client       int32 // that has made it
	session      int64 // of an ephemeral; else 0
	since, until int   // positions
}

func (m *takings) Reset() {
	m.calls, m.znodes, m.failed, m.present = m.calls[:0], m.znodes[:0], m.failed[:0], m.present[:0]
}

// Hash implements [Monitor]. The world knows which znodes exist.
func (m *takings) Hash() uint64 {
	var calls, failed, present hash.Hash // in any order
	for _, c := range m.calls {
		p := printOf(m.calls, c.caller)
		for _, x := range m.znodes {
			if own := c.made(&x); own || x.until != never && x.until > c.begin {
				p += hash.Hash(0).String(x.path).Bool(own).Bool(m.left(&x)).Bool(x.until == never)
			}
		}
		calls += p.Uint64(0)
	}
	for _, client := range m.failed {
		failed += hash.Hash(client).Uint64(0)
	}
	for _, l := range m.present {
		present += hash.Hash(l.client).Int(int64(l.number)).Int(l.session)
	}
	return uint64(calls.Uint64(uint64(failed)).Uint64(uint64(present)))
}

// made reports whether the client of the call has made the znode since the call began.
func (c *taking) made(x *titled) bool { return x.client == c.client && x.since > c.begin }

func (m *takings) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	asks := e.Op == "register" || e.Op == Join
	switch e.Kind {
	case history.Invoke:
		if asks {
			m.calls = append(forget(m.calls, callerOf(e)), taking{callerOf(e), i})
		}
	case history.Return:
		k := find(m.calls, callerOf(e))
		if k < 0 || !asks {
			break
		}
		c := m.calls[k]
		m.calls = slices.Delete(m.calls, k, k+1)
		switch {
		case e.Err != nil && !refused(e) && !slices.Contains(m.failed, e.Client):
			m.failed = append(m.failed, e.Client)
		case refused(e) && e.Path != "" && !slices.ContainsFunc(m.znodes, func(x titled) bool { return m.counts(c, &x, e) }):
			return violated(m, i, "c%d was told that %s is taken, which nobody else has had since it asked", e.Client, e.Path)
		}
	case history.Crashed:
		m.calls = withoutClient(m.calls, e.Client)
	case history.Created:
		m.znodes = append(m.znodes, titled{e.Path, e.Client, e.Session, i, never})
	case history.Deleted:
		for k := range m.znodes {
			if x := &m.znodes[k]; x.path == e.Path && x.until == never {
				x.until = i
			}
		}
	case history.Session:
		m.moved(e)
	}
	m.znodes = drop(m.znodes, func(x titled) bool {
		return !slices.ContainsFunc(m.calls, func(c taking) bool { return c.begin < x.until }) && x.until != never
	})
	return Verdict{}
}

// moved notes the session of a connection.
func (m *takings) moved(e *history.Event) {
	c := connectionOf(e)
	if l := recall(&m.present, func(x *lineOf) bool { return x.connection == c }, lineOf{connection: c}); e.Session != 0 {
		l.session = e.Session
	}
}

// left reports whether the session that owns the znode is no longer its client's. It may have been so already when the
// znode was made.
func (m *takings) left(x *titled) bool {
	has := func(l lineOf) bool { return l.client == x.client && l.session != 0 }
	owns := func(l lineOf) bool { return has(l) && l.session == x.session }
	return x.session != 0 && slices.ContainsFunc(m.present, has) && !slices.ContainsFunc(m.present, owns)
}

// counts reports whether the znode is a reason for the refusal that event e reports.
func (m *takings) counts(c taking, x *titled, e *history.Event) bool {
	named := strings.HasSuffix(x.path, "/"+strings.TrimPrefix(e.Path, "/"))
	return named && x.until > c.begin && (!c.made(x) || m.left(x) || slices.Contains(m.failed, c.client))
}
