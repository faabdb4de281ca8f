package checkers

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"zksim/model/history"
)

// group is a game of two clients that watch a few znodes, join and leave. Watchers
// may tell anything that they have read, and that a znode is gone, at any time.
type group struct {
	past
	sorts   []string // of objects: what they begin
	h       history.History
	calm    bool
	znodes  map[string]history.Node
	makers  map[string]int32
	objects []*player // of each client, in the order of their numbers
}

// player is a watcher or a member.
type player struct {
	client, number int32
	op, path       string // join: has begun to
	phase          string
	read           []history.Event // what it may tell
}

const groupDir = "/g"

var groupPaths = []string{groupDir, groupDir + "/a", groupDir + "/b"}

func newGroup(sorts ...string) func(whims *rand.Rand) game {
	return func(whims *rand.Rand) game {
		g := &group{past: past{whims: whims}, sorts: sorts, znodes: map[string]history.Node{}, makers: map[string]int32{}}
		g.h.Reset(2)
		g.h.Txns = true
		return g
	}
}

// state implements [game].
func (g *group) state() string {
	var b strings.Builder
	fmt.Fprint(&b, g.calm, " of ", len(g.zxids))
	for _, path := range slices.Sorted(maps.Keys(g.znodes)) {
		n := g.znodes[path]
		fmt.Fprint(&b, "\n", path, " ", n.Data, n.Owner, g.makers[path], g.rank(n.Czxid), g.rank(n.Mzxid), g.rank(n.Pzxid))
	}
	for _, x := range g.objects {
		fmt.Fprint(&b, "\nc", x.client, " ", x.op, x.path, x.phase)
		for _, e := range x.read {
			fmt.Fprint(&b, " ", e.Op, e.Path, g.rank(e.Zxid), e.Value)
		}
	}
	return b.String()
}

// history implements [game].
func (g *group) history() *history.History {
	h := g.h
	h.Tree = nil
	for _, path := range slices.Sorted(maps.Keys(g.znodes)) {
		h.Tree = append(h.Tree, g.znodes[path])
	}
	return &h
}

// move implements [game].
func (g *group) move(d *rand.Rand) {
	if len(g.h.Events) == 0 { // a few to begin with
		g.write(groupDir, d, 1)
		g.write(groupDir+"/a", d, 1+d.Int32N(2))
		g.begin(d, 1)
		g.begin(d, 1+d.Int32N(2))
		return
	}
	switch c := 1 + d.Int32N(2); d.IntN(18) {
	case 0, 1, 2:
		if !g.calm || d.IntN(4) == 0 {
			g.write(groupPaths[d.IntN(len(groupPaths))], d, c)
		}
	case 3:
		g.begin(d, c)
	case 4, 5:
		if !g.calm {
			g.calm = true
			g.h.Add(history.Event{Kind: history.Calm})
		}
	case 6:
		g.blink(c)
	case 7:
		if n := len(g.objects); n > 0 { // somebody says so
			switch x := g.objects[g.whim(n)]; x.op {
			case WatchData:
				g.add(x, history.Event{Kind: history.Told, Op: ToldGone, Path: x.path})
			case WatchCache, WatchMembers:
				g.add(x, history.Event{Kind: history.Told, Op: ToldGone, Path: groupPaths[1+g.whim(2)]})
			}
		}
	default:
		if len(g.objects) > 0 {
			g.play(d, g.objects[d.IntN(len(g.objects))])
		}
	}
}

// write creates, changes or deletes a znode.
func (g *group) write(path string, d *rand.Rand, c int32) {
	n, exists := g.znodes[path]
	e := history.Event{Client: c, Path: path, Data: []string{"x", "y"}[d.IntN(2)]}
	switch {
	case !exists && path != groupDir && g.znodes[groupDir].Path == "":
		return
	case !exists:
		e.Kind, e.Zxid = history.Created, g.zxid()
		if path != groupDir && d.IntN(3) > 0 {
			e.Session = int64(c)
		}
		n = history.Node{Path: path, Data: e.Data, Owner: e.Session, Czxid: e.Zxid, Mzxid: e.Zxid, Pzxid: e.Zxid}
		g.znodes[path], g.makers[path] = n, c
	case d.IntN(2) == 0:
		e.Kind, e.Zxid = history.Changed, g.zxid()
		n.Data, n.Mzxid = e.Data, e.Zxid
		g.znodes[path] = n
	case path == groupDir && len(g.znodes) > 1:
		return
	default:
		e.Kind, e.Zxid, e.Session, e.Data = history.Deleted, g.zxid(), n.Owner, ""
		if n.Owner != 0 && d.IntN(2) == 0 {
			e.Client = 0 // the session ends
		}
		delete(g.znodes, path)
	}
	if dir, ok := g.znodes[groupDir]; ok && path != groupDir && e.Kind != history.Changed {
		dir.Pzxid = e.Zxid
		g.znodes[groupDir] = dir
	}
	g.h.Add(e)
}

