package checkers

import (
	"zksim/internal/hash"
	"zksim/model/history"
)

// Fenced is the layer of lock safety that holds whatever happens: a resource
// that checks tokens never accepts a write of an earlier holder after one of a
// later holder. Holders are told apart by the zxid that made their znodes, not
// by the token that they show. Nor does it refuse the latest holder, as it would
// if tokens did not grow. Where readers share the lock, the resource lets no
// earlier holder read after a write of a later one, or write after it has read.
type Fenced struct{}

// Name implements [Checker].
func (Fenced) Name() string { return "fenced" }

// Doc implements [Checker].
func (Fenced) Doc() string {
	return "the guarded resource never accepts a write of an earlier holder after one of a later holder, and refuses " +
		"none of the latest"
}

// Needs implements [Declaring].
func (Fenced) Needs() Needs {
	return Needs{
		Words: []Word{readMode},
		Seen: []Need{acquired,
			some("Write events", "access the resource with Object.Write while the lock is held", isKind(history.Write)),
			{What: "accesses that the resource accepted from two holders",
				Hint: "let two clients get the lock in one run", In: twoWriters}},
	}
}

// Check implements [Checker].
func (f Fenced) Check(h *history.History) Verdict { return check(h, f.Monitor()) }

// Monitor implements [Monitored].
func (f Fenced) Monitor() Monitor { return &fence{} }

// fence is the monitor of Fenced.
type fence struct {
	recipeEvents
	Fenced
	written, read holdership // by the latest holder each
	made          []making
	holders       []holding
	changes       // of znodes
}

// holdership is who accesses the resource; since is the zxid that created the znode by which
// its client holds the lock.
type holdership struct {
	client int32
	since  int64
}

// making is the latest creation of a znode, until that is deleted and its holder has
// given it up.
type making struct {
	path           string
	client         int32
	zxid           int64
	gone, released bool
}

// holding is what an object claimed last.
type holding struct {
	object int32
	path   string
	holdership
}

func (x holding) who() caller { return caller{x.client, x.object} }

func (f *fence) Reset() {
	f.written, f.read, f.made, f.holders, f.changes = holdership{}, holdership{}, f.made[:0], f.holders[:0], f.changes[:0]
}

// Hash implements [Monitor]. When a znode was made that is there, the world knows.
func (f *fence) Hash() uint64 {
	x := hash.Hash(f.rank(f.written.since)).Uint64(f.rank(f.read.since))
	holders, gone := hash.Hash(0), hash.Hash(0)
	for _, y := range f.holders {
		holders += printOf(f.holders, y.who()).Uint64(f.rank(y.since))
	}
	for _, z := range f.made {
		if z.gone {
			gone += hash.Hash(z.client).String(z.path).Uint64(f.rank(z.zxid))
		}
	}
	return uint64(x.Uint64(uint64(holders)).Uint64(uint64(gone)))
}

func (f *fence) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	f.note(e)
	switch e.Kind {
	case history.Created:
		f.made = drop(f.made, func(z making) bool { return z.path == e.Path && z.client == e.Client })
		f.made = append(f.made, making{path: e.Path, client: e.Client, zxid: e.Zxid})
	case history.Deleted:
		f.end(func(z *making) bool { return z.path == e.Path }, func(z *making) { z.gone = true })
	case history.Released:
		for _, x := range f.holders {
			if x.object == e.Object {
				f.end(func(z *making) bool { return z.path == x.path && z.client == x.client },
					func(z *making) { z.released = true })
			}
		}
	case history.Acquired:
		f.holders = drop(f.holders, func(x holding) bool { return x.object == e.Object })
		f.holders = append(f.holders, holding{e.Object, e.Path, holdership{e.Client, f.since(e)}})
	case history.Write:
		if e.OK {
			return f.judge(i, e)
		}
		if x := f.holder(e); x.since > 0 && x.since >= max(f.written.since, f.read.since) {
			return violated(f, i, "the resource refused c%d, holder since zxid 0x%x, the latest that it has seen", x.client,
				x.since)
		}
	}
	return Verdict{}
}

// end notes something of the znodes that f picks, and forgets those that nobody can claim
// any more.
func (f *fence) end(picks func(*making) bool, note func(*making)) {
	for k := range f.made {
		if z := &f.made[k]; picks(z) {
			note(z)
		}
	}
	f.made = drop(f.made, func(z making) bool { return z.gone && z.released })
}

// since returns the zxid that created the znode of a claim; the token that its
// holder was given where that was not recorded.
func (f *fence) since(e *history.Event) int64 {
	for _, z := range f.made {
		if z.path == e.Path && z.client == e.Client {
			return z.zxid
		}
	}
	return e.Value
}

// holder returns whose access e is, and since when that holds.
func (f *fence) holder(e *history.Event) holdership {
	x := holdership{client: e.Client}
	for _, y := range f.holders {
		if y.object == e.Object {
			x = y.holdership
		}
	}
	return x
}

// judge judges a write or read that the resource accepted.
func (f *fence) judge(i int, e *history.Event) Verdict {
	x := f.holder(e)
	switch {
	case e.Op == "read" && x.since < f.written.since:
		return violated(f, i, "the resource accepted a read of c%d, holder since zxid 0x%x, after a write of c%d, holder "+
			"since 0x%x",
			x.client, x.since, f.written.client, f.written.since)
	case x.since < f.written.since:
		return violated(f, i, "the resource accepted a write of c%d, holder since zxid 0x%x, after one of c%d, holder "+
			"since 0x%x",
			x.client, x.since, f.written.client, f.written.since)
	case e.Op != "read" && x.since < f.read.since:
		return violated(f, i, "the resource accepted a write of c%d, holder since zxid 0x%x, after a read of c%d, holder "+
			"since 0x%x",
			x.client, x.since, f.read.client, f.read.since)
	case e.Op != "read":
		f.written = x
	case x.since > f.read.since:
		f.read = x
	}
	return Verdict{}
}

// twoWriters reports whether the resource accepted what two holders did, one of them a write.
func twoWriters(h *history.History) bool {
	first, wrote, two := int32(0), false, false
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Write && e.OK {
			if first == 0 {
				first = e.Object
			}
			two = two || e.Object != first
			wrote = wrote || e.Op != "read"
		}
	}
	return two && wrote
}
