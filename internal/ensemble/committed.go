package ensemble

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/internal/txnlog"
	"zksim/internal/wire"
	"zksim/internal/zkserver"
	"zksim/model"
	"zksim/model/history"
)

// wholeLog returns the txns of all epochs, from the logs of all servers: a server that was brought up to date by a
// snapshot has not logged what the snapshot contains. All servers serve. If only one of several servers has logged a
// txn, it may have been proposed by a leader that was deposed, and never committed. It counts if an answer shows it.
//
// Two txns with the same zxid are a contradiction.
func wholeLog(e *zkserver.Ensemble, servers int, h *history.History, looks []look) (log []txnlog.Txn,
	contradiction string, err error) {
	logs, err := logsOf(e, servers)
	if err != nil {
		return nil, "", err
	}
	log = union(logs, shown(h, looks))
	if !whole(log) {
		return nil, "", errors.New("the logs of the servers have gaps, so nobody knows what was committed")
	}
	return log, ambiguous(log, logs), nil
}

// ambiguous names a zxid that stands for one txn in the log and for another one in a server's log; "" if there is none.
func ambiguous(log []txnlog.Txn, logs [][]txnlog.Txn) string {
	is := map[int64]*txnlog.Txn{}
	for i := range log {
		is[log[i].Zxid] = &log[i]
	}
	for i, other := range logs {
		for _, t := range other {
			if x := is[t.Zxid]; x != nil && !x.Is(&t) {
				return fmt.Sprintf("the servers have logged two txns 0x%x, s%d's is %v, and another one's %v", t.Zxid, i+1, t, x)
			}
		}
	}
	return ""
}

// logsOf reads the log of each server.
func logsOf(e *zkserver.Ensemble, servers int) ([][]txnlog.Txn, error) {
	logs := make([][]txnlog.Txn, servers)
	for i := range logs {
		var err error
		if logs[i], err = txnlog.Folder(e.LogDir(i)); err != nil {
			return nil, err
		}
	}
	return logs, nil
}

// listed returns a line for each txn, in order, with the servers that have it. A zxid that stands for different txns
// has a line for each.
func listed(logs [][]txnlog.Txn) (lines []string) {
	var all []txnlog.Txn
	have := map[string][]string{} // names of the servers, by line
	for i, log := range logs {
		for _, t := range log {
			line := t.String()
			if have[line] == nil {
				all = append(all, t)
			}
			if name := fmt.Sprintf("s%d", i+1); !slices.Contains(have[line], name) { // a server may log one twice
				have[line] = append(have[line], name)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b txnlog.Txn) int { return cmp.Compare(a.Zxid, b.Zxid) })
	for _, t := range all {
		lines = append(lines, fmt.Sprintf("%v (%s)", t, strings.Join(have[t.String()], ", ")))
	}
	return lines
}

// union merges logs. reached is the highest zxid of each epoch that answers show.
func union(logs [][]txnlog.Txn, reached map[int64]int64) (all []txnlog.Txn) {
	times, last := map[int64]int{}, map[int64]int{} // how many servers have it, and the last of them
	for i, log := range logs {
		for _, t := range log {
			if times[t.Zxid] == 0 {
				all = append(all, t)
			}
			if last[t.Zxid] != i+1 { // a server may log one twice
				times[t.Zxid]++
				last[t.Zxid] = i + 1
			}
		}
	}
	slices.SortFunc(all, func(a, b txnlog.Txn) int { return cmp.Compare(a.Zxid, b.Zxid) })
	for i := range all { // within an epoch, everything before a committed txn is committed
		if z := all[i].Zxid; times[z] > 1 || len(logs) == 1 {
			reached[z>>32] = max(reached[z>>32], z)
		}
	}
	return slices.DeleteFunc(all, func(t txnlog.Txn) bool { return t.Zxid > reached[t.Zxid>>32] })
}

// shown returns the highest zxid of each epoch that an answer shows.
func shown(h *history.History, looks []look) map[int64]int64 {
	reached := map[int64]int64{}
	show := func(z int64) { reached[z>>32] = max(reached[z>>32], z) }
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Reply || e.Kind.IsChange() {
			show(e.Zxid)
		}
	}
	for i := range looks {
		show(max(looks[i].zxid, looks[i].listed))
		if stat := looks[i].stat; stat != nil {
			show(max(stat.Czxid, stat.Mzxid, stat.Pzxid))
		}
	}
	return reached
}