// blink creates a znode and deletes it. Which one, the znodes do not show.
func (g *group) blink(c int32) {
	paths := slices.DeleteFunc(slices.Clone(groupPaths[1:]), func(path string) bool { return g.znodes[path].Path != "" })
	dir, ok := g.znodes[groupDir]
	if !ok || len(paths) == 0 {
		return
	}
	path := paths[g.whim(len(paths))]
	g.h.Add(history.Event{Kind: history.Created, Client: c, Path: path, Zxid: g.zxid(), Session: int64(c)})
	dir.Pzxid = g.zxid()
	g.h.Add(history.Event{Kind: history.Deleted, Path: path, Zxid: dir.Pzxid, Session: int64(c)})
	g.znodes[groupDir] = dir
}

// begin begins a watcher or a member, if there are not too many.
func (g *group) begin(d *rand.Rand, c int32) {
	x := &player{client: c, op: g.sorts[d.IntN(len(g.sorts))], path: groupPaths[1+d.IntN(4)/3]}
	if x.op != WatchData && x.op != Join {
		x.path = groupDir
	}
	if len(g.objects) == 2 {
		return
	}
	x.number = g.next()
	at := len(g.objects)
	for at > 0 && g.objects[at-1].client > c {
		at--
	}
	g.objects = slices.Insert(g.objects, at, x)
	g.add(x, history.Event{Kind: history.Invoke, Op: x.op, Path: x.path})
}

func (g *group) add(x *player, e history.Event) {
	e.Client, e.Object = x.client, x.number
	g.h.Add(e)
}

func (g *group) end(x *player) {
	g.objects = slices.DeleteFunc(g.objects, func(y *player) bool { return y == x })
}

// play has an object do something.
func (g *group) play(d *rand.Rand, x *player) {
	k := d.IntN(8)
	switch {
	case x.op == Join:
		g.member(d, x)
	case k < 2 && len(x.read) < 3:
		g.look(d, x)
	case k < 5 && len(x.read) > 0:
		n := d.IntN(len(x.read))
		e := x.read[(n+g.whim(2))%len(x.read)]
		if g.whim(8) > 6 && e.Op != ToldGone {
			e.Value = 5 // which is wrong
		}
		if d.IntN(3) == 0 {
			x.read = slices.Delete(x.read, n, n+1)
		}
		if g.whim(3) < 2 {
			g.add(x, e)
		}
	case k == 5 || k == 6 && d.IntN(2) == 0:
		if g.whim(3) < 2 {
			g.add(x, history.Event{Kind: history.Invoke, Op: Rest})
		}
	case k == 6 || k == 7 && d.IntN(2) == 0:
		x.phase = Stop
		g.add(x, history.Event{Kind: history.Invoke, Op: Stop})
	case x.phase == Stop:
		g.add(x, history.Event{Kind: history.Return, Op: x.op, Err: context.Canceled})
		g.end(x)
	}
}

// look has a watcher read.
func (g *group) look(d *rand.Rand, x *player) {
	e := history.Event{Kind: history.Told, Op: ToldData, Path: x.path}
	if x.op == WatchCache || x.op == WatchMembers {
		e.Path = groupPaths[1+d.IntN(2)]
	}
	n, exists := g.znodes[e.Path]
	switch {
	case x.op == WatchChildren:
		e.Op, e.Zxid = ToldChildren, n.Pzxid
		e.Value = Fingerprint(childrenOf(g.history(), e.Path)...)
	case !exists || d.IntN(4) == 0:
		e.Op = ToldGone
	default:
		e.Zxid, e.Value = n.Mzxid, Fingerprint(n.Data)
	}
	x.read = append(x.read, e)
}

