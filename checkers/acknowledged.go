package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Acknowledged is what followers of a leader rely on. The client that they are told to follow leads, and has completed
// the leader procedure. Once a leader has completed it, and as long as it leads, nobody is told that there is no
// leader.
//
// A leader is identified by its token. It records the invocation and the return of "acknowledge", both with its
// candidate in Path and the token in Value. A follower records the invocation of "leader", and its return with the
// token that it was told in Value, or with an error.
type Acknowledged struct{}

// Name implements [Checker].
func (Acknowledged) Name() string { return "acknowledged" }

// Doc implements [Checker].
func (Acknowledged) Doc() string {
	return "a client that asks for the leader is told the one that leads and has acknowledged it"
}

// Needs implements [Declaring].
func (Acknowledged) Needs() Needs {
	return Needs{
		Txns: true,
		Words: slices.Concat(
			judged("the candidate in Path begins to lead with the token in Value", "acknowledge"),
			judged("asks who leads; answered by the token in Value, or with OK and an error by nobody", "leader"),
			unjudged("is judged by the znode of the candidate", leadWords...)),
		Seen: []Need{some("the operation acknowledge", "record it with Object.Record", succeeds("acknowledge")),
			some("an answer to the operation leader", "record it with Object.Record", func(e *history.Event) bool {
				return e.Kind == history.Return && e.Op == "leader" && (e.Err == nil || refused(e))
			})},
	}
}

// Check implements [Checker].
func (c Acknowledged) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored].
func (Acknowledged) Monitor() Monitor { return &reigns{} }

// reigns is the monitor of Acknowledged.
type reigns struct {
	recipeEvents
	Acknowledged
	list  []reign // in the order in which they may begin
	asked []question
	top   int64 // highest token of a leader that has acknowledged
}

// reign is a candidacy and the leadership that may follow it. Positions are -1 until they are known.
type reign struct {
	client       int32
	path         string
	token        int64 // before it is acknowledged: the zxid of the candidate, which is the same
	acknowledged bool  // or about to be
	done, end    int
}

// question is a call of leader that has not been answered.
type question struct {
	caller
	at  int   // where it began
	top int64 // top when it began
}

func (m *reigns) Reset() { m.list, m.asked, m.top = m.list[:0], m.asked[:0], 0 }

// Hash implements [Monitor]. The world knows which clients are candidates, and their tokens.
func (m *reigns) Hash() uint64 {
	sum := hash.Hash(0) // in any order
	for k := range m.list {
		if r := &m.list[k]; r.end < 0 && (r.acknowledged || r.token < m.top) {
			sum += hash.Hash(0).String(r.path).Bool(r.acknowledged).Bool(r.done >= 0).Bool(r.token < m.top)
		}
	}
	for _, q := range m.asked {
		answers := hash.Hash(0)
		for k := range m.list {
			switch r := &m.list[k]; {
			case r.end < 0 && (r.leads(q) || r.token < q.top):
				answers += hash.Hash(1).String(r.path).Bool(r.leads(q)).Bool(r.token < q.top)
			case r.end > q.at && r.token >= q.top:
				answers += hash.Hash(2).String(r.path).Bool(r.acknowledged)
			}
		}
		sum += printOf(m.asked, q.caller).Uint64(uint64(answers))
	}
	return uint64(sum)
}

// leads reports whether r has led since before question q, so that "nobody leads" is a wrong answer to q.
func (r *reign) leads(q question) bool { return r.end < 0 && r.done >= 0 && r.done < q.at }

func (m *reigns) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	switch {
	case e.Kind == history.Created && e.Session != 0:
		m.list = append(m.list, reign{e.Client, e.Path, e.Zxid, false, -1, -1})
	case e.Kind == history.Invoke && e.Op == "acknowledge":
		m.acknowledge(e)
	case e.Kind == history.Return && e.Op == "acknowledge" && e.Err == nil:
		m.top = max(m.top, e.Value)
		for k := range m.list {
			if r := &m.list[k]; r.acknowledged && r.token == e.Value && r.done < 0 {
				r.done = i
			}
		}
	case e.Kind == history.Invoke && e.Op == "leader":
		m.asked = append(withoutObject(m.asked, e.Object), question{caller{e.Client, e.Object}, i, m.top})
	case e.Kind == history.Return && e.Op == "leader":
		for _, q := range m.asked {
			if q.object != e.Object {
				continue
			}
			if why := m.wrong(h, q, i); why != "" {
				return violated(m, i, "c%d was told that %s", e.Client, why)
			}
		}
		m.asked = withoutObject(m.asked, e.Object)
		m.forget()
	default:
		m.hear(e, i)
	}
	return Verdict{}
}

// acknowledge notes that the latest candidate with the path of e leads, if it is still there.
func (m *reigns) acknowledge(e *history.Event) {
	for k := range m.list {
		if r := &m.list[k]; r.path == e.Path && r.end < 0 {
			r.token, r.acknowledged = e.Value, true
		}
	}
}

// hear notes which reigns event i ends by deleting the candidate. It drops the questions of a client that crashes.
func (m *reigns) hear(e *history.Event, i int) {
	for k := range m.list {
		if r := &m.list[k]; e.Kind == history.Deleted && e.Path == r.path && r.end < 0 {
			r.end = i
		}
	}
	if e.Kind == history.Crashed {
		m.asked = withoutClient(m.asked, e.Client)
	}
	if e.Kind == history.Deleted || e.Kind == history.Crashed {
		m.forget()
	}
}

// forget drops the reigns that no open question can be answered with: they ended before it was asked.
func (m *reigns) forget() {
	m.list = drop(m.list, func(r reign) bool {
		return r.end >= 0 && !slices.ContainsFunc(m.asked, func(q question) bool { return q.at < r.end })
	})
}

// wrong says what is wrong with the answer to question q, event i. It returns "" if the answer was right at some moment
// since the question.
func (m *reigns) wrong(h *history.History, q question, i int) string {
	e := &h.Events[i]
	var told *reign
	for k := range m.list {
		if r := &m.list[k]; r.acknowledged && r.token == e.Value {
			told = r
		}
	}
	switch {
	case e.Err != nil && !refused(e):
		return "" // no answer
	case e.Err != nil:
		for k := range m.list {
			if r := &m.list[k]; r.leads(q) {
				return "nobody leads, although c" + digits(r.client) + " does and had acknowledged it by " + r.path
			}
		}
	case told == nil || told.end >= 0 && told.end < q.at:
		return untimely(h, i)
	case told.token < q.top:
		by := acknowledgement(h, i, q.top)
		return "c" + digits(told.client) + " leads, although c" + digits(by.Client) +
			", a later leader, had acknowledged it before"
	}
	return ""
}

// untimely says what is wrong with an answer, event i, that names nobody who led at some moment since the question.
func untimely(h *history.History, i int) string {
	if x := acknowledgement(h, i, h.Events[i].Value); x != nil {
		return "c" + digits(x.Client) + " leads by " + x.Path + ", which had been deleted before"
	}
	return "somebody leads who had not acknowledged it"
}

// acknowledgement returns the first acknowledgement of a token before event i, or nil.
func acknowledgement(h *history.History, i int, token int64) *history.Event {
	for k := range i {
		e := &h.Events[k]
		counts := e.Kind == history.Invoke || e.Kind == history.Return && e.Err == nil // its token may differ
		if counts && e.Op == "acknowledge" && e.Value == token {
			return e
		}
	}
	return nil
}