// whole reports whether a log begins with the first txn and lacks none: in each epoch zxids count from 1.
func whole(log []txnlog.Txn) bool {
	for i := range log {
		epoch, n := log[i].Zxid>>32, log[i].Zxid&0xffffffff
		if i == 0 || log[i-1].Zxid>>32 != epoch {
			if n != 1 {
				return false
			}
			continue
		}
		if log[i].Zxid != log[i-1].Zxid+1 {
			return false
		}
	}
	return len(log) > 0
}

// made maps writes to the kinds of their events.
var made = map[model.Op]history.Kind{model.OpCreate: history.Created, model.OpSetData: history.Changed,
	model.OpDelete: history.Deleted}

// lost describes an acknowledged write that the log lacks; "" if there is none.
func lost(h *history.History, log []txnlog.Txn) string {
	for i := range h.Events {
		e := &h.Events[i]
		if !e.Kind.IsChange() {
			continue
		}
		k, found := slices.BinarySearchFunc(log, e.Zxid, func(t txnlog.Txn, zxid int64) int {
			return cmp.Compare(t.Zxid, zxid)
		})
		if !found {
			return fmt.Sprintf("c%d was told that %s is %v at zxid 0x%x, and no server has such a txn", e.Client, e.Path, e.Kind,
				e.Zxid)
		}
		is := func(c txnlog.Change) bool { return c.Path == e.Path && made[c.Op] == e.Kind }
		if !slices.ContainsFunc(log[k].Changes, is) {
			return fmt.Sprintf("c%d was told that %s is %v at zxid 0x%x, and that txn is about something else", e.Client, e.Path,
				e.Kind, e.Zxid)
		}
	}
	return ""
}

// disorder says what is wrong with the zxids of answers; "" if nothing is. A write that begins after another was
// acknowledged has a higher zxid, and the zxids that a session sees never decrease. Clients in several have had further
// connections. It is not known which connection their events belong to, so only what they were told about writes
// counts.
func disorder(h *history.History, several map[int32]int32) string {
	seen := map[int32]int64{} // by client, in its current session
	var acknowledged int64    // the highest of all writes
	begun := map[int32][]int64{}
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case several[e.Client] > 0:
			if e.Kind.IsChange() {
				acknowledged = max(acknowledged, e.Zxid)
			}
		case e.Kind == history.Session && e.Op != zk.StateHasSession.String():
			begun[e.Client] = nil
			if e.Op == zk.StateExpired.String() {
				seen[e.Client] = 0
			}
		case e.Kind == history.Call:
			begun[e.Client] = append(begun[e.Client], acknowledged)
		case e.Kind.IsChange():
			if list := begun[e.Client]; len(list) > 0 && e.Zxid <= list[0] {
				return fmt.Sprintf("c%d's write of %s has zxid 0x%x, although 0x%x was acknowledged before it was sent", e.Client,
					e.Path, e.Zxid, list[0])
			}
			acknowledged = max(acknowledged, e.Zxid)
		case e.Kind == history.Reply:
			if list := begun[e.Client]; len(list) > 0 {
				begun[e.Client] = list[1:]
			}
			if e.Zxid > 0 && e.Zxid < seen[e.Client] { // 0: of addAuth, which follows no txn; -1: of an unknown request
				return fmt.Sprintf("c%d saw zxid 0x%x after 0x%x", e.Client, e.Zxid, seen[e.Client])
			}
			seen[e.Client] = max(seen[e.Client], e.Zxid)
		}
	}
	return ""
}

