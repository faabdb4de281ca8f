package engine

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/hash"
	"zksim/model/history"
	"zksim/sim"
)

// Worker makes runs of a scenario elsewhere, one at a time, for example in a process of its own.
type Worker interface {
	// Run makes a run. An error says that the run could not be made, which says nothing about the code.
	Run(o *Order) (*Reply, error)
	// Close says that the worker gets no more orders.
	Close()
}

// Order is a run that a [Worker] is to make, from a seed, from bytes, or from a schedule.
type Order struct {
	By       By
	Seed     uint64
	Strategy Strategy
	Data     []byte
	Schedule Schedule
	Loose    bool   // of [sim.Replay]
	Future   uint64 // if not 0, the seed of what follows the schedule
	Path     []Turn // of [Search]
	Trace    bool   // also return the run's trace
	Until    int    // if not 0, the run ends before that step, and its process with it
	Cold     bool   // Until also applies to a run that comes before all that count, because that one ends its process
	// Then are the seeds that the same worker will probably be asked for after Seed, in this order.
	Then []uint64
}

// By is what decides the choices of a run.
type By uint8

// What can decide them.
const (
	BySeed By = iota
	ByBytes
	BySchedule
	ByPath
)

// Reply is the result of an [Order].
type Reply struct {
	Result
	Hashes []uint64 // after each step, like Names: of runs by schedule, and of violated ones
	Names  []string
	Taken  int
	Widths []Width
	Missed bool // of [Search], like Widths
	Longer bool // of [Search]
	Sight  sight
	Unfit  string // see [checkers.Vocabulary.Unfit]
	Trace  *history.Trace
	Misfit *sim.NotEnabledError
	Failed string // another error
	// Last says that the process ends with this reply.
	Last bool
	// Full says so too, of a process that has made so many runs that it makes no more.
	Full bool
	// Dead says that the run has ended its process, and how. Besides it only Names, Taken and Hung may then be set.
	Dead string
}

// sentinels are errors that checkers look for.
var sentinels = []error{context.Canceled, context.DeadlineExceeded, zk.ErrConnectionClosed, zk.ErrUnknown,
	zk.ErrAPIError, zk.ErrNoNode, zk.ErrNoAuth, zk.ErrBadVersion, zk.ErrNoChildrenForEphemerals, zk.ErrNodeExists,
	zk.ErrNotEmpty, zk.ErrSessionExpired, zk.ErrInvalidACL, zk.ErrInvalidFlags, zk.ErrAuthFailed, zk.ErrClosing,
	zk.ErrNothing, zk.ErrSessionMoved, zk.ErrReconfigDisabled, zk.ErrBadArguments, zk.ErrNoServer, zk.ErrInvalidPath}

// carried is an error of a history that was made elsewhere: its text, and which of sentinels it is.
type carried struct {
	Text string
	Of   []int
}

// Error returns the text.
func (e carried) Error() string { return e.Text }

// Is reports whether the original error was target.
func (e carried) Is(target error) bool {
	return slices.ContainsFunc(e.Of, func(i int) bool { return i < len(sentinels) && sentinels[i] == target })
}

// pack replaces the errors of a history by errors that can be sent to another process.
func pack(h *history.History) {
	for i := range h.Events {
		err := h.Events[i].Err
		if err == nil {
			continue
		}
		e := carried{Text: err.Error()}
		for k, x := range sentinels {
			if errors.Is(err, x) {
				e.Of = append(e.Of, k)
			}
		}
		h.Events[i].Err = e
	}
}

var registered sync.Once

// Carry prepares package gob for orders and replies.
func Carry() { registered.Do(func() { gob.RegisterName("zksim", carried{}) }) }

// Contractor makes the runs of orders with a runner.
type Contractor struct {
	// Last gets the reply on a run that is stopped early. It must end the process: nothing that the code would do next may
	// happen.
	Last func(*Reply)

	r        *Runner
	s        *Scenario
	coverage *coverer
	words    checkers.Vocabulary
}

// NewContractor returns a contractor for a scenario. note, if not nil, is called before each step with its name, and
// with how many names of the schedule have happened, including this one. misfit, if not nil, is called with the number
// of the first name, from 1 on, that is not possible. Code that sees the end of such a run may end the process.
func NewContractor(s *Scenario, note func(name []byte, taken int), misfit func(step int)) *Contractor {
	c := &Contractor{r: NewRunner(), s: s, coverage: newCoverer(s), words: checkers.VocabularyOf(s.Judges(), s.Words)}
	c.r.note, c.r.misfit = note, misfit
	return c
}

