package checkers

import (
	"strings"

	"zksim/model/history"
)

// Tasks is what the clients of a master-worker pool rely on: a task that was
// submitted is reported done once, belongs to one worker at a time, and at the
// end is done or still there for want of workers; and workers get no other tasks
// than those.
//
// A task is known by its Value, which the client chose. Clients record "submit"
// and "wait", workers record being told of a "task", and "done" when they report
// it; the last name in Path is the ID that the pool gave, where it is known. The
// znodes are those of recipes.TaskClient.
type Tasks struct{}

// Name implements [Checker].
func (Tasks) Name() string { return "tasks" }

// Doc implements [Checker].
func (Tasks) Doc() string {
	return "every submitted task is reported done once and belongs to one worker at a time, and there are no others"
}

// work is a submitted task.
type work struct {
	client   int32
	id       string // "" while the client was not told that it is submitted
	told     bool   // to a worker
	reported int
}

// Check implements [Checker].
func (c Tasks) Check(h *history.History) Verdict {
	works := map[int64]*work{}
	values := map[string]int64{} // of IDs
	owners := map[string]string{}
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind <= history.Told { // what programs say
			_, id := cutLast(e.Path)
			if why := heed(h, works, e, id); why != "" {
				return violated(c, i, "%s", why)
			}
			values[id] = e.Value
			continue
		}
		folder, owner, id := place(e.Path)
		switch {
		case folder == "assign" && e.Kind == history.Created:
			if other := owners[id]; other != "" {
				return violated(c, i, "%s is assigned to %s and to %s at once", id, other, owner)
			}
			owners[id] = owner
		case folder == "assign" && e.Kind == history.Deleted && owners[id] == owner:
			delete(owners, id)
		case folder == "status" && e.Kind == history.Changed && works[values[id]] != nil:
			if w := works[values[id]]; w.report() > 1 {
				return violated(c, i, "task %d of c%d is reported done a second time, as %s by c%d", values[id], w.client, id, e.Client)
			}
		}
	}
	return c.end(h, works)
}

func (w *work) report() int {
	w.reported++
	return w.reported
}

// heed takes note of what a client or a worker says, and returns what is wrong
// with it.
func heed(h *history.History, works map[int64]*work, e *history.Event, id string) string {
	w := works[e.Value]
	switch {
	case e.Kind == history.Invoke && e.Op == "submit":
		works[e.Value] = &work{client: e.Client}
	case e.Kind == history.Return && e.Op == "submit" && e.Err == nil && w != nil:
		w.id = id
	case e.Kind == history.Told && e.Op == "task" && w == nil:
		return "c" + digits(e.Client) + " was given " + id + ", which nobody has submitted"
	case e.Kind == history.Told && e.Op == "task":
		w.told = true
	case e.Kind == history.Return && e.Op == "wait" && e.Err == nil && (w == nil || !w.told):
		return "c" + digits(e.Client) + " was told that " + id + " is done, which was given to no worker"
	case e.Kind == history.Return && e.Op == "done" && e.Err == nil && w != nil && !h.Txns:
		if w.report() > 1 {
			return "c" + digits(e.Client) + " has reported " + id + " done, which had been reported before"
		}
	}
	return ""
}

// end judges what has become of the tasks.
func (c Tasks) end(h *history.History, works map[int64]*work) Verdict {
	if h.Outcome != history.Quiet {
		return Verdict{}
	}
	waiting, done := map[string]string{}, map[string]bool{}
	worker := ""
	for _, n := range h.Tree {
		switch folder, _, id := place(n.Path); {
		case folder == "tasks" || folder == "assign":
			waiting[id] = n.Path
		case folder == "status" && n.Data != "":
			done[id] = true
		case folder == "workers" && h.Sessions[n.Owner] != 0:
			worker = id
		}
	}
	// In the order of the history, to name the first.
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Return || e.Op != "submit" || e.Err != nil {
			continue
		}
		w := works[e.Value]
		switch {
		case w == nil || w.reported > 0 || done[w.id]:
		case waiting[w.id] == "":
			return violated(c, -1, "task %d of c%d is lost: it was submitted as %s, was never done, and is nowhere", e.Value, w.client, w.id)
		case worker != "":
			return violated(c, -1, "task %d of c%d still waits as %s, although %s lives", e.Value, w.client, waiting[w.id], worker)
		}
	}
	return Verdict{}
}

// place splits the path of a pool's znode, as /pool/assign/worker-1/task-1, into
// the folder, the worker in it if there is one, and the last name.
func place(path string) (folder, owner, name string) {
	above, name := cutLast(path)
	above, folder = cutLast(above)
	if strings.HasSuffix(above, "/assign") {
		return "assign", folder, name
	}
	if folder == "assign" {
		folder = "" // of a worker, no task
	}
	return folder, "", name
}

// cutLast splits a path at its last slash.
func cutLast(path string) (before, after string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}
