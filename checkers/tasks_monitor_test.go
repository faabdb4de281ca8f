package checkers

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"zksim/model/history"
)

var tasksFamily = workload{name: "tasks", checker: Tasks{}, naive: mishandled, next: nextTask, end: endOfPool,
	world: func(h *history.History) string { return fmt.Sprint(assignments(h)) }}

// assignments returns the paths of assigned tasks.
func assignments(h *history.History) (paths []string) {
	for _, e := range h.Events {
		switch {
		case !strings.HasPrefix(e.Path, "/p/assign/"):
		case e.Kind == history.Created:
			paths = append(paths, e.Path)
		case e.Kind == history.Deleted:
			paths = drop(paths, func(p string) bool { return p == e.Path })
		}
	}
	slices.Sort(paths)
	return paths
}

// mishandled looks for each event at all that came before.
func mishandled(h *history.History) Level {
	for i, e := range h.Events {
		past := h.Events[:i]
		is := func(k history.Kind, op string) func(history.Event) bool {
			return func(x history.Event) bool { return x.Kind == k && x.Op == op && x.Value == e.Value && x.Err == nil }
		}
		wrong := false
		switch {
		case e.Kind == history.Told:
			wrong = !slices.ContainsFunc(past, is(history.Invoke, "submit"))
		case e.Kind == history.Return && e.Op == "wait" && e.Err == nil:
			wrong = !isReported(past, e.Value) || !slices.ContainsFunc(past, is(history.Told, "task"))
		case e.Kind == history.Return && e.Op == "done" && e.Err == nil:
			wrong = !isReported(past, e.Value)
		case e.Kind == history.Created:
			before := history.History{Events: past}
			wrong = slices.ContainsFunc(assignments(&before),
				func(p string) bool { return strings.HasSuffix(p, e.Path[len(e.Path)-3:]) })
		case e.Kind == history.Changed && meant(past, e.Path) != 0:
			for k, x := range past {
				wrong = wrong || x.Kind == history.Changed && meant(past[:k], x.Path) == meant(past, e.Path)
			}
		}
		if wrong {
			return Violated
		}
	}
	return levelIf(h.Outcome == history.Quiet && slices.ContainsFunc(h.Events, func(e history.Event) bool {
		return e.Kind == history.Return && e.Op == "submit" && e.Err == nil && forgotten(h, e.Value, e.Path)
	}))
}

// isReported reports whether a task is reported done.
func isReported(past []history.Event, value int64) bool {
	for k, x := range past {
		if x.Kind == history.Changed && meant(past[:k], x.Path) == value && submits(past[:k], value) {
			return true
		}
	}
	return false
}

// submits reports whether somebody begins to submit a task.
func submits(past []history.Event, value int64) bool {
	return slices.ContainsFunc(past, func(x history.Event) bool {
		return x.Kind == history.Invoke && x.Op == "submit" && x.Value == value
	})
}

// meant returns the task that a znode is known to be of, by what was said before; 0: none.
func meant(past []history.Event, path string) int64 {
	for _, e := range past {
		said := e.Kind == history.Told || e.Kind == history.Return && e.Op == "submit" && e.Err == nil
		if said && strings.HasSuffix(path, e.Path) {
			return e.Value
		}
	}
	return 0
}

// forgotten reports whether a task that was submitted was never done, and is nowhere, or
// waits although there is a worker.
func forgotten(h *history.History, value int64, id string) bool {
	submitted := false
	for i, e := range h.Events {
		submitted = submitted || e.Kind == history.Invoke && e.Op == "submit" && e.Value == value
		if submitted && e.Kind == history.Changed && meant(h.Events[:i], e.Path) == value {
			return false
		}
	}
	has := func(prefix string, data bool) bool {
		return slices.ContainsFunc(h.Tree, func(n history.Node) bool {
			return strings.HasPrefix(n.Path, prefix) && strings.HasSuffix(n.Path, id) && (!data || n.Data != "")
		})
	}
	waits := has("/p/tasks", false) || has("/p/assign", false)
	return !has("/p/status", true) && (!waits || len(h.Sessions) > 0)
}

