package checkers

import (
	"slices"
	"strings"

	"zksim/internal/hash"
	"zksim/model/history"
)

// Tasks is what the clients of a master-worker pool rely on. A submitted task is reported done once, belongs to one
// worker at a time, and at the end is done or still there for want of workers. Workers get no other tasks. Nobody takes
// a task, or the folder of its tasks, from a worker that lives. A worker that reports is told that its report counts if
// it does, and only then. It is told that the task is no longer its own only if it is not. A client that waits for a
// task is told that it is done only after a report. The status of a task that was forgotten is gone.
//
// A task is known by its Value, which the client chose. Clients record "submit" and "wait". Workers record being told
// of a "task", and "done" when they report it. The last name in Path is the ID that the pool gave, where it is known.
// In the Path of "done", the name before it is the one by which the worker was given the task. The znodes are those of
// recipes.TaskClient.
type Tasks struct{}

// Name implements [Checker].
func (Tasks) Name() string { return "tasks" }

// Doc implements [Checker].
func (Tasks) Doc() string {
	return "every submitted task is reported done once and belongs to one worker at a time, and there are no others"
}

// Needs implements [Declaring].
func (Tasks) Needs() Needs {
	return Needs{
		Txns: true,
		Words: slices.Concat(
			judged("submits the task of Value; its end has the znode in Path", "submit"),
			judged("forgets the task in Path", "forget"),
			tells("a worker is given the task of Value, the znode in Path", "task"),
			judged("ends without an error when the task of Value, in Path, is done", "wait"),
			judged("a worker reports the task of Value done; WORKER/ID is in Path", "done")),
		Seen: []Need{some("a task that is given to a worker, told as task or by a znode below assign/WORKER",
			"record it as Told",
			func(e *history.Event) bool { return toldAs("task")(e) || assigns(e) }).during()},
	}
}

// Check implements [Checker].
func (c Tasks) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// Monitor implements [Monitored]. What has become of tasks is judged at the end.
func (Tasks) Monitor() Monitor { return newAgenda() }

// agenda is the monitor of Tasks. A value is submitted once, and an ID is given to one task.
type agenda struct {
	recipeEvents
	Tasks
	works     []work
	ids       map[string]int64  // values, by ID
	submitted []int64           // values of works whose clients were told
	owners    map[string]string // of assigned tasks, by ID: part of the tree
	workers   []registered      // that live: part of the tree
	waiting   waitingTask       // part of what the txn of the present event has made
	left      leftTask          // part of what it has deleted
	forgotten []string          // IDs of tasks
}

// waitingTask is a task that has come, or come back, to those that wait for a worker.
type waitingTask struct {
	id   string
	zxid int64
}

// leftTask is a task that has left a worker.
type leftTask struct {
	waitingTask
	owner string
}

// work is a task.
type work struct {
	value    int64
	client   int32
	id       string // "" while the client was not told that it is submitted
	told     bool   // to a worker
	reported bool
	reporter int32  // the client whose report counts; 0: none that has not been forgotten
	by       string // and its worker, where the task was assigned to one; a client may have several
}

func newAgenda() *agenda {
	return &agenda{ids: map[string]int64{}, owners: map[string]string{}}
}

// registered is a worker that lives.
type registered struct {
	name   string
	client int32
}

func (a *agenda) Reset() {
	clear(a.ids)
	clear(a.owners)
	a.works, a.submitted = a.works[:0], a.submitted[:0]
	a.workers, a.forgotten, a.waiting, a.left = a.workers[:0], a.forgotten[:0], waitingTask{}, leftTask{}
}

// find returns the task of a value, or nil if there is none.
func (a *agenda) find(value int64) *work {
	for k := range a.works {
		if w := &a.works[k]; w.value == value {
			return w
		}
	}
	return nil
}

// Hash implements [Monitor]. What was reported done need not be done at the end.
func (a *agenda) Hash() uint64 {
	var works, ids hash.Hash // in any order
	for _, w := range a.works {
		p := hash.Hash(w.value).Bool(w.told)
		if !w.reported {
			p = p.String(w.id)
		}
		works += p.Int(int64(w.reporter)).String(w.by)
	}
	for _, id := range a.forgotten {
		ids += hash.Hash(0).String(id)
	}
	for id, value := range a.ids { // order-free: a sum
		ids += hash.Hash(value).String(id)
	}
	return uint64(works.Uint64(uint64(ids)))
}

func (a *agenda) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	if e.Kind <= history.Told { // what programs say
		if why := a.heed(e); why != "" {
			return violated(a, i, "%s", why)
		}
		return Verdict{}
	}
	if worker := a.robbed(e); worker != "" {
		if a.lives(worker).client == e.Client {
			return violated(a, i, "c%d deletes %s while it is still registered as %s", e.Client, e.Path, worker)
		}
		return violated(a, i, "c%d takes %s away from %s, which lives", e.Client, e.Path, worker)
	}
	switch folder, owner, id := place(e.Path); {
	case folder == "assign" && e.Kind == history.Created:
		if other := a.owners[id]; other != "" {
			return violated(a, i, "%s is assigned to %s and to %s at once", id, other, owner)
		}
		a.owners[id] = owner
	case folder == "assign" && e.Kind == history.Deleted && a.owners[id] == owner:
		delete(a.owners, id)
		a.left = leftTask{waitingTask{id, e.Zxid}, owner}
	case folder == "status" && e.Kind == history.Deleted:
		if w := a.find(a.ids[id]); w != nil {
			w.reporter, w.by = 0, ""
		}
	case folder == "status" && e.Kind == history.Changed:
		value, known := a.ids[id]
		w := a.find(value)
		if known {
			w.reporter, w.by = e.Client, a.owners[id]
			if a.left.waitingTask == (waitingTask{id, e.Zxid}) {
				w.by = a.left.owner
			}
		}
		if known && !w.report() {
			return violated(a, i, "task %d of c%d is reported done a second time, as %s by c%d", w.value, w.client, id, e.Client)
		}
	}
	return Verdict{}
}

