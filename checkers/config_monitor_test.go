package checkers

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

// updated is a game of two clients that update a configuration, ask for it and follow
// it, some of them on a server that lags.
type updated struct {
	past
	ops     []string // that clients begin
	h       history.History
	lag     int64 // zxid of the set on that server
	objects []*asker
}

// asker is an object that asks, updates or follows.
type asker struct {
	client, number int32
	op             string
	read           []int64 // sets that it may be given
}

func newUpdated(ops ...string) func(whims *rand.Rand) game {
	return func(whims *rand.Rand) game {
		g := &updated{past: past{whims: whims}, ops: ops}
		g.h.Reset(2)
		g.h.Txns = true
		for _, c := range []int32{1, 1, 2, 2} {
			g.objects = append(g.objects, &asker{client: c, number: g.next()})
		}
		g.objects[0].op, g.objects[2].op = "follow", "follow"
		return g
	}
}

// state implements [game].
func (g *updated) state() string {
	var b strings.Builder
	fmt.Fprint(&b, len(g.zxids), " ", g.rank(g.lag))
	for _, x := range g.objects {
		fmt.Fprint(&b, "\n", x.client, x.op)
		for _, z := range x.read {
			fmt.Fprint(&b, " ", g.rank(z))
		}
	}
	return b.String()
}

// history implements [game].
func (g *updated) history() *history.History { return &g.h }

// move implements [game].
func (g *updated) move(d *rand.Rand) {
	x := g.objects[d.IntN(len(g.objects))]
	add := func(e history.Event) { g.add(x, e) }
	k := d.IntN(10)
	switch {
	case k == 0 || len(g.zxids) == 0:
		g.h.Add(history.Event{Kind: history.Changed, Client: x.client, Path: "/config", Zxid: g.zxid()})
	case k == 1 && d.IntN(4) == 0:
		g.lag = g.zxids[len(g.zxids)-1]
	case x.op == "" && k < 5:
		for range g.whim(3) { // of which nothing is left
			g.blink(x)
		}
	case x.op == "":
		x.op = g.ops[k%len(g.ops)]
		add(history.Event{Kind: history.Invoke, Op: x.op, Path: "/config"})
	case x.op == "update":
		add(history.Event{Kind: history.Return, Op: x.op,
			Err: []error{nil, zk.ErrBadVersion, zk.ErrConnectionClosed}[(k+7)/8], OK: k < 9})
		x.op = ""
	case k < 4 && len(x.read) < 3:
		x.read = append(x.read, g.zxids[len(g.zxids)-1])
	case k < 6 && len(x.read) < 3:
		x.read = append(x.read, g.lag)
	case k == 6 && x.op == "get":
		add(history.Event{Kind: history.Return, Op: x.op, Err: errors.New("invalid"), OK: true, Path: "a=1/2"})
		x.op, x.read = "", nil
	case len(x.read) > 0:
		n := d.IntN(len(x.read))
		e := history.Event{Kind: history.Told, Op: "config", Zxid: x.read[(n+g.whim(2))%len(x.read)], Path: "a=7/2 b=7/2"}
		if d.IntN(20) == 0 {
			e.Path = "a=7/2 b=8/2"
		}
		x.read = slices.Delete(x.read, n, n+1)
		if x.op == "get" {
			e.Kind, e.Op, x.op, x.read = history.Return, "get", "", nil
		} else if g.whim(3) > 1 {
			return
		}
		add(e)
	}
}

func (g *updated) add(x *asker, e history.Event) {
	e.Client, e.Object = x.client, x.number
	g.h.Add(e)
}

// blink has an object begin and end an operation.
func (g *updated) blink(x *asker) {
	op := g.ops[g.whim(len(g.ops))]
	e := history.Event{Kind: history.Return, Op: op, Path: "a=7/1", Zxid: g.lag}
	switch g.whim(4) {
	case 0:
		e.Zxid = g.zxids[len(g.zxids)-1]
	case 1:
		e.Err = zk.ErrConnectionClosed
	}
	g.add(x, history.Event{Kind: history.Invoke, Op: op, Path: "/config"})
	g.add(x, e)
}

// configsJudged are checkers, the operations that they judge, and their properties said
// over whole histories.
var configsJudged = []struct {
	Monitored
	ops  []string
	said func(h *history.History) Level
}{
	{Torn{}, []string{"get", "update"}, allWhole},
	{Recency{}, []string{"get", "update"}, neverBack},
	{Conflict{}, []string{"get", "update"}, refusedForAReason},
}

func TestMonitorsOfConfigurationsForgetOnlyWhatDoesNotMatter(t *testing.T) {
	long(t)
	for _, x := range configsJudged {
		whatIsForgottenDoesNotMatter(t, x.Monitored, newUpdated(x.ops...))
	}
}

