package checkers

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

var confPaths = [2]string{"/c", "/d"}

const flagOfUpdates = "changing"

// configFamilies are checkers of configurations that look at txns, or at sets and their dates.
var configFamilies = []workload{
	{name: "replaced", checker: Replaced{}, next: nextSet, end: nothingLeft, naive: comesBack, world: datesOf},
	{name: "conflict", checker: Conflict{Flag: flagOfUpdates}, next: nextFlagged, end: nothingLeft,
		naive: refusedAndMade},
}

func TestMonitorsOfConfigurationsRememberWhatTxnsSay(t *testing.T) {
	long(t)
	for _, f := range configFamilies {
		t.Run(f.name, f.testForgetting)
	}
}

func TestCheckersOfConfigurationsAgreeWithTheirComments(t *testing.T) {
	overtaken := workload{checker: Overtaken{Flag: flagOfUpdates}, next: nextFlagged, end: nothingLeft, naive: isOvertaken}
	for _, f := range append(slices.Clone(configFamilies), overtaken) {
		t.Run(f.checker.Name(), f.testAgreement)
	}
}

// datesOf says which changes there were, which date sets. What cannot happen is like nothing else.
func datesOf(h *history.History) string {
	for i, e := range h.Events {
		if given(&e) && !slices.Contains(zxidsOf(h.Events[:i]), e.Zxid) {
			return listed(h)
		}
	}
	return fmt.Sprint(zxidsOf(h.Events))
}

func zxidsOf(events []history.Event) (list []int64) {
	for i := range events {
		if changesOf(&events[i]) {
			list = append(list, events[i].Zxid)
		}
	}
	return list
}

// nextSet makes histories of readers of a configuration that are given sets of some date.
func nextSet(r *rand.Rand, h *history.History) history.Event {
	object, begun := anyObject(r, h)
	dates := zxidsOf(h.Events)
	switch {
	case object == 0:
		return history.Event{Kind: history.Calm}
	case len(dates) == 0 || r.IntN(4) == 0:
		return history.Event{Kind: history.Changed, Object: 0, Client: 1, Path: "/c", Zxid: int64(len(dates) + 1)}
	case begun == nil && r.IntN(2) == 0:
		return history.Event{Kind: history.Invoke, Object: object, Op: "get"}
	}
	e := history.Event{Kind: history.Told, Object: object, Op: "config", Zxid: dates[r.IntN(len(dates))]}
	if begun != nil {
		e.Kind, e.Op = history.Return, "get"
	}
	number := e.Zxid / 2 // one update may make two changes
	if r.IntN(8) == 0 {
		number = r.Int64N(4)
	}
	e.Path = fmt.Sprintf("a=%d/2 b=%d/2", number, number)
	switch r.IntN(12) {
	case 0:
		e.Path = ""
	case 1:
		if begun != nil {
			e.Err = zk.ErrConnectionClosed
		}
	}
	return e
}

// comesBack is Replaced said over whole histories: it compares all sets that were given with their dates.
func comesBack(h *history.History) Level {
	type dated struct {
		set  string
		zxid int64
	}
	var all []dated
	for _, e := range h.Events {
		if e.Err == nil && e.Path != "" && (e.Op == "config" || e.Kind == history.Return && e.Op == "get") {
			all = append(all, dated{e.Path, e.Zxid})
		}
	}
	for _, x := range all {
		for _, y := range all {
			for _, z := range all {
				if x.set == z.set && x.set != y.set && x.zxid <= y.zxid && y.zxid <= z.zxid {
					return Violated
				}
			}
		}
	}
	return OK
}

