package conform

import "slices"

// standing is the state of a client.
type standing uint8

const (
	absent standing = iota
	connected
	disconnected
	expired  // no connection, and its session has ended
	orphaned // Close was called while it had no connection: its session lives on
	gone
)

// stage says which operations make sense when. A sequence from which operations were removed must not act on clients
// that do not exist. The stage also keeps operations away from clients without a connection, whose requests would wait.
type stage struct{ clients [maxClients + 1]standing }

// allows reports whether the operation can be executed now.
func (s *stage) allows(o *Op) bool {
	if o.Session < 1 || o.Session > maxClients {
		return false
	}
	p := s.clients[o.Session]
	switch o.Kind {
	case Open:
		return p == absent
	case Close:
		return p != absent
	case Cut:
		return p == connected
	case Expire:
		return p == connected || p == disconnected || p == orphaned
	case Reconnect:
		return p == disconnected || p == expired
	}
	return p == connected || p == gone || p == orphaned
}

// executed records what the operation has led to.
func (s *stage) executed(o *Op, out *Outcome) {
	p := &s.clients[o.Session]
	switch o.Kind {
	case Open, Reconnect:
		*p = connected
	case Close:
		switch *p {
		case disconnected:
			*p = orphaned
		case connected, expired:
			*p = gone
		}
	case Cut:
		*p = disconnected
	case Expire:
		if *p == orphaned {
			*p = gone
		} else {
			*p = expired
		}
	default:
		if *p == connected && slices.Contains(out.States[sessionName(o.Session, 1)], "StateDisconnected") {
			*p = disconnected
		}
	}
}

// in returns the clients in one of the states.
func (s *stage) in(states ...standing) []int {
	var list []int
	for client := 1; client <= maxClients; client++ {
		for _, p := range states {
			if s.clients[client] == p {
				list = append(list, client)
			}
		}
	}
	return list
}
