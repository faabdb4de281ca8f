package model

// Snapshot is the state of a replica, as [Server.Fingerprint] has it: znodes, sessions and watches. It shares no
// memory that the replica changes.
type Snapshot struct {
	config   Config
	zxid     int64
	nodes    []record // parents first
	sessions []openSession
	watches  []heldWatch // of each path in the order of their arrival
}

// record is a znode of a snapshot.
type record struct {
	path                       string
	data                       []byte
	acl                        *acl
	owner                      int64
	czxid, mzxid, pzxid        int64
	ctime, mtime               int64
	version, aversion, creates int32
	sets                       int32
	kind                       kind
}

type openSession struct {
	id      int64
	timeout int32
}

type heldWatch struct {
	Watch
	conn int // its Index
	mode mode
}

// Snapshot returns the state of s. It returns false if s has more than a snapshot holds: quotas, containers or ttl
// znodes.
func (s *Server) Snapshot() (*Snapshot, bool) {
	if len(s.quotas.paths) > 0 || len(s.mortal) > 0 {
		return nil, false
	}
	x := &Snapshot{config: s.Config, zxid: s.zxid}
	x.nodes = s.root.record(make([]record, 0, len(s.nodes)))
	for id, y := range s.sessions { // order-free: a set
		x.sessions = append(x.sessions, openSession{id, y.timeout})
	}
	for _, t := range [...]*watchTable{&s.data, &s.child} {
		for path, y := range t.paths { // order-free: the order of paths means nothing
			for w := range y.all() {
				x.watches = append(x.watches, heldWatch{Watch{path, t == &s.child}, w.conn.Index, w.mode})
			}
		}
	}
	return x, true
}

func (n *node) record(list []record) []record {
	list = append(list, record{n.path, n.data, n.acl, n.owner, n.czxid, n.mzxid, n.pzxid, n.ctime, n.mtime,
		n.version, n.aversion, n.creates, n.sets, n.kind})
	for _, c := range n.children {
		list = c.record(list)
	}
	return list
}

// Restore puts s into the state of the snapshot, except for the order in which znodes were made. Watches go to the
// connections that conn returns for an Index; these must have none yet.
func (s *Server) Restore(x *Snapshot, conn func(index int) *Conn) {
	s.Reset(x.config)
	s.zxid = x.zxid
	for _, y := range x.sessions {
		s.sessions[y.id] = s.newSession(y.timeout)
	}
	for i := range x.nodes {
		r := &x.nodes[i]
		n := s.lookup(r.path)
		if n == nil {
			n = s.newNode(r.path, r.acl)
			s.lookup(ParentPath(r.path)).attach(n)
			s.nodes[r.path] = n
		}
		n.data, n.acl, n.owner, n.kind = r.data, r.acl, r.owner, r.kind
		n.czxid, n.mzxid, n.pzxid = r.czxid, r.mzxid, r.pzxid
		n.ctime, n.mtime = r.ctime, r.mtime
		n.version, n.aversion, n.creates, n.sets = r.version, r.aversion, r.creates, r.sets
		s.own(n)
	}
	for _, w := range x.watches {
		s.table(w.Watch).add(conn(w.conn), w.Path, w.mode)
	}
}