// robbed notes what the master moves. It returns the worker that loses something although it lives, or "" if none does.
// Tasks leave a worker for good when they are reported.
func (a *agenda) robbed(e *history.Event) string {
	folder, owner, name := place(e.Path)
	_, folders := cutLast(e.Path[:max(0, strings.LastIndexByte(e.Path, '/'))])
	switch {
	case folder == "workers" && e.Kind == history.Created:
		a.workers = append(a.workers, registered{name, e.Client})
	case folder == "workers" && e.Kind == history.Deleted:
		a.workers = drop(a.workers, func(w registered) bool { return w.name == name })
	case folder == "tasks" && e.Kind == history.Created:
		a.waiting = waitingTask{name, e.Zxid}
	case e.Kind != history.Deleted:
	case folder == "assign" && a.waiting == waitingTask{name, e.Zxid} && a.lives(owner).name != "":
		return owner
	case folders == "assign" && a.lives(name).name != "":
		return name
	}
	return ""
}

// lives returns the live worker of that name, or the zero value if there is none.
func (a *agenda) lives(name string) registered {
	for _, w := range a.workers {
		if w.name == name {
			return w
		}
	}
	return registered{}
}

// answered judges what a worker, of the name owner if that is known, is told of its report.
func (w *work) answered(e *history.Event, id, owner string) string {
	told := "c" + digits(e.Client) + " was told that its report of " + id
	if e.Err == nil && (w == nil || !w.reported) {
		return told + " counts, but nobody has reported it"
	}
	if w == nil || w.reporter == 0 {
		return ""
	}
	other := owner != "" && w.by != "" && owner != w.by
	switch {
	case e.Err == nil && w.reporter != e.Client:
		return told + " counts, but that of c" + digits(w.reporter) + " does"
	case e.Err == nil && other:
		return told + " as " + owner + " counts, but that as " + w.by + " does"
	case refused(e) && w.reporter == e.Client && !other:
		return told + " does not count, but it does"
	}
	return ""
}

// report notes that a task is reported done, and returns whether that is the first time.
func (w *work) report() bool {
	first := !w.reported
	w.reported = true
	return first
}

// heed notes what a client or a worker says, and returns what is wrong with it.
func (a *agenda) heed(e *history.Event) string {
	w := a.find(e.Value)
	above, id := cutLast(e.Path)
	_, owner := cutLast(above)
	switch {
	case e.Kind == history.Invoke && e.Op == "submit":
		a.works = append(a.works, work{value: e.Value, client: e.Client})
	case e.Kind == history.Return && e.Op == "submit" && e.Err == nil && w != nil:
		w.id = id
		a.ids[id] = w.value
		a.submitted = append(a.submitted, w.value)
	case e.Kind == history.Told && e.Op == "task" && w == nil:
		return "c" + digits(e.Client) + " was given " + id + ", which nobody has submitted"
	case e.Kind == history.Told && e.Op == "task":
		w.told = true
		a.ids[id] = w.value
	case e.Kind == history.Return && e.Op == "done" && refused(e) && owner != "" && a.owners[id] == owner:
		return "c" + digits(e.Client) + " was told that " + id + " is not its own any more, which is still assigned to " +
			owner
	case e.Kind == history.Return && e.Op == "done":
		return w.answered(e, id, owner)
	case e.Kind == history.Return && e.Op == "forget" && e.Err == nil:
		a.forgotten = append(a.forgotten, id)
	case e.Kind == history.Return && e.Op == "wait" && e.Err == nil && (w == nil || !w.told):
		return "c" + digits(e.Client) + " was told that " + id + " is done, which was given to no worker"
	case e.Kind == history.Return && e.Op == "wait" && e.Err == nil && !w.reported:
		return "c" + digits(e.Client) + " was told that " + id + " is done, which nobody has reported"
	}
	return ""
}

// end judges what has become of the tasks.
func (a *agenda) end(h *history.History) Verdict {
	waiting, done := map[string]string{}, map[string]bool{}
	worker := ""
	for _, n := range h.Tree {
		switch folder, _, id := place(n.Path); {
		case folder == "tasks" || folder == "assign":
			waiting[id] = n.Path
		case folder == "status" && slices.Contains(a.forgotten, id):
			return violated(a, -1, "%s was forgotten, and %s is left of it", id, n.Path)
		case folder == "status" && n.Data != "":
			done[id] = true
		case folder == "workers" && h.Sessions[n.Owner] != 0:
			worker = id
		}
	}
	for _, value := range a.submitted {
		switch w := a.find(value); {
		case w.reported || done[w.id]:
		case waiting[w.id] == "":
			return violated(a, -1, "task %d of c%d is lost: it was submitted as %s, was never done, and is nowhere", w.value,
				w.client, w.id)
		case worker != "":
			return violated(a, -1, "task %d of c%d still waits as %s, although %s lives", w.value, w.client, waiting[w.id],
				worker)
		}
	}
	return Verdict{}
}

// place splits the path of a pool's znode, such as /pool/assign/worker-1/task-1, into the folder, the worker in it if
// there is one, and the last name.
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
