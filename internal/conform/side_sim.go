package conform

import (
	"context"
	"fmt"
	"iter"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
	"zksim/sim"
)

// side is one of the two ensembles during one sequence.
type side interface {
	// do executes an operation and waits until nothing more happens. An error means that the side is broken, not that the
	// operation failed.
	do(ctx context.Context, step int, o *Op) (Outcome, error)
	close()
}

// maxClients limits how many clients a sequence can open.
const maxClients = 12

// simSide is the simulated ensemble. It is the chooser of its world: it takes steps in a fixed order of preference
// until none is left, and then hands control back to do.
type simSide struct {
	*observer
	world *sim.World
	root  string

	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool

	op     *Op
	active int // client whose code may run; 0: none
	out    Outcome
	watch  *watch
	seen   int // events of the history that were looked at
}

// newSimSide starts a sequence in w.
func newSimSide(w *sim.World, servers int, like model.Like, root string) *simSide {
	s := &simSide{observer: newObserver(), world: w, root: root}
	const endless = 1 << 30
	w.Reset(sim.Config{Clients: maxClients, Servers: servers, Like: like, SafetySteps: endless, MaxSteps: endless},
		s, s.program)
	w.Prepare(model.Request{Op: model.OpCreate, Path: root, ACL: zk.WorldACL(zk.PermAll)})
	s.next, s.stop = iter.Pull(func(yield func(struct{}) bool) {
		s.yield = yield
		w.Run(s) // ends without an error, when yield says so
	})
	s.next()
	return s
}

func (s *simSide) close() { s.stop() }

func (s *simSide) do(_ context.Context, step int, o *Op) (Outcome, error) {
	s.op, s.out, s.watch = o, Outcome{}, nil
	if _, more := s.next(); !more {
		return Outcome{}, fmt.Errorf("the simulated client panicked: %s", s.world.History.Panic)
	}
	if s.active != 0 {
		return Outcome{}, fmt.Errorf("the simulator never finished %v", o)
	}
	if s.watch != nil {
		s.watch.step = step
		s.watches = append(s.watches, s.watch)
	}
	s.listen()
	s.take(&s.out)
	return s.out, nil
}

// Choose implements [sim.Chooser].
func (s *simSide) Choose(w *sim.World) (sim.Transition, bool, error) {
	for {
		for _, t := range w.Normal() {
			switch t.Kind {
			case sim.Serve, sim.Replicate, sim.Deliver:
				return t, true, nil
			case sim.Run:
				if int(t.Client) == s.active {
					return t, true, nil
				}
			}
		}
		if !s.yield(struct{}{}) {
			return sim.Transition{}, false, nil
		}
		switch s.op.Kind {
		case Open, Reconnect, Cut, Expire:
			return sim.Transition{Kind: act, Client: uint32(s.op.Session)}, true, nil
		}
		s.active = s.op.Session
	}
}

// act is the transition for an act on a session. The side is also the injector of its world.
const act = sim.FirstFault

// Enabled implements [sim.Injector]. It adds nothing, because only do makes things happen.
func (s *simSide) Enabled(_ *sim.World, list []sim.Transition) []sim.Transition { return list }

// Issued implements [sim.Injector].
func (s *simSide) Issued(*sim.Client, *model.Request) {}

// Moved implements [sim.Injector].
func (s *simSide) Moved(_ *sim.Client, _, _ *model.Request) {}

func (s *simSide) Aimed(*sim.Client, *model.Request) uint64 { return 0 }

// Fingerprint implements [sim.Injector]. No search uses it here.
func (s *simSide) Fingerprint() uint64 { return 0 }

// Verb implements [sim.Injector].
func (s *simSide) Verb(sim.Kind) string { return "act" }

// Apply implements [sim.Injector].
func (s *simSide) Apply(w *sim.World, t sim.Transition) {
	c := w.Clients()[t.Client-1]
	switch s.op.Kind {
	case Open, Reconnect:
		for !c.Connected() { // the first time may only tell that the session has expired
			c.Reconnect(s.op.Server)
		}
	case Cut:
		c.Drop()
	case Expire:
		if c.Connected() {
			c.Drop()
		}
		c.Expire()
	}
}

// program is the code of every client. It makes one call whenever it may run.
func (s *simSide) program(c *sim.Client) {
	for {
		if s.op.Kind == Close {
			c.Conn().Close()
		} else {
			s.out, s.watch = call(c.Conn(), s.op, s.root, s.owner)
		}
		s.active = 0
		c.Conn().State() // the others' turn
	}
}

// listen reads what the history says about the clients since the last time.
func (s *simSide) listen() {
	for ; s.seen < len(s.world.History.Events); s.seen++ {
		e := &s.world.History.Events[s.seen]
		client := int(e.Client)
		switch e.Kind {
		case history.Notify:
			s.observer.events[client] = append(s.observer.events[client], e.Op+" "+e.Path)
		case history.Session:
			s.states[client] = append(s.states[client], e.Op)
			if e.Op == zk.StateHasSession.String() {
				s.out.Session = s.session(client, e.Session)
			}
		}
	}
}
