// Package judge judges clients by what they and their servers say to each other, in production or in tests, in any
// language. It knows the names that libraries give to the znodes of their locks, and nothing about scenarios.
package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/model"
	"zksim/model/history"
)

// Judgement is what can be said about a run from the wire alone. The strings are sentences.
type Judgement struct {
	Violations   []string `json:"violations"`   // what must not happen
	Inconclusive []string `json:"inconclusive"` // why a violation might have gone unnoticed, or what has not happened
	Facts        []string `json:"facts"`        // how much was judged, and the largest herd
}

// New returns an empty judgement, with lists that are empty and not null.
func New() Judgement {
	return Judgement{Violations: []string{}, Inconclusive: []string{}, Facts: []string{}}
}

// Znodes judges the znodes whose operations are all known and whose creates and sets, except those that a server has
// refused, all have different data. Of the others nobody can tell which write a get has seen. A get that is recorded as
// an operation comes after a sync of its client. Znodes returns how many znodes it has judged.
func (j *Judgement) Znodes(h *history.History) int {
	unfit := unfit(h)
	n, fact := j.znodes(h, unfit)
	j.told(unfit, fact)
	return n
}

// znodes judges all znodes except the unfit ones. It returns how many it has judged, and a fact if no violation was
// found.
func (j *Judgement) znodes(h *history.History, unfit map[string]reason) (judged int, fact string) {
	orphans := returned(h, orphan)
	paths := map[string]bool{}
	kept := *h
	kept.Events = nil
	for _, x := range sinceSync(h.Events) {
		if x.Kind == history.Invoke || x.Kind == history.Return {
			if unfit[x.Path] != "" || orphans[x.Object] {
				continue
			}
			paths[x.Path] = true
		}
		kept.Events = append(kept.Events, x)
	}
	order := "zxid order"
	if !h.Txns {
		order = "some order"
	}
	v := checkers.Znodes{}.Check(&kept)
	if v.Level == checkers.OK {
		if text := goesBack(h, paths); text != "" {
			v = checkers.Verdict{Level: checkers.Violated, Message: text}
		}
	}
	switch v.Level {
	case checkers.Violated:
		j.Violations = append(j.Violations, "znodes: "+v.Message)
	case checkers.Unknown:
		j.Inconclusive = append(j.Inconclusive, "znodes: "+v.Message)
	case checkers.OK:
		if fact = "none judged"; len(paths) > 0 {
			fact = fmt.Sprintf("%d judged, all linearizable in %s", len(paths), order)
		}
	}
	return len(paths), fact
}

// goesBack finds a get whose answer is older than a state of the znode that its client had been told of, or had made,
// before it asked. This check is needed because [sinceSync] lets all gets after a sync happen in any order.
func goesBack(h *history.History, paths map[string]bool) string {
	type place struct {
		client int32
		path   string
	}
	known, made, asked := map[place]int64{}, map[place]int64{}, map[int32]int64{}
	for i := range h.Events {
		x := &h.Events[i]
		at := place{x.Client, x.Path}
		switch x.Kind {
		case history.Created, history.Changed, history.Deleted:
			made[at] = x.Zxid
		case history.Invoke:
			asked[x.Object] = known[at]
		case history.Return:
			if x.Err != nil || !paths[x.Path] {
				continue
			}
			zxid := x.Zxid
			if x.Op != "get" {
				zxid = made[at]
			} else if zxid < asked[x.Object] {
				return fmt.Sprintf("c%d's get of %s read %q of version %d, mzxid 0x%x, after its client had been told of 0x%x",
					x.Client, x.Path, x.Data, x.Version, zxid, asked[x.Object])
			}
			known[at] = max(known[at], zxid)
		}
	}
	return ""
}

// told adds to the facts what is known about znodes, and why others are not judged.
func (j *Judgement) told(unfit map[string]reason, facts ...string) {
	if len(unfit) > 0 {
		facts = append(facts, fmt.Sprintf("%d not judged (%s)", len(unfit), tally(unfit)))
	}
	if facts = slices.DeleteFunc(facts, func(s string) bool { return s == "" }); len(facts) > 0 {
		j.Facts = append(j.Facts, "znodes: "+strings.Join(facts, "; "))
	}
}

