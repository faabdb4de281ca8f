package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/sim"
)

// Trace replays a schedule and tells what each transition does and changes.
func (r *Runner) Trace(s *Scenario, schedule Schedule) (*history.Trace, Result, error) {
	if err := s.accept(&schedule); err != nil {
		return nil, Result{}, err
	}
	for n := 1; ; n++ {
		trace, result, err := r.trace(s, schedule)
		if err != nil || n >= schedule.Again.Of || schedule.Shown(result.Verdict) {
			return trace, result, err
		}
	}
}

// trace is Trace for one run.
func (r *Runner) trace(s *Scenario, schedule Schedule) (*history.Trace, Result, error) {
	if s.Elsewhere != nil {
		return r.traceElsewhere(s, schedule)
	}
	t := &tracer{world: r.world, tree: tree{leader: -1},
		Replay: sim.Replay{Names: schedule.Names, Loose: schedule.Loose()}}
	r.told = &t.trace
	t.world.OnStep = t.after
	defer func() { t.world.OnStep = nil }()
	result, err := r.run(s, schedule, t)
	if err != nil {
		return nil, result, schedule.misfit(err)
	}
	if result.Misuse != nil {
		return nil, result, result.Misuse
	}
	r.Names(&result)
	return &t.trace, result, nil
}

// tracer is a chooser that looks at the world before and after each step.
type tracer struct {
	sim.Replay
	world *sim.World
	trace history.Trace
	rows  [history.Tables]map[string]history.Row // as of the last step
	next  history.Step
	begun bool
	tree  tree // of the znodes' rows
	// then completes the text of what the step did, once the step is over.
	then func() string
}

// Choose implements [sim.Chooser].
func (t *tracer) Choose(w *sim.World) (sim.Transition, bool, error) {
	if !t.begun {
		t.begun = true
		t.trace.Rows = t.changes()
	}
	x, more, err := t.Replay.Choose(w)
	if more && err == nil {
		t.next = history.Step{Name: w.Name(x), Did: t.before(x)}
	}
	return x, more, err
}

// after notes what the step has changed.
func (t *tracer) after() {
	step := t.next
	if t.then != nil {
		step.Did, t.then = t.then(), nil
	}
	step.Time, step.Rows = t.world.Now(), t.changes()
	t.trace.Steps = append(t.trace.Steps, step)
}

// before says what x is about to do, if no event of the history will say it.
func (t *tracer) before(x sim.Transition) string {
	w := t.world
	var c *sim.Client
	if x.Client > 0 {
		c = w.Clients()[x.Client-1]
	}
	switch x.Kind {
	case sim.Serve:
		t.then = servingText(c, c.Request())
	case sim.Deliver:
		return deliveryText(c, c.Messages()[0])
	case sim.Round:
		return fmt.Sprintf("%s has tried all servers in vain; what waits to be sent fails", c.Name())
	case sim.Resume:
		return c.Name() + " goes on after its pause"
	case sim.Undelay:
		return "messages reach " + c.Name() + " again"
	case sim.Expire:
		if c.Alive() { // only code outside of the simulator is without a connection for so long
			return "the session of " + c.Name() + " expires, which has had no connection for as long as its timeout"
		}
		return "the session of " + c.Name() + ", which is gone, expires"
	case sim.Replicate:
		n := w.Next(int(x.Arg))
		return fmt.Sprintf("s%d applies zxid 0x%x: %s", x.Arg+1, n.Zxid, requestText(n.Req))
	case sim.Thaw:
		return fmt.Sprintf("s%d is no longer cut off from the leader", x.Arg+1)
	case sim.Tick:
		t.then = func() string { return "time goes on to " + (time.Duration(w.Now()) * time.Millisecond).String() }
	case sim.StepDown:
		return fmt.Sprintf("s%d finds out that another leader was elected; its connections are closed, and it catches up",
			x.Arg+1)
	case sim.Disown:
		return fmt.Sprintf("s%d, which was deposed, tells %s that its session has expired", x.Arg+1, c.Name())
	case sim.Lapse:
		if w.Like == model.Keeper {
			return "a session ends that " + c.Name() + " had before it was given another one"
		}
		return "the session of " + c.Name() + " ends, which had been told before that it was lost"
	case sim.Late:
		return fmt.Sprintf("the servers execute %s, which %s sent in an earlier session, before they were cut off from it",
			requestText(c.Straggling()), c.Name())
	case sim.Choose:
		return fmt.Sprintf("%s chooses %d", c.Name(), x.Arg)
	case sim.Reap:
		return "the leader deletes a container or ttl znode that is due"
	}
	if x.Kind >= sim.FirstFault {
		f := &faults.Table[x.Kind-sim.FirstFault]
		if struck := f.Struck(w, c); struck != nil {
			return f.Doc + ": " + requestText(struck)
		}
		return f.Doc
	}
	return ""
}

