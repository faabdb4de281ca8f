package checkers

import (
	"slices"

	"zksim/model/history"
)

// Fenced is the layer of lock safety that holds whatever happens: a resource
// that checks tokens never accepts a write of an earlier holder after one of a
// later holder. Holders are told apart by the zxid that made their znodes, not
// by the token that they show. Where readers share the lock, the resource lets no
// earlier holder read after a write of a later one, or write after it has read.
type Fenced struct{}

// Name implements [Checker].
func (Fenced) Name() string { return "fenced" }

// Doc implements [Checker].
func (Fenced) Doc() string {
	return "the guarded resource never accepts a write of an earlier holder after one of a later holder"
}

// Check implements [Checker].
func (f Fenced) Check(h *history.History) Verdict { return check(h, f.Monitor()) }

// Monitor implements [Monitored].
func (f Fenced) Monitor() Monitor { return &fence{} }

// fence is the monitor of Fenced.
type fence struct {
	Fenced
	written, read holdership // by the latest holder each
	made          []making
	holders       []holding
}

// holdership is who accesses the resource; since is the zxid that created the znode by which
// its client holds the lock.
type holdership struct {
	client int32
	since  int64
}

// making is the latest creation of a znode.
type making struct {
	path   string
	client int32
	zxid   int64
}

// holding is what an object claimed last.
type holding struct {
	object int32
	holdership
}

// Reset implements [Monitor].
func (f *fence) Reset() {
	f.written, f.read, f.made, f.holders = holdership{}, holdership{}, f.made[:0], f.holders[:0]
}

// Hash implements [Monitor]. Of zxids only the order counts.
func (f *fence) Hash() uint64 {
	all := []int64{f.written.since, f.read.since}
	for _, x := range f.holders {
		all = append(all, x.since)
	}
	slices.Sort(all)
	rank := func(zxid int64) uint64 {
		i, _ := slices.BinarySearch(all, zxid)
		return uint64(i)
	}
	x := Print(rank(f.written.since)).Word(rank(f.read.since))
	sum := Print(0)
	for _, y := range f.holders {
		sum += Print(y.client).Word(rank(y.since))
	}
	return uint64(x.Word(uint64(sum)))
}

// Step implements [Monitor].
func (f *fence) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	switch e.Kind {
	case history.Created:
		f.made = drop(f.made, func(z making) bool { return z.path == e.Path && z.client == e.Client })
		f.made = append(f.made, making{e.Path, e.Client, e.Zxid})
	case history.Acquired:
		f.holders = drop(f.holders, func(x holding) bool { return x.object == e.Object })
		f.holders = append(f.holders, holding{e.Object, holdership{e.Client, f.since(e)}})
	case history.Write:
		if e.OK {
			return f.judge(i, e)
		}
	}
	return Verdict{}
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

// judge judges a write or read that the resource accepted.
func (f *fence) judge(i int, e *history.Event) Verdict {
	x := holdership{client: e.Client}
	for _, y := range f.holders {
		if y.object == e.Object {
			x = y.holdership
		}
	}
	switch {
	case e.Op == "read" && x.since < f.written.since:
		return violated(f, i, "the resource accepted a read of c%d, holder since zxid 0x%x, after a write of c%d, holder since 0x%x",
			x.client, x.since, f.written.client, f.written.since)
	case x.since < f.written.since:
		return violated(f, i, "the resource accepted a write of c%d, holder since zxid 0x%x, after one of c%d, holder since 0x%x",
			x.client, x.since, f.written.client, f.written.since)
	case e.Op != "read" && x.since < f.read.since:
		return violated(f, i, "the resource accepted a write of c%d, holder since zxid 0x%x, after a read of c%d, holder since 0x%x",
			x.client, x.since, f.read.client, f.read.since)
	case e.Op != "read":
		f.written = x
	case x.since > f.read.since:
		f.read = x
	}
	return Verdict{}
}