// Run makes a run. The reply is valid until the next one.
func (c *Contractor) Run(o *Order) *Reply {
	r, reply := c.r, &Reply{}
	r.Strategy, r.until = o.Strategy, o.Until
	r.stop = func() {
		h := r.world.History
		pack(h)
		c.Last(&Reply{Last: true, Trace: r.told, Result: Result{History: h}})
	}
	var err error
	full := true
	switch {
	case o.By == BySeed:
		reply.Result, full = r.Seed(c.s, o.Seed), false
	case o.By == ByBytes:
		reply.Result, full = r.Bytes(c.s, o.Data), false
	case o.By == ByPath:
		x := &Search{Path: o.Path}
		reply.Result, err = r.run(c.s, o.Schedule, x)
		reply.Widths, reply.Missed, reply.Longer, full = x.Widths, x.Missed, x.Longer, false
	case o.Trace:
		reply.Trace, reply.Result, err = r.Trace(c.s, o.Schedule)
	case o.Future != 0:
		reply.Result, err = r.run(c.s, o.Schedule, newFuture(o.Schedule.Names, o.Future, o.Schedule.Loose()))
	default:
		ch := &sim.Replay{Names: o.Schedule.Names, Loose: o.Loose}
		reply.Result, err = r.run(c.s, o.Schedule, ch)
		reply.Taken = ch.Taken
	}
	if err != nil && !errors.As(err, &reply.Misfit) {
		reply.Failed = err.Error()
	}
	h := r.world.History
	if err == nil {
		reply.Sight = c.coverage.look(r, &reply.Result)
		reply.Unfit = c.words.Unfit(h)
	}
	if o.By == BySeed { // the caller has the schedule of its seed
		reply.Schedule = Schedule{}
	}
	reply.Result.History = nil
	if full || reply.Verdict.Level != checkers.OK {
		pack(h)
		reply.Result.History, reply.Hashes, reply.Names = h, r.world.Hashes(), r.world.Schedule()
	}
	return reply
}

// notMade is the reason why a run could not be made. It says nothing about the run's schedule.
type notMade struct{ error }

// Unwrap returns the reason.
func (e notMade) Unwrap() error { return e.error }

// elsewhere lets the worker of the runner make a run.
func (r *Runner) elsewhere(s *Scenario, o *Order) (Result, error) {
	if r.worker == nil {
		w, err := s.Elsewhere()
		if err != nil {
			return Result{Schedule: o.Schedule}, notMade{err}
		}
		r.worker = w
	}
	order := *o
	if o.By == BySeed { // the seed gives all that the schedule says so far
		order.Schedule = Schedule{}
	}
	reply, err := r.worker.Run(&order)
	if err != nil {
		return Result{Schedule: o.Schedule}, notMade{err}
	}
	if o.By == BySeed {
		reply.Schedule = o.Schedule
	}
	r.reply = reply
	if reply.Dead != "" {
		s.bury(o, reply)
	}
	if reply.History == nil {
		reply.History = &history.History{}
	}
	switch {
	case reply.Misfit != nil:
		return reply.Result, reply.Misfit
	case reply.Failed != "":
		return reply.Result, notMade{errors.New(reply.Failed)}
	}
	return reply.Result, nil
}

// bury completes the reply of a run that has ended its process: it adds a history that says so, and the verdict.
func (s *Scenario) bury(o *Order, reply *Reply) {
	h, n := reply.History, len(reply.Names)
	if h == nil {
		h = &history.History{}
		h.Reset(0)
	}
	h.Outcome, h.Steps = history.Stopped, n
	if n > 0 {
		if f, client := faultOf(reply.Names[n-1]); f != nil {
			h.Add(history.Event{Kind: history.Fault, Client: client, Step: int32(n), Op: reply.Names[n-1]})
		}
	}
	h.Add(history.Event{Kind: history.Told, Step: int32(n), Op: checkers.ToldBroken, Path: reply.Dead})
	x := hash.Hash(0)
	reply.Hashes = reply.Hashes[:0]
	for _, name := range reply.Names {
		x = x.String(name)
		reply.Hashes = append(reply.Hashes, uint64(x))
	}
	reply.Result = Result{Schedule: o.Schedule, Steps: n, Hash: uint64(x.String(reason(reply.Dead))), History: h,
		Verdict: s.judge(h), Hung: reply.Hung, dead: true}
}

