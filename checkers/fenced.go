package checkers

import (
	"fmt"
	"slices"
	"strings"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Fenced is the layer of lock safety that holds whatever happens. A resource that checks tokens never accepts a write
// of an earlier holder after one of a later holder. Nor does it refuse the latest holder, as it would if tokens did not
// grow. Holders are told apart by the zxid that made their znodes, not by the token that they show. Where readers share
// the lock, the resource lets no earlier holder read after a write of a later one, or write after a later one has read.
// A holder that has recorded no znode of its own is known by its token only. The resource goes by the same numbers, so
// all that can show then is that two clients have one token.
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
			{What: "accesses that the resource accepted from two holders with a znode or a token",
				Hint: "let two clients get the lock in one run, and record by Object.Acquired how each holds it",
				In:   twoWriters}},
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

// holdership is a client that accesses the resource. since is the zxid that created the znode by which it holds the
// lock, or its token.
type holdership struct {
	client  int32
	since   int64
	byToken bool
}

func (x holdership) String() string {
	switch {
	case x.byToken:
		return fmt.Sprintf("holder with token 0x%x", x.since)
	case x.since == 0:
		return "which has not acquired the lock"
	}
	return fmt.Sprintf("holder since zxid 0x%x", x.since)
}

// short is String without the word zxid, for text that has named a zxid before.
func (x holdership) short() string { return strings.Replace(x.String(), "zxid ", "", 1) }

// making is the latest creation of a znode. It is kept until the znode is deleted and its holder has given it up.
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

// Hash implements [Monitor]. The world knows when the znodes that exist were made.
func (f *fence) Hash() uint64 {
	x := hash.Hash(f.place(f.written)).Uint64(f.place(f.read))
	holders, gone := hash.Hash(0), hash.Hash(0)
	for _, y := range f.holders {
		holders += printOf(f.holders, y.who()).Uint64(f.place(y.holdership))
	}
	for _, z := range f.made {
		if z.gone {
			gone += hash.Hash(z.client).String(z.path).Uint64(f.rank(z.zxid))
		}
	}
	return uint64(x.Uint64(uint64(holders)).Uint64(uint64(gone)))
}

// place returns what the hash takes of since. For a token that is no zxid, that is a hash of its value.
func (f *fence) place(x holdership) uint64 {
	if _, zxid := slices.BinarySearch(f.changes, x.since); x.byToken && !zxid && x.since != 0 {
		return uint64(hash.Hash(0).Uint64(uint64(x.since)))
	}
	return f.rank(x.since)
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
		f.holders = withoutObject(f.holders, e.Object)
		x := f.since(e)
		for _, y := range f.holders {
			if x.byToken && x.since != 0 && e.Op != readMode.Op && y.since == x.since && y.client != x.client {
				return violated(f, i, "c%d holds the lock with token 0x%x, which c%d has had: the resource cannot tell "+
					"which of them is the later holder", x.client, x.since, y.client)
			}
		}
		f.holders = append(f.holders, holding{e.Object, e.Path, x})
	case history.Write:
		if e.OK {
			return f.judge(i, e)
		}
		if x := f.holder(e); x.since > 0 && x.since >= max(f.written.since, f.read.since) {
			return violated(f, i, "the resource refused c%d, %v, the latest that it has seen", x.client, x)
		}
	}
	return Verdict{}
}

// end applies note to the znodes that are picked, and forgets those that nobody can claim any more.
func (f *fence) end(picks func(*making) bool, note func(*making)) {
	for k := range f.made {
		if z := &f.made[k]; picks(z) {
			note(z)
		}
	}
	f.made = drop(f.made, func(z making) bool { return z.gone && z.released })
}

// since returns who makes a claim: since the zxid that created its znode, or, if that was not recorded, with the token
// that it was given.
func (f *fence) since(e *history.Event) holdership {
	for _, z := range f.made {
		if z.path == e.Path && z.client == e.Client {
			return holdership{client: e.Client, since: z.zxid}
		}
	}
	return holdership{client: e.Client, since: e.Value, byToken: true}
}

// holder returns who makes the access e, and since when it holds the lock.
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
		return violated(f, i, "the resource accepted a read of c%d, %v, after a write of c%d, %s", x.client, x,
			f.written.client, f.written.short())
	case x.since < f.written.since:
		return violated(f, i, "the resource accepted a write of c%d, %v, after one of c%d, %s", x.client, x,
			f.written.client, f.written.short())
	case e.Op != "read" && x.since < f.read.since:
		return violated(f, i, "the resource accepted a write of c%d, %v, after a read of c%d, %s", x.client, x,
			f.read.client, f.read.short())
	case e.Op != "read":
		f.written = x
	case x.since > f.read.since:
		f.read = x
	}
	return Verdict{}
}

// twoWriters reports whether the resource accepted accesses of two holders, one of them a write, and it is known how
// each of them holds the lock.
func twoWriters(h *history.History) bool {
	first, wrote, two := int32(0), false, false
	made, known := map[string]bool{}, map[int32]bool{}
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.Kind == history.Created:
			made[e.Path] = true
		case e.Kind == history.Acquired:
			known[e.Object] = e.Value != 0 || made[e.Path]
		case e.Kind == history.Write && e.OK && known[e.Object]:
			if first == 0 {
				first = e.Object
			}
			two = two || e.Object != first
			wrote = wrote || e.Op != "read"
		}
	}
	return two && wrote
}
