package sim

import (
	"zksim/model"
	"zksim/model/history"
)

// Replica executes requests on a server of which only the state is known, and ends connections, without any client's
// code: what a server makes of these depends on nothing else.
type Replica struct{ w *World }

// NewReplica returns one for runs of that many clients whose states say as much.
func NewReplica(clients int, d Detail) *Replica {
	w := NewWorld()
	w.Detail = d
	w.servers = []*server{newServer(w, 0)}
	for id := 1; id <= clients; id++ {
		c := &Client{w: w, id: id}
		c.host = c
		c.conn.Index = id
		w.clients = append(w.clients, c)
	}
	return &Replica{w}
}

// Served is what came of a request.
type Served struct {
	Servers *Servers
	Sent    [][]uint64      // by client, c1 first: hashes of messages
	Told    []history.Event // of no step
}

// Serve executes the next request of a client at a virtual time; false if it needs more than these servers and
// the identities of the clients.
func (x *Replica) Serve(s *Servers, clients []*Part, client int, now int64) (after Served, ok bool) {
	p := clients[client-1]
	next := p.next()
	if s.snapshot == nil || next == nil || !standard(next.req) {
		return Served{}, false
	}
	w := x.w
	w.restore(s.snapshot, clients)
	w.now = now
	c := w.clients[client-1]
	if c.connected = p.connected; c.connected {
		r := &request{req: *next.req}
		if next.from != 0 {
			r.g = &coroutine{title: next.from}
		}
		c.wire = append(c.wire, r)
	} else {
		c.late = append(c.late, *next.req)
	}
	c.serve()
	after.Servers = w.Servers()
	for _, c := range w.clients {
		var sent []uint64
		for i := range c.down {
			sent = append(sent, c.down[i].hash(c))
		}
		after.Sent = append(after.Sent, sent)
	}
	for _, e := range w.History.Events {
		e.Step = 0
		after.Told = append(after.Told, e)
	}
	return after, true
}

// Disconnect returns what the servers are after the connection of a client has ended; false if it needs more than these
// servers.
func (x *Replica) Disconnect(s *Servers, clients []*Part, client int) (*Servers, bool) {
	if s.snapshot == nil {
		return nil, false
	}
	x.w.restore(s.snapshot, clients)
	x.w.leader().store.Disconnect(&x.w.clients[client-1].conn)
	return x.w.Servers(), true
}

// standard reports whether what a server makes of a request concerns znodes and watches only, and not the connection.
func standard(r *model.Request) bool {
	switch r.Op {
	case model.OpAuth, model.OpCloseSession, model.OpSetWatches:
		return false
	}
	return r.PacketLen() <= model.MaxPacketLen
}

// restore makes the server what the snapshot is of, with clients that have nothing but their
// sessions, identities and watches.
func (w *World) restore(x *model.Snapshot, clients []*Part) {
	w.History.Events = w.History.Events[:0]
	for i, c := range w.clients {
		c.connected, c.await = false, nil
		c.wire, c.late, c.down = c.wire[:0], c.late[:0], c.down[:0]
		c.conn.Reset()
		c.session, c.conn.Session, c.conn.Auth = clients[i].session, clients[i].session, clients[i].auth
	}
	store := w.leader().store
	store.Restore(x, func(index int) *model.Conn { return &w.clients[index-1].conn })
	w.zxid = store.Zxid()
	w.committed, w.leader().applied = 0, 0 // with one server, nobody asks how long the log is
}
