package judge

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
)

// waiter is the znode of a client that waits for a lock, or holds it.
type waiter struct {
	path    string
	number  int64
	client  int32
	made    int64 // zxid
	seen    int64 // the last zxid at which it was certainly there
	gone    int64 // zxid of its deletion; 0: not heard of
	missing int64 // zxid of the first listing that lacks it without a known deletion; 0: none
	unheard bool  // no client was told that it was made
	found   int64 // zxid of the first listing in which its client saw an unheard one; 0: none
}

// isOver reports whether the znode was gone before a txn.
func (w *waiter) isOver(zxid int64) bool {
	return w.gone > 0 && w.gone < zxid || w.missing > 0 && w.missing < zxid
}

// mayBe reports whether the znode may have existed just before a txn. is reports whether it certainly did.
func (w *waiter) mayBe(zxid int64) bool {
	return w.made < zxid && (w.gone == 0 || w.gone >= zxid) && (w.missing == 0 || w.missing >= zxid)
}

func (w *waiter) is(zxid int64) bool { return w.mayBe(zxid) && (w.seen >= zxid || w.gone >= zxid) }

// owner names the client whose znode it is.
func (w *waiter) owner() string {
	if w.client == 0 {
		return "somebody"
	}
	return fmt.Sprintf("c%d", w.client)
}

// folder is one lock.
type folder struct {
	path     string
	library  string
	waiters  []*waiter
	live     []*waiter // those that are neither gone nor missing
	acquired int
	watchers map[string]map[int32]bool // of the znodes of waiters, by path
	lists    int                       // watches on the whole folder
}

// locks are the locks that the names of znodes show.
type locks struct {
	h       *history.History
	folders map[string]*folder
	byPath  map[string]*waiter
	others  map[string]map[string]*waiter // znodes with other names and a number, by folder and path
	wrong   []string

	// creates counts the unanswered creates by the requested path and the client.
	creates map[string]map[int32]int
	caches  map[string]map[int32]bool // clients that have watched a whole folder, by its path
	away    map[int32]absence         // clients without a connection
	earlier map[int32]bool            // clients whose sessions, and maybe znodes, were there before
	taken   map[int32][]string        // what others did to their znodes meanwhile: violations if they come back
}

// absence is how long a client has no connection, by positions of events.
type absence struct {
	since, until int // until the end of its session is heard
}

// newLocks builds the locks of a history.
func newLocks(h *history.History) *locks {
	l := &locks{h: h, folders: map[string]*folder{}, byPath: map[string]*waiter{},
		others: map[string]map[string]*waiter{}, creates: map[string]map[int32]int{},
		caches: map[string]map[int32]bool{}, away: map[int32]absence{}, earlier: map[int32]bool{},
		taken: map[int32][]string{}}
	for i := range h.Events {
		e := &h.Events[i]
		switch e.Kind {
		case history.Call:
			l.called(e)
		case history.Created:
			l.created(e)
		case history.Deleted:
			l.deleted(e)
		case history.Reply:
			l.replied(e)
		case history.Session:
			l.moved(e, i)
		}
	}
	return l
}

// moved handles an event of a client's session, at a position.
func (l *locks) moved(e *history.Event, at int) {
	if e.Op != zk.StateHasSession.String() {
		a, known := l.away[e.Client]
		if !known {
			a = absence{at, math.MaxInt}
		}
		if e.Op != zk.StateDisconnected.String() {
			a.until = min(a.until, at)
		}
		l.away[e.Client] = a
		return
	}
	delete(l.away, e.Client)
	l.earlier[e.Client] = l.earlier[e.Client] || e.Data == resumed
	for _, text := range l.taken[e.Client] {
		l.violation("%s", text)
	}
	delete(l.taken, e.Client)
}

