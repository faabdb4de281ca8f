package model

import "github.com/go-zookeeper/zk"

// kind is what the server stores in ephemeralOwner besides a session.
type kind uint8

const (
	plain kind = iota
	ephemeral
	container
	ttl
)

// node is one znode.
type node struct {
	path     string
	parent   *node
	data     []byte
	acl      *acl
	children []*node // unordered; a child knows its place
	place    int     // in parent.children
	rank     int     // in the session's ephemerals
	born     uint64  // insertion order among all nodes of the tree
	owner    int64   // session of an ephemeral, milliseconds of a ttl node

	czxid, mzxid, pzxid        int64
	ctime, mtime               int64
	version, aversion, creates int32
	sets                       int32  // changes of children's data, for servers that count them
	hash                       uint32 // Java's hash of the name
	buckets                    uint32 // of the Java HashSet that holds the children; 0 until the first
	base                       int32  // where the name starts in path
	kind                       kind
}

func (n *node) name() string { return n.path[n.base:] }

// attach makes n a child of p.
func (p *node) attach(n *node) {
	n.parent = p
	n.place = len(p.children)
	p.children = append(p.children, n)
	p.buckets = grow(p.buckets, 8, len(p.children))
}

// detach removes n from its parent in constant time. The last child takes its place.
func (n *node) detach() {
	c := n.parent.children
	last := len(c) - 1
	c[n.place] = c[last]
	c[n.place].place = n.place
	c[last] = nil
	n.parent.children = c[:last]
}

// stat fills s as the wire shows it. The stored counter is the number of creates; Stat.Cversion counts creates and
// deletes, so it is derived from the number of children (DataNode.copyStat). [Keeper] also counts changes of
// children's data. Containers and ttl nodes do not show their stored owner.
func (n *node) stat(s *zk.Stat) {
	s.Czxid, s.Mzxid, s.Pzxid = n.czxid, n.mzxid, n.pzxid
	s.Ctime, s.Mtime = n.ctime, n.mtime
	s.Version, s.Aversion = n.version, n.aversion
	s.Cversion = 2*n.creates - int32(len(n.children)) + n.sets
	s.DataLength, s.NumChildren = int32(len(n.data)), int32(len(n.children))
	s.EphemeralOwner = n.session()
}

// session returns the owner of an ephemeral, else 0.
func (n *node) session() int64 {
	if n.kind == ephemeral {
		return n.owner
	}
	return 0
}