// group is a txn with its events in the history.
type group struct {
	txn     txnlog.Txn
	ended   int64 // the session that it ends; 0: none
	events  []history.Event
	shown   int // index of the first event that shows it
	present int // index of the first event after it, by the clock
}

// merge adds what was committed to the history of a run, whose clients are known by their sessions. A txn comes when it
// was proposed, by the clock, and before anything that shows it. When it ends a session, the client may not have been
// able to know that yet.
func merge(h *liveHost, groups []group) error {
	forget(h)
	if err := wire.Explain(&h.history, changesOf(groups)); err != nil {
		return err
	}
	place(h, groups)
	h.put(groups)
	h.history.Txns = true
	return nil
}

// put adds to a history the txns, and what is only known at the end.
func (h *liveHost) put(groups []group) {
	var all []history.Event
	belief, past := newBeliefs(), lookBack(h, groups)
	k := 0
	for i, e := range h.history.Events {
		for ; k < len(groups) && groups[k].present <= i; k++ {
			all = belief.commit(all, &groups[k])
		}
		more, void := past.before(i, &e)
		if all = append(all, more...); !void {
			all = belief.hear(append(all, e), &e, h.at[i])
		}
	}
	for ; k < len(groups); k++ {
		all = belief.commit(all, &groups[k])
	}
	h.history.Events = all
}

// forget drops what answers say about changes: without the log of a server, not all changes are known.
func forget(h *liveHost) {
	n, k := 0, 0
	for i, e := range h.history.Events {
		for ; k < len(h.moments) && h.moments[k].at <= i; k++ {
			h.moments[k].at = n
		}
		if !e.Kind.IsChange() {
			h.history.Events[n], h.at[n] = e, h.at[i]
			n++
		}
	}
	for ; k < len(h.moments); k++ {
		h.moments[k].at = n
	}
	h.history.Events, h.at = h.history.Events[:n], h.at[:n]
}

func changesOf(groups []group) (all []history.Event) {
	for i := range groups {
		all = append(all, groups[i].events...)
	}
	return all
}

// groupsOf returns the txns in the folder of the run, and those that end sessions of its clients.
func groupsOf(h *history.History, log []txnlog.Txn, root string, who map[int64]int32) (groups []group) {
	closing := map[int32]bool{} // clients that have asked to close their sessions
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Call && e.Op == "closeSession" {
			closing[e.Client] = true
		}
	}
	owners := map[string]int64{}
	for _, t := range log {
		g := group{txn: t}
		author := who[t.Session]
		if t.Op == model.OpCloseSession {
			if !closing[author] {
				author = 0
			}
			if who[t.Session] != 0 {
				g.ended = t.Session
			}
		}
		for _, c := range changesAt(&t, owners) {
			if !strings.HasPrefix(c.Path, root+"/") {
				continue // not in the folder
			}
			e := history.Event{Client: author, Path: c.Path, Data: c.Data, Zxid: t.Zxid, Proposed: true}
			switch c.Op {
			case model.OpCreate:
				e.Kind = history.Created
				if c.Owned {
					e.Session = t.Session
					owners[c.Path] = t.Session
				}
			case model.OpDelete:
				e.Kind, e.Session = history.Deleted, owners[c.Path]
				delete(owners, c.Path)
			default:
				e.Kind, e.Session = history.Changed, owners[c.Path]
			}
			g.events = append(g.events, e)
		}
		if len(g.events) > 0 || g.ended != 0 {
			groups = append(groups, g)
		}
	}
	return groups
}

// changesAt returns the changes of a txn. In logs of 3.5, the end of a session names no znodes; then these are the
// ephemerals that the session owns.
func changesAt(t *txnlog.Txn, owners map[string]int64) []txnlog.Change {
	if t.Op != model.OpCloseSession || len(t.Changes) > 0 {
		return t.Changes
	}
	var all []txnlog.Change
	for _, path := range slices.Sorted(maps.Keys(owners)) {
		if owners[path] == t.Session {
			all = append(all, txnlog.Change{Op: model.OpDelete, Path: path})
		}
	}
	return all
}