func (l *locks) called(e *history.Event) {
	if e.Op == "create" || e.Op == "create2" {
		if l.creates[e.Path] == nil {
			l.creates[e.Path] = map[int32]int{}
		}
		l.creates[e.Path][e.Client]++
		return
	}
	if e.Op == "childrenW" {
		if l.caches[e.Path] == nil {
			l.caches[e.Path] = map[int32]bool{}
		}
		l.caches[e.Path][e.Client] = true
		if f := l.folders[e.Path]; f != nil {
			f.lists++
		}
		return
	}
	w := l.byPath[e.Path]
	if w == nil || e.Op != "existsW" && e.Op != "getW" {
		return
	}
	f := l.folder(e.Path)
	other := func(x *waiter) bool { return x != w && x.client == e.Client }
	if w.client == e.Client && !slices.ContainsFunc(f.live, other) { // it wants to be told of the loss of its only one
		return
	}
	if f.watchers[e.Path] == nil {
		f.watchers[e.Path] = map[int32]bool{}
	}
	f.watchers[e.Path][e.Client] = true
	if l.caches[f.path][e.Client] { // its watches on waiters may be those of a cache, which has one on each
		return
	}
	var own *waiter // the last one of this client
	for _, x := range f.live {
		if x.client == e.Client && (own == nil || before(own, x)) {
			own = x
		}
	}
	if own != nil && before(own, w) && w.client > 0 && w.client != e.Client && !l.reads(f, w, e.Client) {
		l.violation("order: c%d waits for %s of c%d, which comes behind its own %s", e.Client, w.path, w.client, own.path)
	}
}

// before reports whether a has a lower number than b. Numbers wrap around, so the sign of the difference decides.
func before(a, b *waiter) bool { return int32(a.number)-int32(b.number) < 0 }

func (l *locks) violation(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(l.wrong, text) {
		l.wrong = append(l.wrong, text)
	}
}

func (l *locks) folder(path string) *folder {
	return l.folders[model.Folder(path)]
}

// add adds a waiter that was made, or that is in a listing although no client was told that it was made. A waiter of
// the same name is then gone: the numbers start again when a folder is deleted and made again.
func (l *locks) add(path string, client int32, zxid int64) *waiter {
	in, number, library, ok := named(path)
	if !ok {
		l.other(path, client)
		return nil
	}
	f := l.folders[in]
	if f == nil {
		f = &folder{path: in, library: library, watchers: map[string]map[int32]bool{}}
		l.folders[in] = f
	}
	if old := l.byPath[path]; old != nil {
		old.missing = cmp.Or(old.missing, zxid)
		f.live = slices.DeleteFunc(f.live, func(x *waiter) bool { return x == old })
	}
	w := &waiter{path: path, number: number, client: client, made: zxid, seen: zxid}
	f.waiters, f.live = append(f.waiters, w), append(f.live, w)
	l.byPath[path] = w
	return w
}

func (l *locks) created(e *history.Event) {
	switch w := l.byPath[e.Path]; {
	case w == nil || w.made < e.Zxid:
		l.add(e.Path, e.Client, e.Zxid)
	case w.unheard: // a listing showed it before its client was told
		w.client, w.made, w.unheard = e.Client, e.Zxid, false
	}
}

func (l *locks) deleted(e *history.Event) {
	delete(l.others[model.Folder(e.Path)], e.Path)
	w := l.byPath[e.Path]
	if w == nil || w.made > e.Zxid { // the delete of an earlier one of that name
		return
	}
	w.gone = e.Zxid
	f := l.folder(e.Path)
	f.live = slices.DeleteFunc(f.live, func(x *waiter) bool { return x == w })
	if e.Client > 0 && w.client > 0 && e.Client != w.client {
		text := fmt.Sprintf("ownership: c%d deletes %s, the lock's znode of c%d", e.Client, w.path, w.client)
		if _, away := l.away[w.client]; away { // it may be the same one in a new session, which cleans up after its old one
			l.taken[w.client] = append(l.taken[w.client], text)
			return
		}
		l.violation("%s", text)
	}
}

// replied reads what an answer shows about a lock: a listing, or that a create was answered.
func (l *locks) replied(e *history.Event) {
	switch {
	case e.Op == "create" || e.Op == "create2":
		if open := l.creates[e.Path]; open[e.Client] > 1 {
			open[e.Client]--
		} else {
			delete(open, e.Client)
		}
	case e.Err != nil:
	case e.Op == "children" || e.Op == "childrenW":
		l.listed(e)
	default:
		if w := l.byPath[e.Path]; w != nil && (e.Op == "exists" || e.Op == "existsW" || e.Op == "get" || e.Op == "getW") {
			w.seen = max(w.seen, e.Zxid)
		}
	}
}