// tally says how many znodes are not judged for each reason.
func tally(unfit map[string]reason) string {
	n := map[reason]int{}
	for _, why := range unfit { // order-free: sums
		n[why]++
	}
	var words []string
	for _, why := range slices.Sorted(maps.Keys(n)) {
		words = append(words, fmt.Sprintf("%d %s", n[why], why))
	}
	return strings.Join(words, ", ")
}

// Asks reports whether an event is a request of a client.
func Asks(e history.Event) bool { return e.Kind == history.Call }

// Asked adds that there was nothing to judge: no request at all, or neither a judged znode nor an ephemeral, which
// might have been left over.
func (j *Judgement) Asked(h *history.History, judged int) {
	asked := slices.ContainsFunc(h.Events, Asks)
	ephemeral := slices.ContainsFunc(h.Events, func(x history.Event) bool {
		return x.Kind == history.Created && x.Session != 0
	})
	switch {
	case !asked:
		j.Inconclusive = append(j.Inconclusive, "no client has asked for anything")
	case judged == 0 && !ephemeral:
		j.Inconclusive = append(j.Inconclusive, "there was nothing to judge: expected an ephemeral, or a znode with a "+
			"create or set that can be judged")
	}
}

// sinceSync returns events in which each get begins at its client's last sync. A get must see only what was answered
// before that, however much later it comes.
func sinceSync(events []history.Event) []history.Event {
	synced, from := map[int32]int{}, map[int][]history.Event{} // by client; by position of the sync
	early := map[int]bool{}                                    // positions of those gets
	for i := range events {
		switch x := &events[i]; {
		case x.Kind == history.Call && x.Op == "sync":
			synced[x.Client] = i
		case x.Kind == history.Invoke && x.Op == "get":
			if at, ok := synced[x.Client]; ok {
				from[at], early[i] = append(from[at], *x), true
			}
		}
	}
	list := make([]history.Event, 0, len(events))
	for i := range events {
		if !early[i] {
			list = append(list, events[i])
		}
		list = append(list, from[i]...)
	}
	return list
}

// LeftOver adds the violation that an ephemeral exists although its client has gone.
func (j *Judgement) LeftOver(path string, client int32) {
	j.Violations = append(j.Violations, fmt.Sprintf("left over: %s of c%d, which has gone and did not close its session",
		path, client))
}

// MayComeBack adds that it is unknown whether the client of an ephemeral has gone.
func (j *Judgement) MayComeBack(path string, client int32) {
	j.Inconclusive = append(j.Inconclusive, fmt.Sprintf("left over: %s of c%d, which has lost its connection and may "+
		"come back", path, client))
}

// returned returns the operations whose answer is of some kind.
func returned(h *history.History, kind func(x *history.Event) bool) map[int32]bool {
	list := map[int32]bool{}
	for i := range h.Events {
		if x := &h.Events[i]; x.Kind == history.Return && kind(x) {
			list[x.Object] = true
		}
	}
	return list
}

// orphan reports whether a create was refused because the parent does not exist. That says nothing about the znode.
func orphan(x *history.Event) bool { return x.Op == "create" && x.Err == zk.ErrNoNode }

// denied reports whether a server has said no, so that nothing was written.
func denied(x *history.Event) bool {
	return x.Err == zk.ErrNoNode || x.Err == zk.ErrNodeExists || x.Err == zk.ErrBadVersion
}

// reason is why a znode is not judged.
type reason string

const (
	becauseBefore     reason = "there before or written by others"
	becauseEphemeral  reason = "ephemeral"
	becauseSequential reason = "sequential"
	becauseMulti      reason = "written in a multi"
	becauseServer     reason = "deleted by the server"
	becauseTwice      reason = "written twice with the same data"
)

