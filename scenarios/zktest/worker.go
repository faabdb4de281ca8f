package zktest

import (
	"errors"
	"strings"

	"zksim/scenarios/engine"
	"zksim/sim"
)

// worker is an [engine.Worker] whose runs happen in a process.
type worker struct {
	all   *processes
	p     *process
	later bool // the last process that died had made runs before
}

// Run implements [engine.Worker].
func (w *worker) Run(o *engine.Order) (*engine.Reply, error) {
	if err := w.all.unknown(o, ""); err != nil {
		return nil, err
	}
	r, err := w.run(o)
	alone := *o
	alone.Then = nil
	switch {
	case err != nil || r.Dead == "":
	case len(r.Names) == 0: // perhaps caused by the run before
		r, err = w.run(&alone)
	case w.later && strings.HasPrefix(r.Dead, exits): // what it is said to have said may be of the run before
		if again, err := w.run(&alone); err == nil && again.Dead != "" {
			r = again
		}
	}
	switch {
	case err == nil:
		w.all.unknown(o, r.Failed)
	case err != errInterrupted:
		w.all.unknown(o, err.Error())
	}
	return r, err
}

// unknown returns why the run of a lower or the same seed is unknown, if one is, because the run of this seed is then
// useless. Otherwise it records why this run is unknown, if why is not "".
func (x *processes) unknown(o *engine.Order, why string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if o.By != engine.BySeed {
		return nil
	}
	if why != "" && (x.seed.why == nil || o.Seed < x.seed.of) {
		x.seed.of, x.seed.why = o.Seed, errors.New(why)
	}
	if o.Seed < x.seed.of {
		return nil
	}
	return x.seed.why
}

func (w *worker) run(o *engine.Order) (*engine.Reply, error) {
	if w.p == nil {
		p, err := w.all.take()
		if err != nil {
			return nil, err
		}
		w.p = p
	}
	p := w.p
	if err := p.greet(w.all.ctx); err != nil {
		w.gone()
		w.all.mu.Lock()
		w.all.none = err
		w.all.mu.Unlock()
		return nil, err
	}
	if err := p.order(o); err != nil {
		<-p.ended
		return w.died(o)
	}
	watchdog := newWatchdog(p)
	defer watchdog.Stop()
	for {
		var r *engine.Reply
		select {
		case r = <-p.replies:
		case <-p.ended:
			select {
			case r = <-p.replies: // its last
			default:
				return w.died(o)
			}
		case <-w.all.ctx.Done():
			p.kill()
			<-p.ended
			w.gone()
			return nil, errInterrupted
		case <-watchdog.C:
			watchdog.look()
			continue
		}
		if p.replied++; p.replied > p.vain {
			return w.replied(o, r), nil
		}
		if r.Full || r.Dead != "" {
			<-p.ended
			w.gone()
			return w.run(o)
		}
	}
}

// maxAhead limits how many runs are ordered before they are asked for. As many replies again may come from runs that
// are not needed any more.
const maxAhead = 32

// order orders a run, and those that will be asked for next, unless the run was ordered ahead.
func (p *process) order(o *engine.Order) error {
	if len(p.ahead) > 0 {
		if o.By == engine.BySeed && o.Strategy == p.strategy && o.Seed == p.ahead[0] {
			p.ahead = p.ahead[1:]
			return nil
		}
		p.forsake()
	}
	p.strategy, p.ahead = o.Strategy, o.Then[:min(len(o.Then), maxAhead)]
	next := *o
	next.Then = nil
	err := p.encode.Encode(&next)
	for _, next.Seed = range p.ahead {
		err = errors.Join(err, p.encode.Encode(&next))
	}
	p.ordered += int64(1 + len(p.ahead))
	return errors.Join(err, p.queue.Flush())
}

// replied completes a reply with what only the parent knows.
func (w *worker) replied(o *engine.Order, r *engine.Reply) *engine.Reply {
	switch {
	case r.Dead != "":
		<-w.p.ended
		r.Names, r.Taken = w.p.shared.names()
		if r.Dead == failing {
			r.Dead = "the test fails: " + failure(w.p.out[0].String())
		}
		w.p.parts(o, r)
		w.gone()
	case r.Last:
		<-w.p.ended
		w.gone()
	case r.Full:
		<-w.p.ended
		w.p.pass()
		w.gone()
	case len(w.p.ahead) == 0: // else the output may be of the next run, which may die of it
		w.p.passRun()
	}
	return r
}

// gone removes a process that has ended.
func (w *worker) gone() {
	w.all.give(w.p, false)
	w.all.release(w.p)
	w.p = nil
}

// died returns the reply for a run in which the process has ended. If it ended in a run that is not needed any more,
// another process makes this run.
func (w *worker) died(o *engine.Order) (*engine.Reply, error) {
	p := w.p
	if p.replied < p.vain {
		w.gone()
		return w.run(o)
	}
	defer w.gone()
	w.later = p.replied > 0
	r := &engine.Reply{}
	if p.shared.over().Load() == p.replied { // no reply is lost
		r.Names, r.Taken = p.shared.names()
	}
	var err error
	if r.Dead, r.Hung, err = p.exitReport(); err != nil {
		return nil, err
	}
	p.parts(o, r)
	return r, nil
}

// parts completes the reply for a run in which the process has ended. If the schedule did not fit, the run was over
// before that: its connections were cut, and what the code did then says nothing.
func (p *process) parts(o *engine.Order, r *engine.Reply) {
	if k := p.shared.parted(); 0 < k && k <= len(o.Schedule.Names) {
		r.Dead, r.Misfit = "", &sim.NotEnabledError{Index: k - 1, Name: o.Schedule.Names[k-1],
			Enabled: []string{"unknown, as the code then ended its process"}}
	}
}

// Close implements [engine.Worker].
func (w *worker) Close() {
	if w.p != nil {
		w.p.forsake()
		w.all.give(w.p, true)
		w.p = nil
	}
}
