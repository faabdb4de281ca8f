package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Names is what a name service is for: a name belongs to one at a time, and as
// long as it does, it resolves to that one. The operations in the history are
// "register" (of the name in Path; its Value is what the name resolves to, as of
// no other registration; the name registered is in Path of the answer),
// "unregister", and "resolve" (the answer is in Value, 0 if there is no such name).
// A name belongs to the object that registered it from the answer until that begins to
// unregister it, and no other one unregisters it; a crash does not end that.
type Names struct{}

// Name implements [Checker].
func (Names) Name() string { return "names" }

// Doc implements [Checker].
func (Names) Doc() string {
	return "a name belongs to one at a time, and resolves to that one as long as it does"
}

// Check implements [Checker].
func (n Names) Check(h *history.History) Verdict { return check(h, n.Monitor()) }

// Monitor implements [Monitored].
func (Names) Monitor() Monitor { return &tenures{} }

// tenures is the monitor of Names: who owns what, and what has been asked.
type tenures struct {
	recipeEvents
	Names
	owned []tenure
	asked []naming
	seen  []caller
}

// tenure is the time in which a name certainly belongs to somebody.
type tenure struct {
	caller
	name  string
	value int64
	since int // position
}

// naming is an operation in progress.
type naming struct {
	caller
	name  string
	value int64
	begin int // position
}

// Reset implements [Monitor].
func (t *tenures) Reset() { t.owned, t.asked, t.seen = t.owned[:0], t.asked[:0], t.seen[:0] }

// Hash implements [Monitor]. Of what is being resolved counts whether it was owned from
// the beginning.
func (t *tenures) Hash() uint64 {
	sum := hash.Hash(0)
	for _, x := range t.owned {
		sum += t.print(x.caller).String(x.name).Uint64(uint64(x.value))
		for _, a := range t.asked {
			if a.name == x.name && x.since < a.begin {
				sum += t.print(a.caller)
			}
		}
	}
	return uint64(sum)
}

// print is a hash of an object: its client, and how many of that came before it.
func (t *tenures) print(c caller) hash.Hash {
	n := uint64(0)
	for _, x := range t.seen {
		if x == c {
			break
		}
		if x.client == c.client {
			n++
		}
	}
	return hash.Hash(c.client).Uint64(n)
}

// Step implements [Monitor].
func (t *tenures) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	me := caller{e.Client, e.Object}
	at := slices.IndexFunc(t.asked, func(a naming) bool { return a.caller == me })
	switch {
	case e.Kind == history.Invoke:
		if !slices.Contains(t.seen, me) {
			t.seen = append(t.seen, me)
		}
		t.asked = append(drop(t.asked, func(a naming) bool { return a.caller == me }), naming{me, e.Path, e.Value, i})
		if e.Op == "unregister" {
			t.owned = drop(t.owned, func(x tenure) bool { return x.name == e.Path && x.caller == me })
		}
	case e.Kind == history.Return && at >= 0:
		a := t.asked[at]
		t.asked = slices.Delete(t.asked, at, at+1)
		if e.Err == nil {
			return t.answer(e, i, a)
		}
	}
	return Verdict{}
}

// answer judges that event i answers a.
func (t *tenures) answer(e *history.Event, i int, a naming) Verdict {
	for _, x := range t.owned {
		switch {
		case x.name != e.Path:
		case e.Op == "register":
			return violated(t, i, "c%d has registered %s, which c%d has registered and not given up", e.Client, x.name, x.client)
		case e.Op == "unregister" && x.since < a.begin:
			return violated(t, i, "c%d has unregistered %s, which c%d has registered and not given up", e.Client, x.name,
				x.client)
		case e.Op == "resolve" && x.since < a.begin && x.value != e.Value:
			return violated(t, i, "c%d was told %d for %s, which c%d has registered as %d and not given up", e.Client, e.Value,
				x.name, x.client, x.value)
		}
	}
	if e.Op == "register" {
		t.owned = append(t.owned, tenure{a.caller, e.Path, a.value, i})
	}
	return Verdict{}
}