// listed handles the listing of a folder.
func (l *locks) listed(e *history.Event) {
	there := map[string]bool{}
	var first *waiter
	for name := range strings.SplitSeq(e.Data, "/") {
		if name == "" {
			continue
		}
		path := strings.TrimSuffix(e.Path, "/") + "/" + name
		there[path] = true
		w := l.byPath[path]
		if w == nil || w.isOver(e.Zxid) {
			if w = l.add(path, l.asked(path), e.Zxid); w == nil {
				continue
			}
			w.unheard = true
		}
		w.seen = max(w.seen, e.Zxid)
		if w.unheard && w.client == e.Client {
			w.found = cmp.Or(w.found, e.Zxid)
		}
		if first == nil || before(w, first) {
			first = w
		}
	}
	f := l.folders[e.Path]
	if f == nil {
		return
	}
	f.live = slices.DeleteFunc(f.live, func(w *waiter) bool {
		if there[w.path] || w.made > e.Zxid {
			return false
		}
		w.missing = e.Zxid
		return true
	})
	if first != nil && first.client == e.Client && e.Client > 0 {
		f.acquired++
	}
}

// unanswered counts the unanswered sequential creates that may have made a znode, by client.
func (l *locks) unanswered(path string) map[int32]int {
	if in := unnumbered(path); in != "" {
		return l.creates[in]
	}
	return nil
}

// asked returns the client whose unanswered create may have made a znode, 0 if there is none.
func (l *locks) asked(path string) int32 {
	open := l.unanswered(path)
	if len(open) != 1 { // with several clients, any of them may have made it
		return 0
	}
	for client := range open { // order-free: there is one
		return client
	}
	return 0
}

// judge adds what is wrong with the locks, and how much was judged.
func (l *locks) judge(j *Judgement, guards []Guard) {
	j.Violations = append(j.Violations, l.wrong...)
	for _, path := range slices.Sorted(maps.Keys(l.folders)) {
		f := l.folders[path]
		clients, most := map[int32]bool{}, 0
		for _, w := range f.waiters {
			clients[w.client] = true
			f.unheard(j, w)
		}
		for _, list := range f.watchers { // order-free: the largest
			most = max(most, len(list))
		}
		fact := fmt.Sprintf("lock %s, with names of %s: %s of %s, %s a client saw its own first, at "+
			"most %d waited for one znode", path, f.library, history.Counted(len(f.waiters), "znode"),
			history.Counted(len(clients), "client"), history.Counted(f.acquired, "time"), most)
		if f.lists > 0 {
			fact += fmt.Sprintf(", %d watches on the whole folder", f.lists)
		}
		j.Facts = append(j.Facts, fact)
	}
	for _, g := range guards {
		l.guard(j, g)
	}
}

// unheard adds that a znode still exists although its client was never told that it was made, and made another one
// before it found this one. That is a violation if the names show that both were made for the same lock. Otherwise the
// other one may be that of another thread, and this one the lock of the first, which finds it or will look for it.
func (f *folder) unheard(j *Judgement, w *waiter) {
	if !w.unheard || w.client == 0 || w.gone > 0 || w.missing > 0 {
		return
	}
	doubt := ""
	for _, x := range f.waiters {
		if x.client == w.client && !x.unheard && before(w, x) && (w.found == 0 || x.made <= w.found) {
			text := fmt.Sprintf("left over: c%d was never told that %s was made, and has made %s, which waits for it", w.client,
				w.path, x.path)
			if isOneTry(w.path, x.path) {
				j.Violations = append(j.Violations, text)
				return
			}
			doubt = cmp.Or(doubt, text+", unless they are locks of two threads")
		}
	}
	if doubt != "" {
		j.Inconclusive = append(j.Inconclusive, doubt)
	}
}