func TestMonitorsOfConfigurationsAgreeWithWholeHistories(t *testing.T) {
	for _, x := range configsJudged {
		agrees(t, x.Monitored, newUpdated(x.ops...), x.said)
	}
}

// allWhole is Torn said in another way: it knows the only torn set of the game.
func allWhole(h *history.History) Level {
	if slices.ContainsFunc(h.Events, func(e history.Event) bool { return e.Err == nil && e.Path == "a=7/2 b=8/2" }) {
		return Violated
	}
	return OK
}

// neverBack is Recency said in another way: it looks back from each set that somebody
// was given.
func neverBack(h *history.History) Level {
	for i, e := range h.Events {
		if !given(&e) {
			continue
		}
		begun := false // looking back: the get that is answered
		for _, x := range slices.Backward(h.Events[:i]) {
			begun = begun || x.Kind == history.Invoke && x.Object == e.Object
			concerns := begun || e.Kind == history.Told && x.Object == e.Object
			if given(&x) && concerns && x.Zxid > e.Zxid {
				return Violated
			}
		}
		for i, x := range h.Events[:lastBegun(h.Events[:i], e.Object)] {
			if x.Kind == history.Return && x.Op == "update" && x.Err == nil && e.Kind == history.Return &&
				lastChange(h.Events[:i], x) > e.Zxid {
				return Violated
			}
		}
	}
	return OK
}

// lastBegun returns where an object has begun its latest operation.
func lastBegun(events []history.Event, object int32) int {
	for i, x := range slices.Backward(events) {
		if x.Kind == history.Invoke && x.Object == object {
			return i
		}
	}
	return 0
}

// lastChange returns the zxid of the last change by the client of an operation that has just
// ended, while that made no other update; 0 if there was none.
func lastChange(events []history.Event, end history.Event) int64 {
	begin := lastBegun(events, end.Object)
	for i, x := range slices.Backward(events) {
		if i > begin && x.Kind == history.Changed && x.Client == end.Client && updatesAt(events[:i], end.Client) == 1 {
			return x.Zxid
		}
	}
	return 0
}

// updatesAt returns how many updates of a client go on after events.
func updatesAt(events []history.Event, client int32) (n int) {
	for i, x := range events {
		n += one(x.Kind == history.Invoke && x.Op == "update" && x.Client == client && stillAt(events, i))
	}
	return n
}

// refusedForAReason is Conflict said in another way: it compares all intervals.
func refusedForAReason(h *history.History) Level {
	type interval struct{ begin, end int }
	var all, refused []interval
	for i, e := range h.Events {
		if e.Kind != history.Invoke || e.Op != "update" {
			continue
		}
		x := interval{i, len(h.Events)}
		for k, end := range h.Events[i:] {
			if end.Kind != history.Return || end.Object != e.Object {
				continue
			}
			if end.Err == nil || end.OK {
				x.end = i + k
			}
			if end.OK && end.Err != nil {
				refused = append(refused, x)
			}
			break
		}
		all = append(all, x)
	}
	for _, x := range refused {
		if !slices.ContainsFunc(all, func(y interval) bool { return x != y && x.begin < y.end && y.begin < x.end }) {
			return Violated
		}
	}
	return OK
}

// TestConflictRemembersAnUpdateThatACrashHasCutOff goes on in the same way after an update that a crash has cut off and
// after a crash in the middle of nothing: what a client that has crashed was at is no part of the world.
func TestConflictRemembersAnUpdateThatACrashHasCutOff(t *testing.T) {
	update := func(kind history.Kind, c int32, err error) history.Event {
		return history.Event{Kind: kind, Client: c, Object: c, Op: "update", Path: "/config", Err: err, OK: err != nil}
	}
	crash := history.Event{Kind: history.Crashed, Client: 1}
	other := []history.Event{update(history.Invoke, 2, nil), update(history.Return, 2, nil)}
	next := []history.Event{update(history.Invoke, 2, nil), update(history.Return, 2, zk.ErrBadVersion)}
	busy := []history.Event{update(history.Invoke, 1, nil), other[0], crash, other[1]}
	idle := []history.Event{crash, other[0], other[1]}
	var hashes [2]uint64
	var levels [2]Level
	for k, past := range [][]history.Event{busy, idle} {
		m := Conflict{}.Monitor()
		if v := follow(historyOf(past), m); v.Level != OK {
			t.Fatal(v)
		}
		hashes[k], levels[k] = digest(m), Conflict{}.Check(historyOf(past, next)).Level
	}
	if levels != [2]Level{OK, Violated} || hashes[0] == hashes[1] {
		t.Errorf("verdicts %v after what has the hashes %x", levels, hashes)
	}
}