// member has a member go on.
func (g *group) member(d *rand.Rand, x *player) {
	switch k := d.IntN(8); {
	case x.phase == "" && k < 6:
		all := []*player{x}
		for _, y := range g.objects {
			if y != x && y.op == Join && y.phase == "" { // one more, before or after
				all = slices.Insert(all, g.whim(2), y)
			}
		}
		for _, y := range all {
			y.phase = "member"
			g.add(y, history.Event{Kind: history.Return, Op: Join, Path: y.path})
		}
	case x.phase == "":
		g.add(x, history.Event{Kind: history.Return, Op: Join, Path: x.path, Err: context.Canceled, OK: k == 6})
		g.end(x)
	case k < 5 && g.whim(3) > 1:
	case k < 2:
		g.add(x, history.Event{Kind: history.Told, Op: []string{ToldLost, ToldJoined}[k], Path: x.path})
	case k < 5:
		g.add(x, history.Event{Kind: history.Invoke, Op: Rest})
	case k == 5:
		g.add(x, history.Event{Kind: history.Invoke, Op: Leave, Path: x.path})
		g.end(x)
	}
}

// watchersJudged are checkers, the objects that they judge, and their properties said
// over whole histories.
var watchersJudged = []struct {
	Monitored
	sorts []string
	said  func(h *history.History) Level
}{
	{Monotone{}, []string{WatchData, WatchChildren, WatchCache}, neverOlder},
	{Convergence{}, []string{WatchData, WatchChildren, WatchCache, WatchMembers}, rightInTheEnd},
	{Departure{}, []string{Join, WatchMembers}, staysMember},
	{Presence{}, []string{Join}, isPresent},
}

func TestMonitorsOfWatchersForgetOnlyWhatDoesNotMatter(t *testing.T) {
	long(t)
	for _, x := range watchersJudged {
		whatIsForgottenDoesNotMatter(t, x.Monitored, newGroup(x.sorts...))
	}
}

func TestMonitorsOfWatchersAgreeWithWholeHistories(t *testing.T) {
	for _, x := range watchersJudged {
		agrees(t, x.Monitored, newGroup(x.sorts...), x.said)
	}
}

// neverOlder is Monotone said in another way: it looks back from each state that is
// told to all that was told before.
func neverOlder(h *history.History) Level {
	for i, e := range h.Events {
		if e.Kind != history.Told {
			continue
		}
		before := h.Events[:i]
		gone := false // told after
		for _, x := range slices.Backward(before) {
			if x.Kind != history.Told || toldOf(&x) != toldOf(&e) {
				continue
			}
			ended := slices.ContainsFunc(before, func(y history.Event) bool {
				return y.Kind == history.Deleted && y.Path == e.Path && y.Zxid > x.Zxid && (e.Zxid == 0 || y.Zxid <= e.Zxid)
			})
			switch {
			case x.Zxid == 0:
				gone = true
			case (gone || e.Zxid == 0) && !ended, e.Zxid != 0 && e.Zxid < x.Zxid:
				return Violated
			}
		}
	}
	return OK
}

// rightInTheEnd is Convergence said in another way: for each Stop it looks for what
// was before and after.
func rightInTheEnd(h *history.History) Level {
	last := func(events []history.Event, f func(e *history.Event) bool) int {
		for i := range slices.Backward(events) {
			if f(&events[i]) {
				return i
			}
		}
		return -1
	}
	for i, stop := range h.Events {
		if stop.Op != Stop {
			continue
		}
		mine := func(op string) int {
			return last(h.Events[:i], func(e *history.Event) bool { return e.Object == stop.Object && e.Op == op })
		}
		calm, rest := last(h.Events[:i], func(e *history.Event) bool { return e.Kind == history.Calm }), mine(Rest)
		begin := last(h.Events[:i], func(e *history.Event) bool { return e.Object == stop.Object && isWatch(e.Op) })
		w := h.Events[begin]
		changed := last(h.Events, func(e *history.Event) bool {
			own, below := e.Path == w.Path, strings.HasPrefix(e.Path, w.Path+"/")
			seen := own && (w.Op == WatchData || w.Op == WatchChildren) || below && w.Op != WatchData
			return txnOp(e.Kind) != "" && seen && (w.Op != WatchChildren || e.Kind != history.Changed)
		})
		if calm < 0 || rest < calm || rest < changed {
			continue
		}
		for _, path := range groupPaths {
			single := w.Op == WatchData || w.Op == WatchChildren
			if single != (path == w.Path) {
				continue
			}
			at := last(h.Events[:i], func(e *history.Event) bool {
				return e.Object == stop.Object && e.Kind == history.Told && e.Path == path
			})
			k := slices.IndexFunc(h.Tree, func(n history.Node) bool { return n.Path == path })
			exists := k >= 0 && !(w.Op == WatchMembers && h.Tree[k].Owner == 0)
			switch {
			case at < 0:
				if exists || single {
					return Violated
				}
			case exists != (h.Events[at].Zxid != 0):
				return Violated
			case exists && w.Op == WatchChildren:
				if h.Events[at].Zxid != h.Tree[k].Pzxid || h.Events[at].Value != Fingerprint(childrenOf(h, path)...) {
					return Violated
				}
			case exists && (h.Events[at].Zxid != h.Tree[k].Mzxid || h.Events[at].Value != Fingerprint(h.Tree[k].Data)):
				return Violated
			}
		}
	}
	return OK
}