// place finds where in the history each txn belongs.
func place(h *liveHost, groups []group) {
	events := h.history.Events
	for i := range groups {
		groups[i].shown = len(events)
	}
	k := 0 // index of the first txn that nothing has shown yet
	for i := range events {
		if e := &events[i]; e.Kind == history.Reply || e.Kind == history.Notify {
			for ; k < len(groups) && groups[k].txn.Zxid <= e.Zxid; k++ {
				groups[k].shown = i
			}
		}
	}
	at := 0
	for i := range groups {
		g := &groups[i]
		for at < len(events) && h.at[at] < (g.txn.Time+1)*1000 { // the log has milliseconds
			at++
		}
		g.present = min(at, g.shown)
		if i > 0 {
			g.present = max(g.present, groups[i-1].present)
		}
	}
}

// beliefs tracks what clients know about their sessions.
type beliefs struct {
	has    map[connection]int64 // the session that a client believes it has, with a connection
	lost   map[connection]loss
	paused map[int32]int64 // when the code of a client was stopped that has asked for nothing and got no connection since
	ended  map[int64]bool

	several map[int32]bool // clients with further connections; a pause does not stop all of these
}

// loss says when a client lost the connection of a session.
type loss struct {
	session, at int64 // in microseconds since 1970
}

// reaction is how long, in microseconds, code may take to hear that its connection is lost. A session that ends sooner
// ends before its client could know. Servers do not end a session before a third of the timeout has passed since the
// client gave up a connection.
const reaction = 500_000

// passing is how long, in microseconds, after the beginning of a pause a request may be heard that was sent before. The
// shortest pause lasts a quarter of the session timeout.
const passing = 100_000

// connection is one of the connections of a client.
type connection struct{ client, number int32 }

func newBeliefs() *beliefs {
	return &beliefs{has: map[connection]int64{}, lost: map[connection]loss{}, paused: map[int32]int64{},
		ended: map[int64]bool{}, several: map[int32]bool{}}
}

// commit appends a txn. If the txn ends a session and the client cannot know that yet, an event that says so comes
// first.
func (b *beliefs) commit(all []history.Event, g *group) []history.Event {
	if g.ended != 0 {
		b.ended[g.ended] = true
		for c, session := range b.has { // order-free: a session has one connection
			if session == g.ended {
				all = append(all, history.Event{Kind: history.Exceeded, Client: c.client, Version: c.number})
			}
		}
		for c, l := range b.lost { // order-free: a session has one connection
			_, paused := b.paused[c.client]
			if l.session == g.ended && (paused || g.txn.Time*1000-l.at < reaction) {
				all = append(all, history.Event{Kind: history.Exceeded, Client: c.client, Version: c.number})
			}
		}
	}
	return append(all, g.events...)
}

// hear tracks an event. A server that lags, or a leader that was deposed, accepts a client whose session has ended.
func (b *beliefs) hear(all []history.Event, e *history.Event, at int64) []history.Event {
	switch {
	case e.Kind == history.Fault && strings.HasPrefix(e.Op, "pause c"): // not that of a server
		b.paused[e.Client] = at
	case e.Kind == history.Call && !b.several[e.Client] && at-b.paused[e.Client] > passing:
		delete(b.paused, e.Client) // its connection goes on, and so does its code
	}
	if e.Kind != history.Session {
		return all
	}
	if e.Version > 0 {
		b.several[e.Client] = true
	}
	c := connection{e.Client, e.Version}
	if session, connected := b.has[c]; connected {
		b.lost[c] = loss{session, at}
	}
	delete(b.has, c)
	if e.Op == zk.StateHasSession.String() {
		delete(b.lost, c)
		delete(b.paused, e.Client)
		b.has[c] = e.Session
		if b.ended[e.Session] {
			all = append(all, history.Event{Kind: history.Exceeded, Client: e.Client, Version: e.Version})
		}
	}
	return all
}
