package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// ToldRest is what a client tells when it has been at rest (Process.AtRest): at this moment the faults are over and
// nothing but time can pass.
const ToldRest = "at-rest"

// Waits is the progress of those that wait: at a moment when nothing but time can pass, nobody waits for what is so
// already, even if something that happens later wakes it. So nobody waits for a lock, a lease or the leadership while
// fewer have it than may. Nobody waits to read while only readers have the lock and nobody waits to write. Nobody waits
// to hear of a leader while somebody leads and has acknowledged it.
//
// Nobody waits for an item of a queue while there is one that nobody can have got.
//
// The moments are those at which a program that was at rest goes on.
type Waits struct {
	Leases int     // how many may have it at once; 0: 1
	For    Awaited // what is waited for
}

// Awaited is what clients wait for.
type Awaited uint8

// What clients wait for.
const (
	AwaitedHolder Awaited = iota // to have what others have, or for one that has it
	AwaitedItem                  // of a queue
)

// Name implements [Checker].
func (Waits) Name() string { return "waits" }

// Doc implements [Checker].
func (c Waits) Doc() string {
	if c.For == AwaitedItem {
		return "when nothing but time can pass, nobody waits for an item that is free"
	}
	return "when nothing but time can pass, nobody waits for what is free, or for a leader that there is"
}

// Needs implements [Declaring].
func (w Waits) Needs() Needs {
	waits, rest := []string{"lock", "rlock", "campaign", "leader"}, []string{"trylock", "unlock", "tryrlock", "runlock",
		"downgrade", "resign"}
	switch {
	case w.Leases > 0:
		waits, rest = []string{"acquire"}, []string{"tryacquire", "release"}
	case w.For == AwaitedItem:
		waits, rest = []string{"take", "claim"}, nil
	}
	atRest := tells("the client was at rest: nothing but time can pass", ToldRest)
	n := Needs{
		Words: slices.Concat(judged("waits", waits...), unjudged("waits for nobody, or is judged by Released", rest...),
			atRest),
		Seen: []Need{Need{What: "an operation that waits while the program of a client is at rest",
			Hint: "let who has what others wait for call Process.AtRest before it gives it up",
			In:   func(h *history.History) bool { return waitsAtRest(h, waits) }}.during()},
	}
	switch {
	case w.For == AwaitedItem:
		n.Words = append(queueWords("ack"), atRest...)
	case w.Leases == 0:
		n.Words = append(n.Words, readMode)
		n.Words = append(n.Words, judged("its success says that its object leads", "acknowledge")...)
	}
	return n
}

// Check implements [Checker].
func (c Waits) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored].
func (c Waits) Monitor() Monitor {
	if c.For == AwaitedItem {
		return &consumers{Waits: c}
	}
	return &waiters{Waits: c}
}

// waiters is the monitor of Waits.
type waiters struct {
	recipeEvents
	Waits
	waiting []ongoing
	having  []having
}

// having is what an object believes that it has.
type having struct {
	caller
	leads bool // and has acknowledged it
	reads bool // and shares it with other readers
}

func (m *waiters) Reset() { m.waiting, m.having = m.waiting[:0], m.having[:0] }

func (m *waiters) Hash() uint64 {
	var waiting, all hash.Hash // in any order
	for _, w := range m.waiting {
		waiting += printOf(m.waiting, w.caller).String(w.op)
	}
	for _, x := range m.having {
		all += printOf(m.having, x.caller).Bool(x.leads).Bool(x.reads)
	}
	return uint64(waiting.Uint64(uint64(all)))
}

func (m *waiters) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	switch e.Kind {
	case history.Invoke:
		switch e.Op {
		case "lock", "rlock", "acquire", "campaign", "leader":
			m.waiting = append(m.waiting, ongoingOf(e))
		}
	case history.Return:
		if e.Op == "acknowledge" && e.Err == nil {
			if k := find(m.having, callerOf(e)); k >= 0 {
				m.having[k].leads = true
			}
			break
		}
		m.waiting = drop(m.waiting, func(w ongoing) bool { return w == ongoingOf(e) })
	case history.Acquired:
		m.having = append(forget(m.having, callerOf(e)), having{caller: callerOf(e), reads: e.Op == "read"})
	case history.Lost, history.Released:
		m.having = forget(m.having, callerOf(e))
	case history.Crashed:
		m.waiting = withoutClient(m.waiting, e.Client)
		m.having = withoutClient(m.having, e.Client)
	case history.Told:
		if e.Op == ToldRest {
			return m.judge(i)
		}
	}
	return Verdict{}
}

// judge objects to those that wait at event i for what is so already.
func (m *waiters) judge(i int) Verdict {
	leader := slices.IndexFunc(m.having, func(x having) bool { return x.leads })
	written := slices.ContainsFunc(m.having, func(x having) bool { return !x.reads }) ||
		slices.ContainsFunc(m.waiting, func(w ongoing) bool { return w.op == "lock" })
	for _, w := range m.waiting {
		switch n := len(m.having); {
		case w.op == "leader" && leader >= 0:
			return violated(m, i, "c%d waits for a leader when nothing but time can pass, although c%d leads and has "+
				"acknowledged it", w.client, m.having[leader].client)
		case w.op != "leader" && n == 0:
			return violated(m, i, "c%d waits in its %s when nothing but time can pass, although nobody has what it waits for",
				w.client, w.op)
		case w.op == "rlock" && !written:
			return violated(m, i, "c%d waits in its rlock when nothing but time can pass, although only readers have the "+
				"lock and nobody waits to write", w.client)
		case w.op != "leader" && n < m.Leases:
			return violated(m, i, "c%d waits in its %s when nothing but time can pass, although only %d of %d are taken",
				w.client, w.op, n, m.Leases)
		}
	}
	return Verdict{}
}

// waitsAtRest reports whether somebody was in one of these operations when a client was at rest.
func waitsAtRest(h *history.History, ops []string) bool {
	var waiting []ongoing
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.Kind == history.Invoke && slices.Contains(ops, e.Op):
			waiting = append(waiting, ongoingOf(e))
		case e.Kind == history.Return:
			waiting = drop(waiting, func(w ongoing) bool { return w == ongoingOf(e) })
		case e.Kind == history.Crashed:
			waiting = withoutClient(waiting, e.Client)
		case e.Kind == history.Told && e.Op == ToldRest && len(waiting) > 0:
			return true
		}
	}
	return false
}