// guard judges the writes to a guarded znode.
func (l *locks) guard(j *Judgement, g Guard) {
	var writes []int // positions
	for i := range l.h.Events {
		if e := &l.h.Events[i]; e.Path == g.Path && e.Kind == history.Changed {
			writes = append(writes, i)
		}
	}
	if len(writes) == 0 {
		j.Inconclusive = append(j.Inconclusive, fmt.Sprintf("nobody has written %s, which the lock %s guards", g.Path,
			g.Folder))
		return
	}
	if l.folders[g.Folder] == nil && l.unknown(g.Folder) {
		j.Inconclusive = append(j.Inconclusive, fmt.Sprintf("the names in %s are those of no lock that is known, so nobody "+
			"can tell who may write %s", g.Folder, g.Path))
		return
	}
	slices.SortStableFunc(writes, func(a, b int) int { return cmp.Compare(l.h.Events[a].Zxid, l.h.Events[b].Zxid) })
	var later, there []*waiter // in the order of their creation
	if f := l.folders[g.Folder]; f != nil {
		later = slices.Clone(f.waiters)
		slices.SortStableFunc(later, func(a, b *waiter) int { return cmp.Compare(a.made, b.made) })
	}
	known, unsure := len(later) > 0, map[int32]bool{}
	for _, at := range writes {
		e := &l.h.Events[at]
		for len(later) > 0 && later[0].made < e.Zxid {
			there, later = append(there, later[0]), later[1:]
		}
		there = slices.DeleteFunc(there, func(w *waiter) bool { return !w.mayBe(e.Zxid) })
		why := "and nobody has a znode of the lock"
		if known {
			why = forbids(there, e)
		}
		if why == "" {
			continue
		}
		text := fmt.Sprintf("fencing: c%d writes %s at zxid 0x%x, %s", e.Client, e.Path, e.Zxid, why)
		switch unless := l.unless(there, at); {
		case unless == "":
			j.Violations = append(j.Violations, text)
		case !unsure[e.Client]:
			j.Inconclusive = append(j.Inconclusive, text+", unless it "+unless)
			unsure[e.Client] = true
		}
	}
	j.Facts = append(j.Facts, fmt.Sprintf("fencing: %s of %s, which %s guards", history.Counted(len(writes), "write"),
		g.Path, g.Folder))
}

// unknown reports whether a folder had any znodes.
func (l *locks) unknown(folder string) bool {
	return slices.ContainsFunc(l.h.Events, func(e history.Event) bool {
		return e.Kind == history.Created && model.Folder(e.Path) == folder ||
			e.Kind == history.Reply && (e.Op == "children" || e.Op == "childrenW") && e.Path == folder && e.Data != ""
	})
}

// forbids says why a client must not write while these znodes may exist, "" if it may.
func forbids(there []*waiter, e *history.Event) string {
	var own *waiter
	for _, w := range there {
		if w.client == e.Client && (own == nil || before(w, own)) {
			own = w
		}
	}
	if own == nil {
		return "and has no znode of the lock then"
	}
	for _, w := range there {
		if w.client != e.Client && w.is(e.Zxid) && before(w, own) {
			return fmt.Sprintf("when %s holds the lock with %s", w.owner(), w.path)
		}
	}
	return ""
}

// unless says why the client of a write, at a position, may hold the lock all the same, "" if it cannot. Its session
// was there before, or nobody knows whose a znode is, or that is of a client that has no connection and does not come
// back: the same program may have a new session. Nobody else certainly has a znode in front of that.
func (l *locks) unless(there []*waiter, at int) string {
	const unheard = "has one that it was not heard to make"
	e := &l.h.Events[at]
	if l.earlier[e.Client] {
		return unheard
	}
	for _, x := range there {
		a, away := l.away[x.client]
		if x.client > 0 && (!away || at < a.since || at > a.until) {
			continue
		}
		inFront := func(w *waiter) bool {
			return w.client > 0 && w.client != e.Client && w.client != x.client && w.is(e.Zxid) && before(w, x)
		}
		if slices.ContainsFunc(there, inFront) {
			continue
		}
		if x.client == 0 {
			return unheard
		}
		return fmt.Sprintf("is the program of %s, which has lost its connection, in a new session", x.owner())
	}
	return ""
}

// Guard is a znode that only the holder of a lock may write.
type Guard struct {
	Path   string
	Folder string // of the lock
}

// isPath reports whether s is a valid path of a znode.
func isPath(s string) bool {
	return strings.HasPrefix(s, "/") && !strings.Contains(s, "//") && (s == "/" || !strings.HasSuffix(s, "/"))
}

// ParseGuard reads "/path=/folder".
func ParseGuard(s string) (Guard, error) {
	path, folder, ok := strings.Cut(s, "=")
	if !ok || !isPath(path) || !isPath(folder) {
		return Guard{}, fmt.Errorf("a guard is the path of a znode and the folder of a lock, as /config=/locks/config, "+
			"not %q", s)
	}
	return Guard{path, folder}, nil
}