// staysMember is Departure said in another way: it looks back from each end of a znode, and
// of each that is told.
func staysMember(h *history.History) Level {
	for i, e := range h.Events {
		ends, tolds := 0, 0
		joined := map[int32]int32{} // the latest object of each client
		maker := int32(0)
		for _, x := range h.Events[:i+1] {
			switch {
			case x.Path != e.Path:
			case x.Kind == history.Return && x.Op == Join && x.Err == nil:
				joined[x.Client] = x.Object
			case x.Kind == history.Invoke && x.Op == Leave:
				delete(joined, x.Client)
			case x.Kind == history.Created:
				maker = x.Client
			case x.Kind == history.Deleted:
				ends++
			case x.Kind == history.Told && x.Op == ToldGone && x.Object == e.Object:
				tolds++
			}
		}
		if e.Kind == history.Deleted && e.Client != 0 && joined[maker] != 0 || e.Kind == history.Told &&
			e.Op == ToldGone && tolds > ends {
			return Violated
		}
	}
	return OK
}

// isPresent is Presence said in another way: it looks back from each Leave.
func isPresent(h *history.History) Level {
	if !keepsItsData(h) {
		return Violated
	}
	for i, leave := range h.Events {
		if leave.Kind != history.Invoke || leave.Op != Leave {
			continue
		}
		calm, rested, lost, owner, shared := false, false, false, int32(0), false
		for k, e := range h.Events[:i] {
			mine := e.Object == leave.Object
			switch {
			case mine && joins(&e):
				shared = sharesName(h, k, i)
			case e.Kind == history.Calm:
				calm = true
			case mine && e.Op == Rest:
				rested = calm
			case mine && e.Kind == history.Told:
				lost = e.Op == ToldLost
			case e.Path == leave.Path && e.Kind == history.Created:
				owner = e.Client
			case e.Path == leave.Path && e.Kind == history.Deleted:
				owner = 0
			}
		}
		if rested && (owner == 0 || owner == leave.Client && lost && !shared || owner != leave.Client && !lost) {
			return Violated
		}
	}
	return OK
}

// keepsItsData reports whether all znodes that a client makes by the path of a member, while it is one, have the same
// data as the last that it made in the call. It is silent about two members of a client by one path.
func keepsItsData(h *history.History) bool {
	for i, join := range h.Events {
		if !joins(&join) {
			continue
		}
		data, made, joined := "", false, false
		for n := i + 1; n < memberUntil(h, i); n++ {
			e := &h.Events[n]
			joined = joined || e.Kind == history.Return && e.Object == join.Object && e.Op == Join
			if sharesName(h, i, n) || e.Kind != history.Created || e.Client != join.Client || e.Path != join.Path {
				continue
			}
			if joined && made && e.Data != data {
				return false
			}
			data, made = e.Data, true
		}
	}
	return true
}

func joins(e *history.Event) bool { return e.Kind == history.Invoke && e.Op == Join }

// memberUntil returns the event by which the member that begins to join by event i is none any more.
func memberUntil(h *history.History, i int) int {
	for k := i + 1; k < len(h.Events); k++ {
		e := &h.Events[k]
		mine := e.Object == h.Events[i].Object && e.Client == h.Events[i].Client
		if mine && (joins(e) || e.Op == Leave || e.Kind == history.Return && e.Err != nil) {
			return k
		}
	}
	return len(h.Events)
}

// sharesName reports whether another object of the client has begun to join by the path of the member that begins by
// event i, before event n and while both were members.
func sharesName(h *history.History, i, n int) bool {
	join := &h.Events[i]
	for k, x := range h.Events[:n] {
		if joins(&x) && x.Object != join.Object && x.Client == join.Client && x.Path == join.Path && i < memberUntil(h, k) {
			return true
		}
	}
	return false
}
