package checkers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"zksim/model/history"
)

// settling is a game of watchers of two znodes that tell lists of children when these have settled, more or less.
type settling struct {
	past
	h        history.History
	proposed bool
	znodes   []string
	objects  []*settlesIn
}

// settlesIn is a watcher.
type settlesIn struct {
	client, number int32
	path           string
	waits, ended   bool
	read           []int64 // zxids of lists that it has read, 0: there was no znode
}

var settlingPaths = []string{"/d", "/d/a", "/d/b", "/e"}

func newSettling(proposed bool) func(whims *rand.Rand) game {
	return func(whims *rand.Rand) game {
		g := &settling{past: past{whims: whims}, proposed: proposed}
		g.h.Reset(2)
		g.h.Txns = true
		return g
	}
}

// state implements [game].
func (g *settling) state() string {
	var b strings.Builder
	fmt.Fprint(&b, len(g.zxids), g.znodes)
	for _, path := range g.znodes {
		fmt.Fprint(&b, " ", g.rank(g.version(path)))
	}
	for _, x := range g.objects {
		fmt.Fprint(&b, "\nc", x.client, x.path, x.waits, x.ended)
		for _, zxid := range x.read {
			fmt.Fprint(&b, " ", g.rank(zxid))
		}
	}
	return b.String()
}

// version returns the zxid of the list of a znode, 0 if there is no such znode.
func (g *settling) version(path string) int64 {
	return listAt(g.h.Events, path, g.zxids[len(g.zxids)-1])
}

// history implements [game].
func (g *settling) history() *history.History { h := g.h; return &h }

// move implements [game].
func (g *settling) move(d *rand.Rand) {
	if len(g.h.Events) == 0 {
		g.write(d, "/d", 1)
		g.begin(d)
		return
	}
	switch k := d.IntN(16); {
	case k < 4:
		g.write(d, settlingPaths[d.IntN(len(settlingPaths))], 1+d.Int32N(2))
	case k == 4: // which znode comes and goes does not show
		path := []string{"/d/a", "/d", "/e", "/f"}[g.whim(4)]
		if !slices.Contains(g.znodes, path) && (path != "/d/a" || slices.Contains(g.znodes, "/d")) {
			g.change(history.Created, path, 1)
			g.change(history.Deleted, path, 1)
		} else {
			g.change(history.Created, "/f", 1)
			g.change(history.Deleted, "/f", 1)
		}
	case k == 5 && g.proposed && len(g.zxids) > 0:
		g.h.Add(history.Event{Kind: history.Reply, Client: 1, Op: "get", Zxid: g.zxids[d.IntN(len(g.zxids))]})
	case k == 6 && d.IntN(4) == 0:
		c := 1 + d.Int32N(2)
		g.h.Add(history.Event{Kind: history.Crashed, Client: c})
		g.objects = slices.DeleteFunc(g.objects, func(x *settlesIn) bool { return x.client == c })
	case k == 7:
		g.begin(d)
	case len(g.objects) > 0:
		g.play(d, g.objects[d.IntN(len(g.objects))])
	}
}

// change adds a change of a znode.
func (g *settling) change(kind history.Kind, path string, client int32) {
	g.h.Add(history.Event{Kind: kind, Path: path, Client: client, Zxid: g.zxid(), Proposed: g.proposed})
}

// write creates, changes or deletes a znode.
func (g *settling) write(d *rand.Rand, path string, client int32) {
	exists := slices.Contains(g.znodes, path)
	switch {
	case !exists && (parent(path) == "/" || slices.Contains(g.znodes, "/d")):
		g.change(history.Created, path, client)
		g.znodes = append(g.znodes, path)
		slices.Sort(g.znodes)
	case !exists || path == "/d" && len(g.znodes) > 1 && g.znodes[1] != "/e":
	case d.IntN(3) == 0:
		g.change(history.Changed, path, client)
	default:
		g.change(history.Deleted, path, client*d.Int32N(2))
		g.znodes = slices.DeleteFunc(g.znodes, func(x string) bool { return x == path })
	}
}

// begin begins a watcher, if there are not too many.
func (g *settling) begin(d *rand.Rand) {
	c := 1 + d.Int32N(2)
	if len(g.objects) == 2 {
		return
	}
	x := &settlesIn{client: c, number: g.next(), path: []string{"/d", "/d", "/d", "/e"}[d.IntN(4)]}
	at := len(g.objects)
	for at > 0 && g.objects[at-1].client > c {
		at--
	}
	g.objects = slices.Insert(g.objects, at, x)
	g.add(x, history.Event{Kind: history.Invoke, Op: WatchChildren, Path: x.path})
}