// unfit returns the znodes that have txns which no recorded operation explains, that were written twice with the same
// data, or that existed before any client created them, each with the first reason.
func unfit(h *history.History) map[string]reason {
	type place struct {
		client int32
		path   string
		op     string
	}
	open, of := map[place]int{}, map[int32]place{}
	data, unfit, multis, denials := map[[2]string]bool{}, map[string]reason{}, multis{}, returned(h, denied)
	set := func(path string, why reason) {
		if unfit[path] == "" {
			unfit[path] = why
		}
	}
	for i := range h.Events {
		x := &h.Events[i]
		multis.see(x)
		switch x.Kind {
		case history.Call:
			switch {
			case h.Txns: // everything is known about them
			case x.Op == "multi" && x.Path != "":
				set(x.Path, becauseMulti)
			case x.Op == "createContainer" || x.Op == "createTTL": // the server deletes these, and no packet says so
				set(x.Path, becauseServer)
			}
		case history.Invoke:
			if x.Session != 0 {
				set(x.Path, becauseEphemeral)
			}
			p := place{x.Client, x.Path, x.Op}
			of[x.Object] = p
			open[p]++
			if x.Path == "/" || strings.HasPrefix(x.Path, "/zookeeper") {
				set(x.Path, becauseBefore)
			}
			if key := [2]string{x.Path, x.Data}; (x.Op == "create" || x.Op == "set") && !denials[x.Object] {
				if data[key] {
					set(x.Path, becauseTwice)
				}
				data[key] = true
			}
		case history.Return:
			open[of[x.Object]]--
		}
		if op := operations[x.Kind]; x.Session != 0 && op != "" {
			set(x.Path, becauseEphemeral)
		} else if op != "" && (open[place{x.Client, x.Path, op}] == 0 || h.Txns && multis.may(x.Client)) {
			set(x.Path, unexplained(x))
		}
	}
	return unfit
}

// multis are how many multis of each client have no answer, and how many have lost it.
type multis map[int32]struct{ open, lost int }

func (m multis) see(x *history.Event) {
	n := m[x.Client]
	switch {
	case x.Kind == history.Call && x.Op == "multi":
		n.open++
	case x.Kind == history.Reply && x.Op == "multi":
		n.open--
		if x.Err == zk.ErrConnectionClosed {
			n.lost++
		}
	case x.Kind == history.Return && x.Op != "get" && x.Err == nil: // what was asked before it is done, or never will be
		n.lost = 0
	default:
		return
	}
	m[x.Client] = n
}

// may reports whether a txn of a client may be that of a multi, and not that of an operation that was never answered.
func (m multis) may(client int32) bool { return m[client].open+m[client].lost > 0 }

// operations are the operations that make the txns of each kind.
var operations = map[history.Kind]string{history.Created: "create", history.Changed: "set", history.Deleted: "delete"}

// unexplained returns why a txn has no recorded operation.
func unexplained(x *history.Event) reason {
	const digits = 10
	n := len(x.Path) - digits
	switch {
	case x.Client == 0 && x.Kind == history.Deleted: // a container or a TTL znode
		return becauseServer
	case x.Kind == history.Created && n > 0 && strings.Trim(x.Path[n:], "-0123456789") == "":
		return becauseSequential
	}
	return becauseMulti
}

// Herd adds the largest number of notifications that one change of a znode caused. A txn may make several changes, such
// as the end of a session does. If each of them wakes one client, that is no herd. A notification counts only for a
// change of its kind. That of a deletion of which no packet tells, as at the end of a session, would otherwise count
// for the next creation.
func (j *Judgement) Herd(h *history.History) {
	type place struct {
		path string
		zxid int64
		what string // it happened there, as a notification says it
	}
	child := history.EventName(zk.EventNodeChildrenChanged)
	first := map[place]*history.Event{} // change of each txn there
	add := func(at place, x *history.Event) {
		if first[at] == nil {
			first[at] = x
		}
	}
	for i := range h.Events {
		x := &h.Events[i]
		if !x.Kind.IsChange() {
			continue
		}
		add(place{x.Path, x.Zxid, x.Kind.String()}, x)
		if x.Kind != history.Changed {
			add(place{model.Folder(x.Path), x.Zxid, child}, x)
		}
	}
	count, total := map[*history.Event]int{}, 0
	var most *history.Event
	for i := range h.Events {
		x := &h.Events[i]
		if x.Kind != history.Notify {
			continue
		}
		total++
		if c := first[place{x.Path, x.Zxid, x.Op}]; c != nil {
			if count[c]++; count[c] > count[most] {
				most = c
			}
		}
	}
	fact := fmt.Sprintf("herd: %s", history.Counted(total, "notification"))
	if most != nil {
		fact += fmt.Sprintf(", at most %d by one change (%s %s)", count[most], most.Kind, most.Path)
	}
	j.Facts = append(j.Facts, fact)
}
