package mutants

import (
	"context"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// HeardElection is an election whose leader does not watch for the end of its leadership itself. A listener stops the
// work when it hears of a change and the election says that the client does not lead.
type HeardElection struct {
	*Election
	leads bool
	stop  chan zk.Event
	deaf  context.CancelFunc
}

// NewHeardElection returns a candidate with the flaw ToldEarly or none.
func NewHeardElection(conn recipes.Conn, env recipes.Env, dir string, flaw Flaw) *HeardElection {
	return &HeardElection{Election: NewElection(conn, env, dir, flaw)}
}

// Campaign waits until the object leads.
func (e *HeardElection) Campaign(ctx context.Context) error {
	if err := e.Election.Campaign(ctx); err != nil {
		return err
	}
	life, end := context.WithCancel(context.Background())
	e.leads, e.stop, e.deaf = true, make(chan zk.Event, 1), end
	lost, stop := e.Election.Lost(), e.stop
	e.env.Go("listener", func() {
		_, ev, err := e.env.Await(life, lost)
		switch {
		case err != nil:
		case e.flaw == ToldEarly:
			e.heard(stop, ev)
			e.leads = false
		default:
			e.leads = false
			e.heard(stop, ev)
		}
	})
	return nil
}

// heard is the listener.
func (e *HeardElection) heard(stop chan<- zk.Event, ev zk.Event) {
	if !e.leads {
		stop <- ev //zksim:ignore has room: it was made for this
	}
}

// Lost fires when the listener stops the work.
func (e *HeardElection) Lost() <-chan zk.Event { return e.stop }

// Resign gives the leadership up.
func (e *HeardElection) Resign(ctx context.Context) error {
	e.deaf()
	return e.Election.Resign(ctx)
}