// servingText returns a function that describes a request once it is executed.
func servingText(c *sim.Client, asked *model.Request) func() string {
	r := *asked // the request may be reused by then
	return func() string {
		what := fmt.Sprintf("s%d executes %s of %s", c.Server()+1, requestText(&r), c.Name())
		if !c.Connected() {
			return what + ", sent before the connection was cut; nobody waits for the answer"
		}
		if list := c.Messages(); len(list) > 0 {
			if m := list[len(list)-1]; m.Reply == asked {
				if r.Op.IsWrite() && r.Refusal(m.Res) == model.OK {
					return what
				}
				return what + answerText(&r, m.Res)
			}
		}
		return fmt.Sprintf("%s; the answer waits until s%d has applied it", what, c.Server()+1)
	}
}

func deliveryText(c *sim.Client, m sim.Message) string {
	switch {
	case m.EOF:
		return "the connection of " + c.Name() + " is closed by its server"
	case m.Reply == nil:
		return "" // a watch event: the history tells
	case m.Reply.Op == model.OpSetWatches:
		return c.Name() + " hears that its watches are armed again"
	}
	return fmt.Sprintf("%s gets the answer to %s%s", c.Name(), requestText(m.Reply), answerText(m.Reply, m.Res))
}

// requestText describes a request in a few words.
func requestText(r *model.Request) string {
	switch r.Op {
	case model.OpMulti:
		if len(r.Ops) == 0 {
			return "an empty multi"
		}
		parts := make([]string, len(r.Ops))
		for i := range r.Ops {
			parts[i] = requestText(&r.Ops[i])
		}
		return "multi (" + strings.Join(parts, ", ") + ")"
	case model.OpCreateSession:
		return "the opening of a session"
	case model.OpCloseSession:
		return "the end of a session"
	case model.OpSetWatches:
		return "the re-arming of the watches"
	case model.OpError:
		return "a request that failed"
	}
	return sim.OpName(r) + " " + r.Path
}

// answerText describes a response, with a colon before it.
func answerText(r *model.Request, res *model.Response) string {
	if i := r.FailedOp(res); i >= 0 {
		return fmt.Sprintf(": %s fails: %s", requestText(&r.Ops[i]), reasonText(res.Results[i].Err.Err()))
	}
	if res.Err != model.OK {
		return ": " + reasonText(res.Err.Err())
	}
	switch r.Op {
	case model.OpCreate, model.OpCreateContainer, model.OpCreateTTL:
		return ": made as " + res.Path
	case model.OpGetChildren2:
		return ": " + childrenText(r.Path, res.Children)
	case model.OpGetData:
		return fmt.Sprintf(": version %d, data %s", res.Stat.Version, res.Data)
	case model.OpExists:
		return ": it is there"
	}
	return ": done"
}

// childrenText lists the paths of some children, in the order of their sequence numbers, and how many more there are.
func childrenText(parent string, children []string) string {
	const most = 12
	if len(children) == 0 {
		return "no children"
	}
	number := func(name string) string { return name[max(0, len(name)-10):] }
	paths := slices.SortedFunc(slices.Values(children), func(a, b string) int {
		return cmp.Or(strings.Compare(number(a), number(b)), strings.Compare(a, b))
	})
	more := ""
	if n := len(paths) - most; n > 0 {
		paths, more = paths[:most], fmt.Sprintf(" and %d more", n)
	}
	for i := range paths {
		paths[i] = strings.TrimSuffix(parent, "/") + "/" + paths[i]
	}
	return strings.Join(paths, ", ") + more
}

func reasonText(err error) string { return strings.TrimPrefix(err.Error(), "zk: ") }

// tree identifies a state of the znodes: that of a leader after a txn.
type tree struct {
	leader int
	zxid   int64
}

// changes returns the rows that differ from those of the last step.
func (t *tracer) changes() []history.Row {
	var list []history.Row
	seen := [history.Tables]map[string]history.Row{}
	for i := range seen {
		seen[i] = make(map[string]history.Row, len(t.rows[i]))
	}
	rows, leader := observe(t.world), t.world.Leader()
	last := t.tree
	if t.tree = (tree{leader, t.world.Stores()[leader].Zxid()}); t.tree != last {
		rows = append(rows, znodeRows(t.world)...)
	} else { // there can be many, and most steps change none
		seen[history.Znodes], t.rows[history.Znodes] = t.rows[history.Znodes], nil
	}
	for _, row := range rows {
		old, there := t.rows[row.Table][row.Key]
		if !there || !slices.Equal(old.Cells, row.Cells) {
			list = append(list, row)
		}
		seen[row.Table][row.Key] = row
	}
	for table := range t.rows {
		for key, row := range t.rows[table] { // order-free: sorted below
			if _, there := seen[table][key]; !there {
				list = append(list, history.Row{Table: row.Table, Client: row.Client, Key: key})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b history.Row) int {
		return cmp.Or(cmp.Compare(a.Table, b.Table), strings.Compare(a.Key, b.Key))
	})
	t.rows = seen
	return list
}
