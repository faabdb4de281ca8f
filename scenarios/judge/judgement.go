// Package judge says what can be said of clients from what they and their servers say to each other: of those in
// production as of those in tests, in any language. It knows the names that libraries give to the znodes of their
// locks, and nothing of scenarios.
package judge

import (
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/model/history"
)

// Judgement is what can be said of a run from the wire alone. The strings are sentences.
type Judgement struct {
	Violations   []string `json:"violations"`   // what must not be
	Inconclusive []string `json:"inconclusive"` // why one might have gone unnoticed, or what has not happened
	Facts        []string `json:"facts"`        // how much was judged, and what the herd was
}

// Znodes judges those znodes on which the operations are all known and each create and set has data of its own: only of
// these the order can be seen. A get that is recorded as an operation is one after a sync of its client.
func (j *Judgement) Znodes(h *history.History) {
	unfit, orphans := unfit(h), orphans(h)
	paths := map[string]bool{}
	kept := *h
	kept.Events = nil
	for _, x := range sinceSync(h.Events) {
		if x.Kind == history.Invoke || x.Kind == history.Return {
			if unfit[x.Path] || orphans[x.Object] {
				continue
			}
			paths[x.Path] = true
		}
		kept.Events = append(kept.Events, x)
	}
	v := checkers.Znodes{}.Check(&kept)
	switch v.Level {
	case checkers.Violated:
		j.Violations = append(j.Violations, "znodes: "+v.Message)
	case checkers.Unknown:
		j.Inconclusive = append(j.Inconclusive, "znodes: "+v.Message)
	}
	fact := fmt.Sprintf("znodes: of %d the operations are linearizable in the order of their zxids", len(paths))
	if len(unfit) > 0 {
		fact += fmt.Sprintf("; %d are not judged: ephemeral, sequential, written in a multi, or twice with the same data",
			len(unfit))
	}
	if v.Level == checkers.OK {
		j.Facts = append(j.Facts, fact)
	}
}

// sinceSync returns events in which each get begins at the last sync that its client has asked for. What was answered
// before that is all that a get has to see, however much later it comes.
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

// orphans returns the creates that were refused because there is no parent: that says nothing of the znode.
func orphans(h *history.History) map[int32]bool {
	list := map[int32]bool{}
	for i := range h.Events {
		if x := &h.Events[i]; x.Kind == history.Return && x.Op == "create" && x.Err == zk.ErrNoNode {
			list[x.Object] = true
		}
	}
	return list
}

// unfit returns the znodes that have txns which no recorded operation explains, or data that were written twice, or
// that were there before anybody has created them.
func unfit(h *history.History) map[string]bool {
	type place struct {
		client int32
		path   string
		op     string
	}
	open, of := map[place]int{}, map[int32]place{}
	data, unfit := map[[2]string]bool{}, map[string]bool{}
	explained := func(x *history.Event, op string) {
		if open[place{x.Client, x.Path, op}] == 0 || x.Session != 0 {
			unfit[x.Path] = true
		}
	}
	for i := range h.Events {
		switch x := &h.Events[i]; x.Kind {
		case history.Invoke:
			p := place{x.Client, x.Path, x.Op}
			of[x.Object] = p
			open[p]++
			if x.Path == "/" || strings.HasPrefix(x.Path, "/zookeeper") {
				unfit[x.Path] = true
			}
			if key := [2]string{x.Path, x.Data}; x.Op == "create" || x.Op == "set" {
				unfit[x.Path] = unfit[x.Path] || data[key]
				data[key] = true
			}
		case history.Return:
			open[of[x.Object]]--
		case history.Created:
			explained(x, "create")
		case history.Changed:
			explained(x, "set")
		case history.Deleted:
			explained(x, "delete")
		}
	}
	for path, yes := range unfit { // order-free: each by itself
		if !yes {
			delete(unfit, path)
		}
	}
	return unfit
}

// Herd says how many clients one change has woken at most.
func (j *Judgement) Herd(h *history.History) {
	count, total := map[int64]int{}, 0
	first := map[int64]*history.Event{}
	most := int64(0)
	for i := range h.Events {
		switch x := &h.Events[i]; x.Kind {
		case history.Created, history.Changed, history.Deleted:
			if first[x.Zxid] == nil {
				first[x.Zxid] = x
			}
		case history.Notify:
			total++
			if count[x.Zxid]++; x.Zxid != 0 && (most == 0 || count[x.Zxid] > count[most]) {
				most = x.Zxid
			}
		}
	}
	fact := fmt.Sprintf("herd: %d notifications", total)
	if x := first[most]; x != nil {
		fact += fmt.Sprintf(", at most %d by one change (%s %s)", count[most], x.Kind, x.Path)
	}
	j.Facts = append(j.Facts, fact)
}
