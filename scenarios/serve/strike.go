package serve

import (
	"fmt"
	"slices"
	"time"

	"zksim/faults"
	"zksim/internal/hash"
	"zksim/internal/judge"
	"zksim/sim"
)

// Strike is a fault that has happened.
type Strike struct {
	Fault  string `json:"fault"`            // its name, such as "lose-reply"
	Client int    `json:"client,omitempty"` // 1 for c1; 0: no client
	Op     string `json:"op,omitempty"`     // of the struck request, if any
	Path   string `json:"path,omitempty"`
	Step   int    `json:"step"` // of the history
}

// String returns the name of the fault's transition, as in histories.
func (x *Strike) String() string {
	s := x.Fault
	if x.Client > 0 {
		s += fmt.Sprintf(" c%d", x.Client)
	}
	if x.Op != "" {
		s += " " + x.Op + " " + x.Path
	}
	return s
}

// maxStrikes limits how many strikes are kept.
const maxStrikes = 10_000

// strike chooses one of the possible faults. The world calls it before each step.
func (e *Ensemble) strike(list []sim.Transition) (sim.Transition, bool) {
	for _, t := range list {
		if e.passes(t) || t.Client == 0 && !e.mayElect(t.Kind) {
			continue
		}
		f := &faults.Table[t.Kind-sim.FirstFault]
		x := Strike{Fault: f.Name, Client: int(t.Client), Step: e.record.step(e.world)}
		var c *sim.Client
		if t.Client > 0 {
			c = e.world.Client(int(t.Client))
		}
		if r := f.Struck(e.world, c); r != nil {
			x.Op, x.Path = sim.OpName(r), judge.ShortPath(r.Path)
		}
		if len(e.strikes) < maxStrikes {
			e.strikes = append(e.strikes, x)
		}
		e.striking, e.ending = true, e.injector.Ending(e.world, t)
		return t, true
	}
	return sim.Transition{}, false
}

// mayElect reports whether a fault may happen to the ensemble. It may not while a server is down, which might be the
// one that is to lead. Before a client is connected, for example after a Reset, it would strike nobody, so it may only
// happen if it was ordered.
func (e *Ensemble) mayElect(k sim.Kind) bool {
	if slices.ContainsFunc(e.nodes, func(n node) bool { return n.down() }) {
		return false
	}
	for _, s := range e.sessions { // order-free: any of them
		if s.conn != nil {
			return true
		}
	}
	return e.urgent[k]
}

// passes reports whether to let a request or a moment pass that a rule would fit. One in four is struck; they are drawn
// by the seed, the fault, the client and how much it has asked so far.
func (e *Ensemble) passes(t sim.Transition) bool {
	const chance = 4
	if e.options.Seed == 0 || e.urgent[t.Kind] || e.counted(t) {
		return false
	}
	return e.draw(uint64(t.Kind), int(t.Client))%chance != 0
}

// counted reports whether a fault may come from a rule that counts requests.
func (e *Ensemble) counted(t sim.Transition) bool {
	for _, r := range e.plan {
		if r.Aim.Nth > 0 && faults.KindOf(r.Fault) == t.Kind &&
			(r.Aim.Client == 0 || r.Aim.Client == int(t.Client)) {
			return true
		}
	}
	return false
}

// draw returns a random number that depends on the seed, a purpose, a client and how much that client has asked.
func (e *Ensemble) draw(purpose uint64, client int) uint64 {
	n := e.activity
	if s := e.sessionOf(client); s != nil {
		n = uint64(s.requests)
	}
	return hash.Mix(uint64(hash.Hash(e.options.Seed).Uint64(purpose).Int(int64(client)).Uint64(n)))
}

// sessionOf returns the session of a client, 1 for c1; nil if there is none.
func (e *Ensemble) sessionOf(client int) *session {
	if client < 1 {
		return nil
	}
	if c := e.world.Client(client); c != nil {
		return e.sessions[c.Session()]
	}
	return nil
}