// faultOf returns the fault that a transition with this name is, and its client, if any; nil if it is none.
func faultOf(name string) (*faults.Fault, int32) {
	verb, rest, _ := strings.Cut(name, " ")
	i := slices.IndexFunc(faults.Table, func(f faults.Fault) bool { return f.Name == verb })
	if i < 0 {
		return nil, 0
	}
	client, _ := strconv.Atoi(strings.TrimPrefix(rest, "c"))
	return &faults.Table[i], int32(client)
}

// traceElsewhere is Trace. If a run ends its process, another run, which stops before the last step, tells all steps
// but that one.
func (r *Runner) traceElsewhere(s *Scenario, schedule Schedule) (*history.Trace, Result, error) {
	o := &Order{By: BySchedule, Schedule: schedule, Trace: true}
	result, err := r.elsewhere(s, o)
	if err != nil {
		return nil, result, schedule.misfit(err)
	}
	dead := r.reply
	if dead.Dead != "" && len(dead.Names) > 0 {
		o.Until = len(dead.Names)
		_, err = r.elsewhere(s, o)
		if err == nil && r.reply.Dead != "" {
			o.Cold = true
			_, err = r.elsewhere(s, o)
		}
		if err != nil {
			return nil, result, schedule.misfit(err)
		}
		alive := r.reply
		dead.History, dead.Trace, r.reply = alive.History, alive.Trace, dead
		if dead.Trace != nil && alive.Dead == "" {
			last := history.Step{Name: dead.Names[len(dead.Names)-1]}
			if f, _ := faultOf(last.Name); f != nil {
				last.Did = f.Doc
			}
			dead.Trace.Steps = append(dead.Trace.Steps, last)
		}
		s.bury(o, dead)
		result = dead.Result
	}
	if r.reply.Trace == nil { // it ended its process before its first step
		r.reply.Trace = &history.Trace{}
	}
	r.Names(&result)
	return r.reply.Trace, result, nil
}

// runElsewhere is run.
func (r *Runner) runElsewhere(s *Scenario, p Schedule, ch sim.Chooser) (Result, error) {
	o := &Order{By: BySchedule, Schedule: p}
	taken := new(int)
	switch ch := ch.(type) {
	case *sim.Replay:
		o.Schedule.Names, o.Loose, taken = ch.Names, ch.Loose, &ch.Taken
	case *future:
		o.Schedule.Names, o.Future, taken = ch.Names, ch.seed, &ch.Taken
	case *Search:
		o.By, o.Path = ByPath, ch.Path
		result, err := r.elsewhere(s, o)
		if err == nil {
			ch.Widths, ch.Missed, ch.Longer = r.reply.Widths, r.reply.Missed, r.reply.Longer
		}
		return result, err
	default:
		return Result{Schedule: p}, fmt.Errorf("runs of %s happen elsewhere, and %T cannot choose there", s.Name, ch)
	}
	result, err := r.elsewhere(s, o)
	if r.reply != nil {
		*taken = r.reply.Taken
	}
	result.Schedule = p
	return result, err
}

// Unfit returns an error that says why the operations of the run just made cannot be judged, for example because of a
// word that no checker of s knows; nil if they can.
func (r *Runner) Unfit(s *Scenario, res *Result) error {
	words := checkers.VocabularyOf(s.Judges(), s.Words)
	return r.unfit(&words, res)
}

func (r *Runner) unfit(words *checkers.Vocabulary, res *Result) error {
	if r.reply != nil {
		return unjudgeable(r.reply.Unfit)
	}
	return unjudgeable(words.Unfit(res.History))
}

// noting reports each choice of a chooser before it happens, and ends the process before the step r.until.
type noting struct {
	sim.Chooser
	r    *Runner
	name []byte
}

// Choose implements [sim.Chooser].
func (n *noting) Choose(w *sim.World) (sim.Transition, bool, error) {
	if n.r.until > 0 && w.Step()+1 >= n.r.until {
		n.r.stop()
	}
	t, more, err := n.Chooser.Choose(w)
	if more && err == nil && n.r.note != nil {
		taken := 0
		if x, ok := n.Chooser.(*sim.Replay); ok {
			taken = x.Taken
		}
		n.name = w.AppendName(n.name[:0], t)
		n.r.note(n.name, taken)
	}
	if x, ok := errors.AsType[*sim.NotEnabledError](err); ok && n.r.misfit != nil {
		n.r.misfit(x.Index + 1)
	}
	return t, more, err
}
