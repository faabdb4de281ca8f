package checkers

import (
	"slices"
	"strconv"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Names is what a name service is for: a name belongs to one object at a time, and as long as it does, it resolves to
// what that object registered. The operations in the history are "register" (of the name in Path; its Value is what the
// name resolves to, and no other registration has that; the registered name is in Path of the answer), "unregister",
// and "resolve" (the answer is in Value, 0 if there is no such name).
//
// A name belongs to the object that registered it from the answer until the object begins to unregister it; a crash
// does not end that. No other object unregisters it; but one that had it before, and failed to give it up, may be told
// at a later try that its own registration is over. When the owner unregisters the name, it is not refused, with OK
// and an error. Once that has succeeded, perhaps at a later try, nobody is told that the name resolves to what the
// owner registered. A client does not unregister what it has never registered: all that it has asked for under that
// name, if anything, was refused.
//
// What a failed register has made is removed, if need be in the background. So when nothing can happen any more, and
// its client has come to its end, no znode has its Value as data.
type Names struct{}

// Name implements [Checker].
func (Names) Name() string { return "names" }

// Doc implements [Checker].
func (Names) Doc() string {
	return "a name belongs to one owner at a time, and resolves to that owner as long as it does"
}

// Needs implements [Declaring].
func (Names) Needs() Needs {
	return Needs{
		Words: slices.Concat(
			judged("gets a name that stands for Value; its end has the name in Path", "register"),
			judged("answered by what the name in Path stands for", "resolve"),
			judged("gives up the name in Path; never refused to the owner, and never ends the name of another object",
				"unregister")),
		Seen: []Need{some("a register without an error", "record it with Object.Record", succeeds("register"))},
	}
}

// Check implements [Checker].
func (c Names) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored]. What is left is judged at the end.
func (Names) Monitor() Monitor { return &tenures{} }

// tenures is the monitor of Names: who owns what, and what has been asked.
type tenures struct {
	recipeEvents
	Names
	owned []tenure
	asked []naming
	seen  []caller
	void  []naming // failed registrations of live clients, each with where it ended
	past  []naming // registrations that were given up, each with where that ended
	half  []tenure // registrations whose owner has failed to give them up, and may try again
	tried []tried
}

// tried says that a client has perhaps registered a name.
type tried struct {
	client int32
	name   string // empty: nobody knows which
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
	ongoing
	name  string
	value int64
	begin int  // position
	own   bool // it gives up a name that certainly belongs to the caller and stands for value
	again bool // or that did so before it failed to give it up
}

func (t *tenures) Reset() {
	t.owned, t.asked, t.seen, t.void, t.tried = t.owned[:0], t.asked[:0], t.seen[:0], t.void[:0], t.tried[:0]
	t.past, t.half = t.past[:0], t.half[:0]
}

// Hash implements [Monitor]. Of a name that is being resolved, it matters whether it was owned from the beginning.
func (t *tenures) Hash() uint64 {
	sum := hash.Hash(0)
	for _, x := range t.owned {
		sum += t.print(x.caller).String(x.name).Uint64(uint64(x.value))
		for _, a := range t.asked {
			if a.name == x.name && x.since < a.begin {
				sum += t.print(a.caller).String(a.op).Uint64(uint64(x.value))
			}
		}
	}
	void := hash.Hash(0)
	for _, x := range t.void {
		void += hash.Hash(x.client).Uint64(uint64(x.value))
	}
	for _, x := range t.tried {
		void += hash.Hash(x.client).String(x.name)
	}
	return uint64(sum.Uint64(uint64(void)).Uint64(uint64(t.hashPast())))
}

// hashPast is the part of Hash for what was given up, or is being given up. Of a name that is being resolved, it
// matters whether it was given up before.
func (t *tenures) hashPast() (sum hash.Hash) {
	for _, x := range t.past {
		sum += hash.Hash(x.client).String(x.name).Uint64(uint64(x.value))
		for _, a := range t.asked {
			if a.name == x.name && x.begin < a.begin {
				sum += t.print(a.caller).String(a.op).Uint64(uint64(x.value))
			}
		}
	}
	for _, x := range t.half {
		sum += t.print(x.caller).String(x.name).Uint64(uint64(x.value)).Uint64(0)
	}
	for _, a := range t.asked {
		if a.gives() {
			sum += t.print(a.caller).String(a.name).Uint64(uint64(a.value))
		}
	}
	return sum
}

// print returns a hash of an object, by its place among the objects of its client that have begun something.
func (t *tenures) print(c caller) hash.Hash { return printOf(t.seen, c) }

func (a naming) registers() bool { return a.value != 0 && !a.gives() }

// gives reports whether a gives up a known registration.
func (a naming) gives() bool { return a.own || a.again }