func nextTask(r *rand.Rand, h *history.History) history.Event {
	object, begun := anyObject(r, h)
	last := int64(0)
	for _, e := range h.Events {
		if e.Kind == history.Invoke && e.Op == "submit" {
			last = max(last, e.Value)
		}
	}
	value := 1 + r.Int64N(min(last+1, 3))
	if last > 0 && r.IntN(8) > 0 {
		value = 1 + r.Int64N(last)
	}
	id := func(v int64) string { return []string{"/t", "/t", "/t", "/u"}[r.IntN(4)] + strconv.FormatInt(v, 10) }
	switch k := r.IntN(10); {
	case object == 0:
		return history.Event{Kind: history.Calm}
	case r.IntN(40) == 0:
		return history.Event{Kind: history.Crashed, Client: (object-1)%3 + 1}
	case k < 2 && last > 0:
		return history.Event{Kind: history.Told, Object: object, Op: "task", Value: value, Path: id(value)}
	case k == 2:
		return history.Event{Kind: history.Changed, Path: "/p/status" + id(value)}
	case k == 3:
		return assign(r, h, id(value))
	case begun == nil && last < 3 && r.IntN(2) == 0:
		return history.Event{Kind: history.Invoke, Object: object, Op: "submit", Value: last + 1}
	case begun == nil:
		return history.Event{Kind: history.Invoke, Object: object, Op: []string{"wait", "done"}[r.IntN(2)], Value: value,
			Path: id(value)}
	}
	e := history.Event{Kind: history.Return, Object: object, Op: begun.Op, Value: begun.Value, Path: begun.Path}
	if e.Path == "" {
		e.Path = id(e.Value)
	}
	told := func(x history.Event) bool { return x.Kind == history.Told && x.Value == e.Value }
	reported := func(x history.Event) bool { return x.Kind == history.Changed && strings.HasSuffix(x.Path, id(e.Value)) }
	known := slices.ContainsFunc(h.Events, told) && slices.ContainsFunc(h.Events, reported)
	if r.IntN(5) == 0 || r.IntN(4) > 0 && (e.Op == "wait" && !known || e.Op == "done" && !isReported(h.Events, e.Value)) {
		e.Err = errors.New("gone")
	}
	return e
}

// assign gives a task to a worker, or takes it away.
func assign(r *rand.Rand, h *history.History, id string) history.Event {
	e := history.Event{Kind: history.Created, Path: "/p/assign/" + []string{"v", "w"}[r.IntN(2)] + id}
	for _, p := range assignments(h) {
		if strings.HasSuffix(p, id) && (p == e.Path || r.IntN(4) > 0) {
			e.Kind, e.Path = history.Deleted, p
		}
	}
	return e
}

func endOfPool(r *rand.Rand, h *history.History) {
	h.Tree = nil
	add := func(path, data string) { h.Tree = append(h.Tree, history.Node{Path: path, Data: data, Owner: 12}) }
	for _, p := range assignments(h) {
		add(p, "")
	}
	for _, id := range []string{"t1", "t2", "t3", "u1"} {
		switch r.IntN(4) {
		case 0:
			add("/p/tasks/"+id, "")
		case 1:
			add("/p/status/"+id, "done")
		case 2:
			add("/p/status/"+id, "")
		}
	}
	add("/p/workers/w", "")
	if clear(h.Sessions); r.IntN(3) == 0 {
		h.Sessions[12] = 2
	}
	if h.Outcome = history.Quiet; r.IntN(3) == 0 {
		h.Outcome = history.Stopped
	}
}

// TestTheMonitorOfTasksForgetsWhichTaskWaits shows it, after a run that ends with a task that comes back, another one
// in which a txn of the same number takes one of that name from a worker.
func TestTheMonitorOfTasksForgetsWhichTaskWaits(t *testing.T) {
	m := Tasks{}.Monitor()
	m.Step(&history.History{Events: []history.Event{{Kind: history.Created, Path: "/p/tasks/t1", Zxid: 9}}}, 0)
	m.Reset()
	h := &history.History{Events: []history.Event{{Kind: history.Created, Path: "/p/workers/w1", Client: 1},
		{Kind: history.Created, Path: "/p/assign/w1/t1"}, {Kind: history.Deleted, Path: "/p/assign/w1/t1", Zxid: 9}}}
	for i := range h.Events {
		if v := m.Step(h, i); v.Level != OK {
			t.Errorf("%+v", v)
		}
	}
}
