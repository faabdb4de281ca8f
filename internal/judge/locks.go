package judge

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"

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
	wrong   []string

	// creates counts the unanswered creates by the requested path and the client.
	creates map[string]map[int32]int
	caches  map[string]map[int32]bool // clients that have watched a whole folder, by its path
	away    map[int32]bool            // clients without a connection
	earlier map[int32]bool            // clients whose sessions, and maybe znodes, were there before
	taken   map[int32][]string        // what others did to their znodes meanwhile: violations if they come back
}

// newLocks builds the locks of a history.
func newLocks(h *history.History) *locks {
	l := &locks{h: h, folders: map[string]*folder{}, byPath: map[string]*waiter{}, creates: map[string]map[int32]int{},
		caches: map[string]map[int32]bool{}, away: map[int32]bool{}, earlier: map[int32]bool{},
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
			l.moved(e)
		}
	}
	return l
}

// moved handles an event of a client's session.
func (l *locks) moved(e *history.Event) {
	if l.away[e.Client] = e.Op != zk.StateHasSession.String(); l.away[e.Client] {
		return
	}
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
	if own != nil && before(own, w) && w.client > 0 && w.client != e.Client {
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
	return l.folders[parentOf(path)]
}

// add adds a waiter that was made, or that is in a listing although no client was told that it was made. A waiter of
// the same name is then gone: the numbers start again when a folder is deleted and made again.
func (l *locks) add(path string, client int32, zxid int64) *waiter {
	in, number, library, ok := named(path)
	if !ok {
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
	w := l.byPath[e.Path]
	if w == nil || w.made > e.Zxid { // the delete of an earlier one of that name
		return
	}
	w.gone = e.Zxid
	f := l.folder(e.Path)
	f.live = slices.DeleteFunc(f.live, func(x *waiter) bool { return x == w })
	if e.Client > 0 && w.client > 0 && e.Client != w.client {
		text := fmt.Sprintf("ownership: c%d deletes %s, the lock's znode of c%d", e.Client, w.path, w.client)
		if l.away[w.client] { // it may be the same client in a new session, which cleans up after its old one
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

// asked returns the client whose unanswered create may have made a znode, 0 if there is none.
func (l *locks) asked(path string) int32 {
	const digits = len("0000000000")
	if len(path) < digits {
		return 0
	}
	open := l.creates[path[:len(path)-digits]]
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

// unheard adds a violation for a znode that still exists although its client was never told that it was made, and made
// another one before it found this one. A znode that it finds may be its lock, and the other one that of another
// thread.
func (f *folder) unheard(j *Judgement, w *waiter) {
	if !w.unheard || w.client == 0 || w.gone > 0 || w.missing > 0 {
		return
	}
	for _, x := range f.waiters {
		if x.client == w.client && !x.unheard && before(w, x) && (w.found == 0 || x.made <= w.found) {
			j.Violations = append(j.Violations, fmt.Sprintf("left over: c%d was never told that %s was made, and has made %s, "+
				"which waits for it", w.client, w.path, x.path))
			return
		}
	}
}

// guard judges the writes to a guarded znode.
func (l *locks) guard(j *Judgement, g Guard) {
	var writes []*history.Event
	for i := range l.h.Events {
		if e := &l.h.Events[i]; e.Path == g.Path && e.Kind == history.Changed {
			writes = append(writes, e)
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
	slices.SortStableFunc(writes, func(a, b *history.Event) int { return cmp.Compare(a.Zxid, b.Zxid) })
	var later, there []*waiter // in the order of their creation
	if f := l.folders[g.Folder]; f != nil {
		later = slices.Clone(f.waiters)
		slices.SortStableFunc(later, func(a, b *waiter) int { return cmp.Compare(a.made, b.made) })
	}
	known, unsure := len(later) > 0, map[int32]bool{}
	for _, e := range writes {
		for len(later) > 0 && later[0].made < e.Zxid {
			there, later = append(there, later[0]), later[1:]
		}
		there = slices.DeleteFunc(there, func(w *waiter) bool { return !w.mayBe(e.Zxid) })
		why := "and nobody has a znode of the lock"
		if known {
			why = forbids(there, e)
		}
		text := fmt.Sprintf("fencing: c%d writes %s at zxid 0x%x, %s", e.Client, e.Path, e.Zxid, why)
		switch {
		case why == "":
		case l.mayHold(there, e):
			if !unsure[e.Client] {
				j.Inconclusive = append(j.Inconclusive, text+", unless it has one that it was not heard to make")
			}
			unsure[e.Client] = true
		default:
			j.Violations = append(j.Violations, text)
		}
	}
	j.Facts = append(j.Facts, fmt.Sprintf("fencing: %s of %s, which %s guards", history.Counted(len(writes), "write"),
		g.Path, g.Folder))
}

// unknown reports whether a folder had any znodes.
func (l *locks) unknown(folder string) bool {
	return slices.ContainsFunc(l.h.Events, func(e history.Event) bool {
		return e.Kind == history.Created && parentOf(e.Path) == folder ||
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

// mayHold reports whether the client of a write may hold the lock by a znode that it was not heard to make: its session
// was there before, or nobody knows whose such a znode is, and nobody else certainly has one in front of that.
func (l *locks) mayHold(there []*waiter, e *history.Event) bool {
	return l.earlier[e.Client] || slices.ContainsFunc(there, func(x *waiter) bool {
		return x.client == 0 && !slices.ContainsFunc(there, func(w *waiter) bool {
			return w.client > 0 && w.client != e.Client && w.is(e.Zxid) && before(w, x)
		})
	})
}

// Naming is how a library names the znodes of clients that wait for a lock. The number at the end gives their order.
type Naming struct {
	Library string
	Pattern *regexp.Regexp // of the last part of the path; its last group is the number
}

// Namings are the known namings, the most specific first.
var Namings = []Naming{
	{"Kazoo", regexp.MustCompile(`^[0-9a-f]{32}__lock__(-?\d{10})$`)},
	{"Curator", regexp.MustCompile(
		`^_c_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}-(?:lock|latch)-(-?\d{10})$`)},
	{"go-zookeeper", regexp.MustCompile(`^_c_[0-9a-f]{32}-lock-(-?\d{10})$`)},
	{"the recipe of the documentation", regexp.MustCompile(`^(?:lock|latch)-(-?\d{10})$`)},
}

// named parses the path of a lock's znode: its folder, its number, and the library; ok is false for other names.
func named(path string) (folder string, number int64, library string, ok bool) {
	name := path[strings.LastIndexByte(path, '/')+1:]
	for i := range Namings {
		if m := Namings[i].Pattern.FindStringSubmatch(name); m != nil {
			number, err := strconv.ParseInt(m[len(m)-1], 10, 64)
			return parentOf(path), number, Namings[i].Library, err == nil
		}
	}
	return "", 0, "", false
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