func (g *settling) add(x *settlesIn, e history.Event) {
	e.Client, e.Object = x.client, x.number
	g.h.Add(e)
}

// play has a watcher do something.
func (g *settling) play(d *rand.Rand, x *settlesIn) {
	switch k := d.IntN(10); {
	case k < 2 && len(x.read) < 2:
		x.read = append(x.read, g.version(x.path))
	case k < 4 && (!x.waits || x.ended || d.IntN(4) == 0):
		x.waits, x.ended = true, false
		g.add(x, history.Event{Kind: history.Invoke, Op: Settle})
	case k < 6 && x.waits && !x.ended:
		x.ended = true
		g.add(x, history.Event{Kind: history.Return, Op: Settle})
	case k < 9 && len(x.read) > 0 && (x.ended || d.IntN(8) == 0):
		n := d.IntN(len(x.read))
		g.add(x, history.Event{Kind: history.Told, Op: ToldChildren, Path: x.path, Zxid: x.read[n]})
		x.read, x.waits, x.ended = slices.Delete(x.read, n, n+1), false, false
	case k == 9 && d.IntN(3) == 0:
		g.add(x, history.Event{Kind: history.Return, Op: WatchChildren, Err: context.Canceled})
		g.objects = slices.DeleteFunc(g.objects, func(y *settlesIn) bool { return y == x })
	}
}

func TestSettledAgreesWithWholeHistories(t *testing.T) {
	agrees(t, Settled{}, newSettling(false), stayedWhileItSettled)
	agrees(t, Settled{}, newSettling(true), stayedWhileItSettled)
}

func TestSettledForgetsOnlyWhatDoesNotMatter(t *testing.T) {
	long(t)
	whatIsForgottenDoesNotMatter(t, Settled{}, newSettling(false))
}

// listAt returns the zxid of the list of a znode after the txns up to a zxid, 0 if there is no such znode.
func listAt(events []history.Event, path string, zxid int64) (version int64) {
	exists := false
	for _, e := range events {
		if e.Zxid > zxid || e.Kind != history.Created && e.Kind != history.Deleted {
			continue
		}
		switch {
		case e.Path == path:
			exists, version = e.Kind == history.Created, e.Zxid
		case parent(e.Path) == path:
			version = e.Zxid
		}
	}
	if !exists {
		return 0
	}
	return version
}

// changesUpTo returns the zxids of the changes among some events, and the last of these that was certainly committed.
func changesUpTo(events []history.Event) (zxids []int64, sure int64) {
	for _, e := range events {
		change := e.Kind == history.Created || e.Kind == history.Changed || e.Kind == history.Deleted
		if change {
			zxids = append(zxids, e.Zxid)
		}
		if change && !e.Proposed || e.Kind == history.Reply {
			sure = max(sure, e.Zxid)
		}
	}
	return zxids, sure
}

// stayedWhileItSettled is Settled said over whole histories: what is told was the list at a moment when it may have
// been so, as the time to settle began, and no change of the list is certain to have come between that and its end.
func stayedWhileItSettled(h *history.History) Level {
	for i, e := range h.Events {
		if e.Kind != history.Told || e.Op != ToldChildren {
			continue
		}
		begin, end := -1, -1
		for k, x := range h.Events[:i] {
			switch {
			case x.Object != e.Object || x.Client != e.Client:
			case x.Kind == history.Invoke && x.Op == Settle:
				begin, end = k, -1
			case x.Kind == history.Return && x.Op == Settle:
				end = k
			case x.Kind == history.Told:
				begin, end = -1, -1
			}
		}
		if begin < 0 || end < 0 || !stayed(h.Events, &e, begin, end) {
			return Violated
		}
	}
	return OK
}

// stayed reports whether e may tell how things were at event begin and still at event end.
func stayed(events []history.Event, e *history.Event, begin, end int) bool {
	zxids, certain := changesUpTo(events[:begin])
	_, sure := changesUpTo(events[:end])
	for _, cut := range append([]int64{0}, zxids...) {
		if cut != 0 && cut < certain || listAt(events, e.Path, cut) != e.Zxid {
			continue
		}
		same := true
		for _, x := range events[:end] {
			list := x.Path == e.Path || parent(x.Path) == e.Path
			if x.Zxid > cut && x.Zxid <= sure && list && (x.Kind == history.Created || x.Kind == history.Deleted) {
				same = false
			}
		}
		if same {
			return true
		}
	}
	return false
}