func (t *tenures) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	me := callerOf(e)
	same := func(a naming) bool { return a.ongoing == ongoingOf(e) }
	at := slices.IndexFunc(t.asked, same)
	switch {
	case e.Op != "register" && e.Op != "unregister" && e.Op != "resolve" && e.Kind != history.Crashed:
	case e.Kind == history.Invoke:
		if !slices.Contains(t.seen, me) {
			t.seen = append(t.seen, me)
		}
		a := naming{ongoingOf(e), e.Path, e.Value, i, false, false}
		if e.Op == "unregister" {
			mine := func(x tenure) bool { return x.name == e.Path && x.caller == me }
			if k := slices.IndexFunc(t.owned, mine); k >= 0 {
				a.own, a.value = true, t.owned[k].value
			} else if k = slices.IndexFunc(t.half, mine); k >= 0 {
				a.again, a.value = true, t.half[k].value
			}
			t.owned = drop(t.owned, mine)
		}
		t.asked = append(drop(t.asked, same), a)
	case e.Kind == history.Return && at >= 0:
		a := t.asked[at]
		t.asked = slices.Delete(t.asked, at, at+1)
		if e.Op == "register" && (e.Err == nil || !e.OK) {
			t.tries(e.Client, e.Path)
		}
		if a.gives() && e.Err != nil {
			its := func(x tenure) bool { return x.name == a.name && x.caller == me }
			t.half = append(drop(t.half, its), tenure{me, a.name, a.value, i})
		}
		switch {
		case e.Err == nil:
			return t.answer(e, i, a)
		case a.own && refused(e):
			return violated(t, i, "c%d could not unregister %s, which it has registered and not given up", e.Client, a.name)
		case e.Op == "register":
			t.void = append(t.void, naming{a.ongoing, a.name, a.value, i, false, false})
		}
	case e.Kind == history.Crashed:
		t.void, t.half = withoutClient(t.void, e.Client), withoutClient(t.half, e.Client)
		if slices.ContainsFunc(t.asked, func(a naming) bool { return a.client == e.Client && a.registers() }) {
			t.tries(e.Client, "")
		}
	}
	return Verdict{}
}

// tries notes that a client has perhaps registered a name.
func (t *tenures) tries(client int32, name string) {
	if t.has(client, name) {
		return
	}
	if name == "" {
		t.tried = drop(t.tried, func(x tried) bool { return x.client == client })
	}
	t.tried = append(t.tried, tried{client, name})
}

// has reports whether tries has noted that a client has perhaps registered a name.
func (t *tenures) has(client int32, name string) bool {
	return slices.Contains(t.tried, tried{client, name}) || slices.Contains(t.tried, tried{client, ""})
}

// never reports whether a client has certainly never registered a name.
func (t *tenures) never(client int32, name string) bool {
	registers := func(a naming) bool { return a.client == client && a.registers() }
	return !t.has(client, name) && !slices.ContainsFunc(t.asked, registers)
}

// end judges what failed registrations have left.
func (t *tenures) end(h *history.History) Verdict {
	for _, x := range t.void {
		if int(x.client) >= len(h.Finished) || !h.Finished[x.client] {
			continue
		}
		for _, n := range h.Tree {
			if n.Data == strconv.FormatInt(x.value, 10) {
				return violated(t, x.begin, "c%d could not register its name, and what it has made of it stays: %s", x.client,
					n.Path)
			}
		}
	}
	return Verdict{}
}

// answer judges event i, which answers a.
func (t *tenures) answer(e *history.Event, i int, a naming) Verdict {
	name := a.name // an answer need not repeat it
	if e.Op == "register" {
		name = e.Path
	}
	for _, x := range t.owned {
		switch {
		case x.name != name:
		case e.Op == "register":
			return violated(t, i, "c%d has registered %s, which c%d has registered and not given up", e.Client, x.name, x.client)
		case e.Op == "unregister" && x.since < a.begin && !a.again:
			return violated(t, i, "c%d has unregistered %s, which c%d has registered and not given up", e.Client, x.name,
				x.client)
		case e.Op == "resolve" && x.since < a.begin && x.value != e.Value:
			if e.Value == 0 {
				return violated(t, i, "c%d was told that there is no name %s, which c%d has registered as %d and not given up",
					e.Client, x.name, x.client, x.value)
			}
			return violated(t, i, "c%d was told %d for %s, which c%d has registered as %d and not given up", e.Client, e.Value,
				x.name, x.client, x.value)
		}
	}
	switch {
	case e.Op == "register":
		t.owned = append(t.owned, tenure{a.caller, name, a.value, i})
	case e.Op == "unregister" && t.never(e.Client, name):
		return violated(t, i, "c%d has unregistered %s, which it has never registered", e.Client, name)
	case a.gives():
		t.past = append(t.past, naming{a.ongoing, a.name, a.value, i, false, false})
		t.half = drop(t.half, func(x tenure) bool { return x.value == a.value })
	case e.Op == "resolve":
		for _, x := range t.past {
			if x.name == name && x.value == e.Value && x.begin < a.begin {
				return violated(t, i, "c%d was told %d for %s, which c%d had given up before", e.Client, e.Value, name, x.client)
			}
		}
	}
	return Verdict{}
}