// endings are the ways in which rules can end connections.
var endings = map[string]ending{faults.EndInOrder: byFIN, faults.EndByReset: byRST, faults.EndTorn: torn}

// manner returns how a connection ends that the world ends.
func (e *Ensemble) manner(s *session) ending {
	const purpose = 1 << 32
	switch {
	case s.reset, s.conn != nil && e.nodes[s.conn.server].killed:
		return byRST
	case e.striking && e.ending != "":
		return endings[e.ending]
	case !e.striking || e.options.Seed == 0:
		return byFIN
	}
	return byFIN + ending(e.draw(purpose, s.client.ID())%3)
}

// steps is called before each step.
func (e *Ensemble) steps(t sim.Transition) {
	if e.record.keeps {
		e.noted = e.noteOf(t)
	}
}

// noteOf returns what a recording says of a step. One for a request that no program makes is in no recording; what a
// fault does to the connection then is.
func (e *Ensemble) noteOf(t sim.Transition) string {
	q, c := e.world.Of(t), e.world.Client(int(t.Client))
	strikes := t.Kind >= sim.FirstFault && c != nil
	if strikes {
		q = faults.Table[t.Kind-sim.FirstFault].Struck(e.world, c)
		if faults.Elects(t.Kind) {
			q = c.Unserved()
		}
	}
	switch {
	case q == nil || Played(q):
		return e.world.Name(t)
	case !strikes:
		return ""
	case faults.Elects(t.Kind):
		return e.world.Name(sim.Transition{Kind: t.Kind, Arg: t.Arg})
	case t.Kind == faults.KindOf("lose-reply"), t.Kind == faults.KindOf("deliver-close"):
		return "disconnect " + c.Name() // writes behind the request may still be executed
	}
	return "reset " + c.Name()
}

// stepped is called after each step.
func (e *Ensemble) stepped(t sim.Transition) {
	e.striking = false
	if e.record.keeps && e.noted != "" {
		e.record.note("%s", e.noted)
	}
	if e.options.Step != nil {
		e.options.Step(e.world.Name(t))
	}
}

// holds is what faults have suspended, and until when.
type holds map[sim.Transition]time.Time

// holds reports whether a step must wait: a server is down, or something that a fault has suspended stays so for a
// while.
func (e *Ensemble) holds(t sim.Transition) bool {
	switch t.Kind {
	case sim.Reap:
		return !e.reaping
	case sim.Thaw, sim.StepDown:
		if e.nodes[t.Arg].down() {
			return true
		}
	case sim.Undelay:
	default:
		return false
	}
	until, held := e.hold[t]
	if !held {
		e.hold[t] = time.Now().Add(e.options.Lag)
		e.after(e.options.Lag)
		return true
	}
	if time.Now().Before(until) {
		return true
	}
	delete(e.hold, t)
	return false
}

// after makes everything happen that can happen, some time from now.
func (e *Ensemble) after(d time.Duration) {
	e.running.Add(1)
	go func() {
		defer e.running.Done()
		select {
		case <-time.After(d + time.Millisecond):
			e.do(nil, func() error { return nil })
		case <-e.done:
		}
	}()
}

// release ends all holds.
func (e *Ensemble) release() {
	for t := range e.hold { // order-free: all of them
		e.hold[t] = time.Time{}
	}
}

// Rule is a rule of the plan, and what became of it.
type Rule struct {
	Rule     string `json:"rule"`
	Times    int    `json:"times"`    // how often it struck
	Possible bool   `json:"possible"` // it could have struck at some time
	Earlier  int    `json:"earlier"`  // how often it struck before the last reset, if it is a rule of the options
}

// rules returns what became of all rules.
func (e *Ensemble) rules() []Rule {
	list := make([]Rule, 0, len(e.plan))
	for i, x := range e.injector.Struck(nil, e.plan, e.world.History) {
		r := Rule{Rule: e.plan[i].String(), Times: x.Times, Possible: x.Possible}
		if i < len(e.earlier.times) {
			r.Earlier = e.earlier.times[i]
		}
		list = append(list, r)
	}
	return list
}
