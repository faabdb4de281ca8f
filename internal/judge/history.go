package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-zookeeper/zk"

	"zksim/internal/hash"
	"zksim/internal/wire"
	"zksim/model"
	"zksim/model/history"
)

// History returns what was heard so far. Every change comes before anything that was told about it, and each
// notification has the zxid of its change, if that is known. Gaps in what was heard come at the end.
func (r *Recorder) History() (*history.History, error) {
	r.mu.Lock()
	h := &history.History{}
	h.Reset(len(r.sessions))
	h.Outcome = history.Stopped
	events, gaps := slices.Concat(r.events, r.mute()), r.gaps()
	r.mu.Unlock()
	var changes []history.Event
	for i := range events {
		if events[i].Kind.IsChange() {
			changes = append(changes, events[i])
		}
	}
	slices.SortStableFunc(changes, func(a, b history.Event) int { return cmp.Compare(a.Zxid, b.Zxid) })
	h.Events = events
	err := wire.Explain(h, changes)
	h.Events = nil
	inOrder(h, events, changes)
	for _, text := range gaps {
		h.Add(history.Event{Kind: history.Told, Op: gap, Data: text, Step: int32(len(h.Events) + 1)})
	}
	return h, err
}

// inOrder adds events to a history, with the changes in the order of their zxids. No change comes before its request:
// if not all changes are heard, a notification may have the zxid of a later one.
func inOrder(h *history.History, events, changes []history.Event) {
	told := 0
	add := func(e history.Event) {
		e.Step = int32(len(h.Events) + 1)
		h.Add(e)
	}
	for i := range events {
		e := &events[i]
		if e.Kind.IsChange() {
			continue
		}
		tells := e.Kind == history.Reply || e.Kind == history.Notify
		for ; tells && told < len(changes) && changes[told].Zxid <= e.Zxid && int(changes[told].Step) < i; told++ {
			add(changes[told])
		}
		add(*e)
	}
	for _, e := range changes[told:] {
		add(e)
	}
	h.Steps = len(h.Events)
}

// Judge judges what was heard so far. See [ParseGuard] for the guards.
func (r *Recorder) Judge(guards []Guard) (Judgement, *history.History, error) {
	h, err := r.History()
	if err != nil {
		return Judgement{}, nil, err
	}
	return Judge(h, guards), h, nil
}

// Judge judges a history that a [Recorder] made.
func Judge(h *history.History, guards []Guard) Judgement {
	j := New()
	l, unfit := newLocks(h), unfit(h)
	for path := range foreign(h) { // order-free: each by itself
		if unfit[path] = becauseBefore; len(l.unanswered(path)) > 0 {
			unfit[path] = becauseSequential
		}
	}
	certain, doubtful := split(h)
	judged, fact := j.znodes(certain, unfit)
	more, other := 0, ""
	if doubtful != nil {
		more, other = j.znodes(doubtful, unfit)
	}
	switch {
	case more == 0: // else "none judged" might stand beside some that were
		other = ""
	case judged == 0:
		fact = ""
	}
	j.told(unfit, fact, other)
	l.judge(&j, guards)
	j.Herd(h)
	j.leftOver(h)
	j.Asked(h, judged+more)
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Told && e.Op == gap {
			j.Inconclusive = append(j.Inconclusive, e.Data)
		}
	}
	return j
}

// split separates the operations on znodes where the outcome of each write is known, which are ordered by their zxids,
// from the others; doubtful is nil if there are no others.
func split(h *history.History) (certain, doubtful *history.History) {
	open := map[string]bool{}   // znodes with writes whose outcome is unknown
	for _, e := range lost(h) { // order-free: a set
		open[e.Path] = true
	}
	one, other := *h, *h
	one.Events, other.Events = nil, nil
	one.Txns = true
	for _, e := range h.Events {
		switch {
		case e.Kind != history.Invoke && e.Kind != history.Return:
			one.Events, other.Events = append(one.Events, e), append(other.Events, e)
		case open[e.Path]:
			other.Events = append(other.Events, e)
			doubtful = &other
		default:
			one.Events = append(one.Events, e)
		}
	}
	return &one, doubtful
}

