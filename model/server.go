package model

import (
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

// Config has the settings of a server that change its semantics. The zero value is a server with default settings.
type Config struct {
	ExtendedTypes bool // extendedTypesEnabled: ttl znodes
	EnforceQuota  bool // enforceQuota

	// Order, if not zero, is a salt from which the order of children, and of deletions at a session's end, is derived:
	// ZooKeeper leaves these open. Zero is the order of ZooKeeper's Java sets.
	Order uint64

	Like Like // the server whose semantics it has
}

// Server is one replica: the znode tree, the sessions and the watches of the
// connections to it. It is not safe for concurrent use.
type Server struct {
	Config
	// OnEvent gets every watch event, in the order of the connection's wire. It must be set before the first watch.
	OnEvent func(*Conn, Event)
	// OnChange, if not nil, is called for every committed creation, deletion and change of data, before the watches of
	// that change fire. session is the owner of an ephemeral that was created or deleted, else 0. data is what the
	// znode has been given, nil for a deletion; it must not be changed.
	OnChange func(t zk.EventType, path string, session int64, data []byte)

	nodes    map[string]*node
	root     *node
	sessions map[int64]*session
	quotas   quotas
	data     watchTable
	child    watchTable
	zxid     int64
	born     uint64
	marks    uint64
	inMulti  bool
	triggers []trigger
	told     []*Conn
	// past is how many children the multi in progress has made in a znode since the counter of its creates ended. The
	// multi is numbered before it is applied, so its own sequential names go on: to -2147483648 and then up.
	past    map[*node]int32
	undo    []undo
	mortal  []*node // containers and ttl znodes
	scratch []*node
	gone    []*node // unlinked by the txn in progress
	free    []*node
	spare   []*session
}

// session is what every replica knows of a session.
type session struct {
	timeout    int32 // milliseconds
	ephemerals []*node
	buckets    uint32 // of the Java HashSet that holds their paths
}

// NewServer returns a replica with the initial tree of a fresh data directory.
func NewServer(c Config) *Server {
	s := &Server{nodes: map[string]*node{}, sessions: map[int64]*session{}}
	s.data.paths = map[string]watchers{}
	s.child.paths, s.child.children = map[string]watchers{}, true
	s.Reset(c)
	return s
}

// Reset makes s like a server of [NewServer], keeping its memory. It forgets all connections.
func (s *Server) Reset(c Config) {
	if s.root != nil {
		s.recycle(s.root)
	}
	clear(s.nodes)
	for _, x := range s.sessions { // order-free: they are all alike
		s.spare = append(s.spare, x)
	}
	clear(s.sessions)
	clear(s.data.paths)
	clear(s.child.paths)
	s.data.recursive, s.child.recursive = 0, 0
	s.quotas = quotas{}
	clear(s.mortal)
	s.mortal = s.mortal[:0]
	s.Config, s.zxid, s.born, s.marks = c, 0, 0, 0
	s.root = s.newNode("/", openACL)
	s.root.data = []byte{} // empty, not null, like the data of the other three
	s.nodes["/"], s.nodes[""] = s.root, s.root
	for _, p := range [...]string{"/zookeeper", "/zookeeper/quota", "/zookeeper/config"} {
		n := s.newNode(p, openACL)
		n.data = []byte{}
		s.lookup(ParentPath(p)).attach(n)
		s.nodes[p] = n
	}
	config := s.nodes["/zookeeper/config"]
	config.aversion = -1
	config.acl = readACL
}

var readACL = &acl{list: zk.WorldACL(zk.PermRead)}

func special(path string) bool {
	switch path {
	case "/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config":
		return true
	}
	return false
}

func (s *Server) lookup(path string) *node { return s.nodes[path] }

// recycle keeps n and the znodes below it for later use.
func (s *Server) recycle(n *node) {
	for _, c := range n.children {
		s.recycle(c)
	}
	s.free = append(s.free, n)
}

func (s *Server) newNode(path string, a *acl) *node {
	var n *node
	if k := len(s.free); k > 0 {
		n, s.free = s.free[k-1], s.free[:k-1]
		*n = node{children: n.children[:0]}
	} else {
		n = new(node)
	}
	s.born++
	n.path, n.acl, n.born = path, a, s.born
	n.base = int32(strings.LastIndexByte(path, '/') + 1)
	n.hash = javaHash(n.name())
	return n
}

func (s *Server) newSession(timeout int32) *session {
	var x *session
	if k := len(s.spare); k > 0 {
		x, s.spare = s.spare[k-1], s.spare[:k-1]
		*x = session{ephemerals: x.ephemerals[:0]}
	} else {
		x = new(session)
	}
	x.timeout = timeout
	return x
}

// Zxid returns the zxid of the last txn applied.
func (s *Server) Zxid() int64 { return s.zxid }

// SetZxid changes the zxid of the last txn, for a caller that numbers txns by what they do.
func (s *Server) SetZxid(zxid int64) { s.zxid = zxid }

// HasSession reports whether the session is open on this replica.
func (s *Server) HasSession(id int64) bool { return s.sessions[id] != nil }

// SessionTimeout returns the timeout of an open session in milliseconds, else 0.
func (s *Server) SessionTimeout(id int64) int32 {
	if x := s.sessions[id]; x != nil {
		return x.timeout
	}
	return 0
}

// Apply executes one txn of the log and fires the watches that it triggers,
// all of them before it returns. Entries must come in the order of their zxids.
func (s *Server) Apply(t *Txn, res *Response) {
	*res = Response{Op: t.Req.Op, Zxid: t.Zxid}
	s.zxid = t.Zxid
	s.triggers = s.triggers[:0]
	s.undo = s.undo[:0]
	switch t.Req.Op {
	case OpMulti:
		s.multi(t, res)
	case OpCreateSession:
		s.sessions[t.Session] = s.newSession(t.Req.Version)
	case OpCloseSession:
		s.closeSession(t)
		res.Hangup = true
	case OpError:
		res.Err = Code(t.Req.Version)
	default:
		res.Err = s.write(t, t.Req, res)
		res.Silent = t.Req.Op == OpCheck && res.Err == OK
	}
	for _, g := range s.triggers {
		if s.OnChange != nil {
			s.OnChange(g.typ, g.path, g.session, g.data)
		}
		s.fire(g)
	}
	s.free = append(s.free, s.gone...)
	s.gone = s.gone[:0]
}

// closeSession deletes the session's ephemerals, all with the zxid of t.
func (s *Server) closeSession(t *Txn) {
	x := s.sessions[t.Session]
	if x == nil {
		return
	}
	for _, n := range s.owned(x) {
		s.unlink(t, n)
	}
	delete(s.sessions, t.Session)
	s.spare = append(s.spare, x)
}

// owned returns the session's ephemerals in the configured order. ZooKeeper's order is that of a clone of the Java
// HashSet of their paths (DataTree.getEphemerals). The list is valid until the next one is made.
func (s *Server) owned(x *session) []*node {
	list := s.arranged(x.ephemerals, max(x.buckets, 16), pathHash)
	if s.Order == 0 {
		cloned(list, pathHash)
	}
	return list
}

// listing returns the names of n's children in the configured order.
func (s *Server) listing(n *node) []string {
	names := make([]string, len(n.children))
	for i, c := range s.ordered(n) {
		names[i] = c.name()
	}
	return names
}

func (s *Server) ordered(n *node) []*node {
	return s.arranged(n.children, max(n.buckets, 8), nameHash)
}

// arranged returns a copy of nodes in the configured order.
func (s *Server) arranged(nodes []*node, buckets uint32, hash func(*node) uint32) []*node {
	list := append(s.scratch[:0], nodes...)
	s.scratch = list[:0]
	if s.Order != 0 {
		shuffled(list, s.Order)
	} else {
		iteration(list, buckets, hash)
	}
	return list
}

// Znode is one row of a [Server.Tree]. Data is the replica's own and must not be changed.
type Znode struct {
	Path string
	Data []byte
	Stat zk.Stat
}

// Tree returns the root and all znodes below it, sorted by path, without the /zookeeper subtree.
func (s *Server) Tree() []Znode { return s.AppendTree(nil) }

// AppendTree is Tree, in the memory of list.
func (s *Server) AppendTree(list []Znode) []Znode {
	first := len(list)
	list = s.root.appendTree(list)
	SortTree(list[first:])
	return list
}

// Znodes is Tree without sorting, which takes a fraction of the time; see [SortTree].
func (s *Server) Znodes() []Znode { return s.root.appendTree(make([]Znode, 0, len(s.nodes))) }

// SortTree sorts znodes by path.
func SortTree(list []Znode) {
	slices.SortFunc(list, func(a, b Znode) int { return strings.Compare(a.Path, b.Path) })
}

func (n *node) appendTree(list []Znode) []Znode {
	if n.path == "/zookeeper" {
		return list
	}
	list = append(list, Znode{Path: n.path, Data: n.data})
	n.stat(&list[len(list)-1].Stat)
	for _, c := range n.children {
		list = c.appendTree(list)
	}
	return list
}

// SetConfig sets the data of the config node, as the members of an ensemble do when they begin to serve. The time is
// in milliseconds. A lone server leaves the node empty.
func (s *Server) SetConfig(members string, time int64) {
	n := s.nodes["/zookeeper/config"]
	n.data, n.mtime, n.version = []byte(members), time, -1
}

// SetCounter sets the number of children ever created under path, which must exist. The next sequential name shows
// that number.
func (s *Server) SetCounter(path string, creates int32) { s.lookup(path).creates = creates }