// nextFlagged makes histories of updates, of which some are made step by step.
func nextFlagged(r *rand.Rand, h *history.History) history.Event {
	object, begun := anyObject(r, h)
	numbers := int64(1)
	for _, e := range h.Events {
		numbers = max(numbers, e.Value+1)
	}
	zxid := int64(len(zxidsOf(h.Events)) + 1)
	switch k := r.IntN(12); {
	case object == 0:
		return history.Event{Kind: history.Calm}
	case k == 0 && r.IntN(3) == 0:
		return history.Event{Kind: history.Crashed, Client: ownerOf(object)}
	case begun == nil && k < 3: // what comes after an update
		return written(r, ownerOf(object), 1+r.Int64N(numbers), zxid)
	case begun == nil:
		return history.Event{Kind: history.Invoke, Object: object, Op: "update", Path: confPaths[r.IntN(4)/3], Value: numbers}
	case k < 3:
		return written(r, ownerOf(object), begun.Value, zxid)
	case k < 6:
		data := []string{flagOfUpdates, "ready"}[r.IntN(2)]
		return history.Event{Kind: history.Changed, Client: ownerOf(object), Path: confPaths[r.IntN(4)/3], Data: data,
			Zxid: zxid}
	}
	e := history.Event{Kind: history.Return, Object: object, Op: "update"}
	if k := r.IntN(8); k < 4 {
		e.Err, e.OK = zk.ErrBadVersion, true
	} else if k == 4 {
		e.Err = zk.ErrConnectionClosed
	}
	return e
}

// written is a txn that writes a value of an update.
func written(r *rand.Rand, client int32, number, zxid int64) history.Event {
	return history.Event{Kind: []history.Kind{history.Created, history.Changed}[r.IntN(2)], Client: client,
		Path: confPaths[r.IntN(4)/3] + "/a", Data: fmt.Sprint(number, "/1"), Zxid: zxid}
}

// endOf returns where the operation that began at event i ends: with its Return, a crash, or the history.
func endOf(events []history.Event, i int) int {
	for k := i + 1; k < len(events); k++ {
		e := &events[k]
		if e.Kind == history.Return && e.Object == events[i].Object ||
			e.Kind == history.Crashed && e.Client == events[i].Client {
			return k
		}
	}
	return len(events)
}

// refusedAndMade is Conflict said over whole histories.
func refusedAndMade(h *history.History) Level {
	for i, u := range h.Events {
		end := endOf(h.Events, i)
		if u.Kind != history.Invoke || end == len(h.Events) || h.Events[end].Kind != history.Return ||
			!refused(&h.Events[end]) {
			continue
		}
		beside := false
		for k, v := range h.Events {
			if v.Kind != history.Invoke || k == i || k > end {
				continue
			}
			over := endOf(h.Events, k)
			open := over == len(h.Events) || h.Events[over].Kind == history.Crashed ||
				h.Events[over].Err != nil && !h.Events[over].OK
			beside = beside || open || over > i
		}
		stepwise, made := false, false
		for k, x := range h.Events {
			if x.Client != u.Client || k < i || x.Kind != history.Created && x.Kind != history.Changed {
				continue
			}
			stepwise = stepwise || k < end && x.Path == u.Path && x.Data == flagOfUpdates
			made = made || path.Dir(x.Path) == u.Path && strings.HasPrefix(x.Data, fmt.Sprint(u.Value, "/"))
		}
		if !beside || made && !stepwise {
			return Violated
		}
	}
	return OK
}

// isOvertaken is Overtaken said over whole histories.
func isOvertaken(h *history.History) Level {
	for i, u := range h.Events {
		end := endOf(h.Events, i)
		if u.Kind != history.Invoke || end == len(h.Events) || h.Events[end].Kind != history.Return ||
			h.Events[end].Err != nil {
			continue
		}
		alone, last := true, ""
		for k, v := range h.Events[:end] {
			beside := v.Kind == history.Invoke && v.Client == u.Client && k != i
			alone = alone && !(beside && endOf(h.Events, k) > i)
			if k > i && v.Kind == history.Changed && v.Client == u.Client && v.Path == u.Path {
				last = v.Data
			}
		}
		if alone && last == flagOfUpdates {
			return Violated
		}
	}
	return OK
}