// lost returns the calls of writes whose outcome is unknown, by object.
func lost(h *history.History) map[int32]*history.Event {
	open := map[int32]*history.Event{}
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.Kind == history.Invoke && e.Op != "get":
			open[e.Object] = e
		case e.Kind == history.Return:
			delete(open, e.Object)
		}
	}
	return open
}

// foreign returns the znodes that existed before any client was heard to create them, and those with a version that no
// client was heard to write. Some of the clients that write them do not pass through the recorder. A write whose
// outcome is unknown may have made what is seen later.
func foreign(h *history.History) map[string]bool {
	made, open, written := map[string]bool{}, lost(h), map[txn]bool{}
	sent := map[[2]string]bool{} // paths and data of the open ones
	for _, e := range open {     // order-free: a set
		if e.Op != "delete" {
			sent[[2]string{e.Path, e.Data}] = true
		}
	}
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Created || e.Kind == history.Changed {
			written[txn{e.Path, e.Zxid}] = true
		}
	}
	list := ahead(h, open)
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Created || e.Kind == history.Invoke && e.Op == "create" && open[e.Object] == e:
			made[e.Path] = true
		case e.Kind != history.Return:
		case !made[e.Path] && (e.Err == nil && e.Op != "create" || e.Err == zk.ErrNodeExists || e.Err == zk.ErrBadVersion):
			list[e.Path] = true
		case e.Err == nil && e.Op == "get" && !written[txn{e.Path, e.Zxid}] && !sent[[2]string{e.Path, e.Data}]:
			list[e.Path] = true
		}
	}
	return list
}

// txn is a change of one znode.
type txn struct {
	path string
	zxid int64
}

// ahead returns the znodes whose versions are higher than the sets that were heard explain. A write that was not heard
// shifts all later versions, until the znode is created again. So the last one counts; one that is too high by itself
// is left for the judge.
func ahead(h *history.History, open map[int32]*history.Event) map[string]bool {
	told, sets := map[txn]int32{}, map[string]int32{} // versions; sets whose outcome is unknown, by path
	for _, e := range open {                          // order-free: sums
		if e.Op == "set" {
			sets[e.Path]++
		}
	}
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Return && e.Op == "set" && e.Err == nil {
			told[txn{e.Path, e.Zxid}] = e.Version
		}
	}
	list, now, excess := map[string]bool{}, map[string]int32{}, map[string]int32{}
	for i := range h.Events {
		switch e := &h.Events[i]; e.Kind {
		case history.Created:
			if excess[e.Path] > 0 {
				list[e.Path] = true
			}
			now[e.Path], excess[e.Path] = 0, 0
		case history.Changed:
			now[e.Path]++
			if version, ok := told[txn{e.Path, e.Zxid}]; ok {
				excess[e.Path] = version - now[e.Path] - sets[e.Path]
			}
		}
	}
	for path, n := range excess { // order-free: a set
		if n > 0 {
			list[path] = true
		}
	}
	return list
}

// looks are the operations whose error can say that a znode does not exist.
var looks = map[string]bool{"exists": true, "existsW": true, "get": true, "getW": true, "delete": true, "set": true,
	"children": true, "childrenW": true, "getACL": true, "setACL": true}

// ephemerals are the ephemerals that exist, as far as any client was told.
type ephemerals struct {
	there map[string]*history.Event  // the creates, by path
	below map[string]map[string]bool // their paths, by parent path
	of    map[int64]map[string]bool  // their paths, by session
	known map[int32]int64            // the highest zxid of an answer to each client
	asked map[string]bool            // paths that clients asked to delete
}

func newEphemerals() *ephemerals {
	return &ephemerals{map[string]*history.Event{}, map[string]map[string]bool{}, map[int64]map[string]bool{},
		map[int32]int64{}, map[string]bool{}}
}

func (x *ephemerals) see(e *history.Event) {
	switch e.Kind {
	case history.Call:
		x.asked[e.Path] = x.asked[e.Path] || e.Op == "delete" || e.Op == "multi"
	case history.Created:
		if e.Session != 0 {
			x.made(e)
		}
	case history.Deleted:
		x.gone(e.Path)
	case history.Notify:
		if e.Op == history.EventName(zk.EventNodeDeleted) {
			x.missed(e.Path, x.known[e.Client])
		}
	case history.Reply:
		x.known[e.Client] = max(x.known[e.Client], e.Zxid)
		switch {
		case e.Err == zk.ErrNoNode && looks[e.Op]:
			x.missed(e.Path, e.Zxid)
		case e.Err == nil && (e.Op == "children" || e.Op == "childrenW"):
			x.listed(e)
		}
	}
}

func (x *ephemerals) made(e *history.Event) {
	x.gone(e.Path)
	parent := model.Folder(e.Path)
	if x.below[parent] == nil {
		x.below[parent] = map[string]bool{}
	}
	if x.of[e.Session] == nil {
		x.of[e.Session] = map[string]bool{}
	}
	x.there[e.Path], x.below[parent][e.Path], x.of[e.Session][e.Path] = e, true, true
}

// listed handles the listing of a folder.
func (x *ephemerals) listed(e *history.Event) {
	if len(x.below[e.Path]) == 0 {
		return
	}
	names := map[string]bool{}
	for name := range strings.SplitSeq(e.Data, "/") {
		names[ShortPath(strings.TrimSuffix(e.Path, "/")+"/"+name)] = true
	}
	for path := range x.below[e.Path] { // order-free: each by itself
		if !names[path] {
			x.missed(path, e.Zxid)
		}
	}
}

// missed records that an ephemeral is missing at a zxid. If no client asked for that, its session has ended.
func (x *ephemerals) missed(path string, zxid int64) {
	e := x.there[path]
	if e == nil || e.Zxid > zxid {
		return
	}
	x.gone(path)
	if !x.asked[path] {
		x.ended(e.Session, zxid)
	}
}

// ended removes what a session made up to a zxid.
func (x *ephemerals) ended(session, zxid int64) {
	for path := range x.of[session] { // order-free: each by itself
		if x.there[path].Zxid <= zxid {
			x.gone(path)
		}
	}
}

func (x *ephemerals) gone(path string) {
	if e := x.there[path]; e != nil {
		delete(x.there, path)
		delete(x.below[model.Folder(path)], path)
		delete(x.of[e.Session], path)
	}
}

// leftOver finds the ephemerals of clients that left without closing their sessions, unless a client has seen that they
// are gone.
func (j *Judgement) leftOver(h *history.History) {
	last := map[int64]*history.Event{} // last event of each session
	x := newEphemerals()
	for i := range h.Events {
		e := &h.Events[i]
		if x.see(e); e.Kind == history.Session {
			if last[e.Session] = e; e.Op == zk.StateExpired.String() {
				x.ended(e.Session, math.MaxInt64)
			}
		}
	}
	for i := range h.Events {
		e := &h.Events[i]
		if s := last[e.Session]; x.there[e.Path] == e && s != nil && s.Op == zk.StateDisconnected.String() {
			switch s.Data {
			case dropped:
				j.MayComeBack(e.Path, s.Client)
			case closing: // the server deletes it, or keeps it until the timeout
			default:
				j.LeftOver(e.Path, s.Client)
			}
		}
	}
	if left := len(x.there); left > 0 {
		j.Facts = append(j.Facts, fmt.Sprintf("ephemerals: %d are there at the end, or were when they were last heard of",
			left))
	}
}

const (
	// longData is the length above which a history has the length and hash of data instead. It also has these for data
	// that is not UTF-8.
	longData = 256
	// longPath is the length above which it has them for a path, after the beginning of the path.
	longPath      = 512
	pathBeginning = 64
)

// ShortData returns data as it appears in a history and in its file. Different data stays different.
func ShortData(s string) string {
	if len(s) <= longData && utf8.ValidString(s) {
		return s
	}
	return digest(s)
}

// ShortPath returns a path as it appears in a history. Different paths stay different.
func ShortPath(s string) string {
	if len(s) <= longPath {
		return s
	}
	n := pathBeginning
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.Clone(s[:n]) + "... " + digest(s)
}

func digest(s string) string {
	return fmt.Sprintf("%d bytes, hash %016x", len(s), uint64(hash.Hash(0).String(s)))
}
