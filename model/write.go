package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/go-zookeeper/zk"
)

// maxTTL is the largest ttl, in milliseconds, that fits into the stored owner (EphemeralType.TTL).
const maxTTL = 0xffffffffff

// write executes one write, at top level or inside a multi. The order of checks is the server's
// (PrepRequestProcessor.pRequest2Txn).
func (s *Server) write(t *Txn, r *Request, res *Response) Code {
	switch r.Op {
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL:
		return s.create(t, r, res)
	case OpDelete:
		return s.delete(t, r)
	case OpSetData:
		return s.setData(t, r, res)
	case OpSetACL:
		return s.setACL(t, r, res)
	case OpCheck:
		return s.check(t, r)
	case OpDeleteContainer:
		return s.deleteContainer(t, r)
	case OpReconfig:
		return ReconfigDisabled
	}
	return Unimplemented
}

// creation decodes opcode and flags. At top level the opcode decides: flag 4 with a plain create makes a plain znode,
// as go-zookeeper's Create(FlagContainer) does. Inside a multi the flags decide (MultiOperationRecord), except that a
// ttl needs the opcode that carries it.
func (s *Server) creation(r *Request, inMulti bool) (k kind, sequential bool, c Code) {
	switch r.Flags {
	case zk.FlagPersistent, zk.FlagEphemeral, zk.FlagContainer, zk.FlagTTL:
	case zk.FlagSequence, zk.FlagEphemeralSequential, zk.FlagPersistentSequentialWithTTL:
		sequential = true
	default:
		return 0, false, BadArguments
	}
	if r.Flags >= zk.FlagTTL {
		switch {
		case inMulti && r.Op != OpCreateTTL:
			return 0, false, MarshallingError
		case !s.ExtendedTypes:
			return 0, false, Unimplemented
		case r.Op != OpCreateTTL || r.TTL < 1 || r.TTL > maxTTL:
			return 0, false, BadArguments
		}
		return ttl, sequential, OK
	}
	switch {
	case r.Op == OpCreateTTL && !inMulti && r.TTL >= 0:
		return 0, false, BadArguments
	case r.Op == OpCreateContainer && !inMulti, inMulti && r.Flags == zk.FlagContainer:
		k = container
	case r.Flags == zk.FlagEphemeral, r.Flags == zk.FlagEphemeralSequential:
		k = ephemeral
	}
	return k, sequential, OK
}

// FailsAtOnce reports whether a write fails before the leader asks where its session is (PrepRequestProcessor): by what
// it is, or as a create by its flags or ttl. A multi whose first operation does so fails, too. An empty one is not
// checked either.
func (s *Server) FailsAtOnce(r *Request) bool {
	if r.Op == OpMulti {
		return len(r.Ops) == 0 || s.unreadable(r) || s.failsAtOnce(&r.Ops[0], true)
	}
	return s.failsAtOnce(r, false)
}

func (s *Server) failsAtOnce(r *Request, inMulti bool) bool {
	switch r.Op {
	case OpReconfig, OpDeleteContainer:
		return true
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL:
		_, _, code := s.creation(r, inMulti)
		return code != OK
	}
	return false
}

func (s *Server) create(t *Txn, r *Request, res *Response) Code {
	k, sequential, code := s.creation(r, t.Req.Op == OpMulti)
	if code != OK {
		return code
	}
	if r.Path == Null {
		return MarshallingError
	}
	if malformed(r.Path) {
		return BadArguments
	}
	a, code := fixACL(r.ACL, t.Auth)
	if code != OK {
		return code
	}
	parent := s.lookup(ParentPath(r.Path))
	if parent == nil {
		return NoNode
	}
	if !parent.acl.allows(zk.PermCreate, t.Auth) {
		return NoAuth
	}
	path := r.Path
	if sequential {
		path = sequenceName(path, parent.creates+s.past[parent])
	}
	if !ValidPath(path) {
		return BadArguments
	}
	if s.lookup(path) != nil {
		return NodeExists
	}
	if parent.kind == ephemeral {
		return NoChildrenForEphemerals
	}
	if !s.quotaAllows(path, int64(len(r.Data)), 1) {
		return QuotaExceeded
	}
	if r.Op == OpCreateTTL && k != ttl && t.Req.Op != OpMulti { // here 3.8.0 would crash
		return BadArguments
	}
	n := s.newNode(path, a)
	n.kind, n.data = k, r.Data
	switch k {
	case ephemeral:
		n.owner = t.Session
	case ttl:
		n.owner = r.TTL
	}
	s.link(t, n, parent)
	res.Path = path
	n.stat(&res.Stat) // before quotaCount fills in the data of a statistics znode
	s.quotaCount(n, 1)
	return OK
}

// sequenceName appends the parent's counter as %010d.
func sequenceName(prefix string, seq int32) string {
	if seq < 0 {
		return fmt.Sprintf("%s%010d", prefix, seq)
	}
	var buf [128]byte
	b := append(buf[:0], prefix...)
	for div := int32(1_000_000_000); div > 0; div /= 10 {
		b = append(b, byte('0'+seq/div%10))
	}
	return string(b)
}

// link puts the new znode n under p.
func (s *Server) link(t *Txn, n, p *node) {
	s.remember(undoLink, n)
	n.czxid, n.mzxid, n.pzxid = t.Zxid, t.Zxid, t.Zxid
	n.ctime, n.mtime = t.Time, t.Time
	p.attach(n)
	if p.creates != math.MaxInt32 {
		// The counter only grows. At its end it stays, and so do pzxid and the first sequential name of every later txn
		// with the same prefix.
		p.creates++
		p.pzxid = t.Zxid
	} else if s.inMulti {
		if s.past == nil {
			s.past = map[*node]int32{}
		}
		s.past[p]++
	}
	s.nodes[n.path] = n
	s.own(n)
	s.quotaTrack(n, true)
	s.triggers = append(s.triggers, trigger{zk.EventNodeCreated, n.path, n.acl, p.acl, n.session(), n.data})
}

// own lists a znode that will be deleted automatically: an ephemeral in its session's set, containers and ttl znodes
// in the list of the leader's container check.
func (s *Server) own(n *node) {
	list := s.ownList(n)
	if list == nil {
		return
	}
	n.rank = len(*list)
	*list = append(*list, n)
	if n.kind == ephemeral {
		x := s.sessions[n.owner]
		x.buckets = grow(x.buckets, 16, len(x.ephemerals))
	}
}

func (s *Server) disown(n *node) {
	p := s.ownList(n)
	if p == nil {
		return
	}
	list, last := *p, len(*p)-1
	list[n.rank] = list[last]
	list[n.rank].rank = n.rank
	list[last] = nil
	*p = list[:last]
}

// ownList returns the list that n.rank is an index of, or nil for a plain znode.
func (s *Server) ownList(n *node) *[]*node {
	switch n.kind {
	case plain:
		return nil
	case ephemeral:
		x := s.sessions[n.owner]
		if x == nil { // the log creates for a session that it never opened
			x = s.newSession(0)
			s.sessions[n.owner] = x
		}
		return &x.ephemerals
	}
	return &s.mortal
}

func (s *Server) delete(t *Txn, r *Request) Code {
	if r.Path == Null {
		return MarshallingError
	}
	if malformed(r.Path) || special(r.Path) {
		return BadArguments
	}
	n := s.lookup(r.Path)
	var parent *node
	if n != nil {
		parent = n.parent
	} else if parent = s.lookup(ParentPath(r.Path)); parent == nil {
		return NoNode
	}
	if !parent.acl.allows(zk.PermDelete, t.Auth) {
		return NoAuth
	}
	if n == nil {
		return NoNode
	}
	if r.Version != -1 && r.Version != n.version {
		return BadVersion
	}
	if len(n.children) > 0 {
		return NotEmpty
	}
	s.unlink(t, n)
	return OK
}

// unlink takes n out of the tree. Its memory is reused only after the txn, because a multi that is rolled back brings
// n back.
func (s *Server) unlink(t *Txn, n *node) {
	s.remember(undoUnlink, n)
	p := n.parent
	n.detach()
	delete(s.nodes, n.path)
	s.disown(n)
	s.gone = append(s.gone, n)
	if s.Like != Keeper {
		p.pzxid = t.Zxid
	}
	s.quotaTrack(n, false)
	s.quotaCount(n, -1)
	s.triggers = append(s.triggers, trigger{zk.EventNodeDeleted, n.path, n.acl, p.acl, n.session(), nil})
}

// permitted returns the znode at path if it is there and the author of t has
// perms on it.
func (s *Server) permitted(t *Txn, path string, perms int32) (*node, Code) {
	n := s.lookup(path)
	switch {
	case n == nil:
		return nil, NoNode
	case !n.acl.allows(perms, t.Auth):
		return nil, NoAuth
	}
	return n, OK
}

func (s *Server) setData(t *Txn, r *Request, res *Response) Code {
	if !ValidPath(r.Path) {
		return BadArguments
	}
	n, code := s.permitted(t, r.Path, zk.PermWrite)
	if code != OK {
		return code
	}
	diff := int64(len(r.Data) - len(n.data))
	if !s.quotaAllows(r.Path, diff, 0) {
		return QuotaExceeded
	}
	if r.Version != -1 && r.Version != n.version {
		return BadVersion
	}
	s.remember(undoChange, n)
	n.data, n.mzxid, n.mtime = r.Data, t.Zxid, t.Time
	n.version++
	if s.Like == Keeper && n.parent != nil {
		n.parent.sets++
	}
	n.stat(&res.Stat)
	s.quotaUpdate(n.path, diff, 0)
	s.triggers = append(s.triggers, trigger{typ: zk.EventNodeDataChanged, path: n.path, acl: n.acl, data: n.data})
	return OK
}

func (s *Server) setACL(t *Txn, r *Request, res *Response) Code {
	if !ValidPath(r.Path) {
		return BadArguments
	}
	a, code := fixACL(r.ACL, t.Auth)
	if code != OK {
		return code
	}
	n, code := s.permitted(t, r.Path, zk.PermAdmin)
	if code != OK {
		return code
	}
	if r.Version != -1 && r.Version != n.aversion {
		return BadVersion
	}
	n.acl = a
	n.aversion++
	n.stat(&res.Stat)
	return OK
}

func (s *Server) check(t *Txn, r *Request) Code {
	if !ValidPath(r.Path) {
		return BadArguments
	}
	n, code := s.permitted(t, r.Path, zk.PermRead)
	if code != OK {
		return code
	}
	if r.Version != -1 && r.Version != n.version {
		return BadVersion
	}
	return OK
}

// deleteContainer is the leader's own clean-up (session 0); clients may not send it.
func (s *Server) deleteContainer(t *Txn, r *Request) Code {
	if t.Session != 0 {
		return BadArguments
	}
	n := s.lookup(r.Path)
	if n == nil {
		return NoNode
	}
	if len(n.children) > 0 {
		return NotEmpty
	}
	s.unlink(t, n)
	return OK
}

// reapAt returns the time from which the leader's container check deletes n. A container that had a child and has
// none now is deleted at once; a ttl znode without children, when it has not been modified for longer than its ttl
// (ContainerManager.getCandidates).
func (n *node) reapAt() int64 {
	switch {
	case len(n.children) > 0:
	case n.kind == container && n.creates > 0:
		return math.MinInt64
	case n.kind == ttl:
		return n.mtime + n.owner + 1
	}
	return Never
}

// Never is a time that never comes.
const Never = math.MaxInt64

// NextReap returns the time in milliseconds from which [Server.Reapable] is not
// empty, or [Never].
func (s *Server) NextReap() int64 {
	next := int64(Never)
	for _, n := range s.mortal {
		next = min(next, n.reapAt())
	}
	return next
}

// Reapable returns the paths that the leader's container check would delete at
// the given time (milliseconds). Each is one txn of OpDeleteContainer with
// session 0. They are sorted, or, where Order is zero, in the order of the Java
// set that a real server keeps them in (ContainerManager.getCandidates).
func (s *Server) Reapable(now int64) []string {
	var paths []string
	for _, n := range s.mortal {
		if n.reapAt() <= now {
			paths = append(paths, n.path)
		}
	}
	slices.Sort(paths)
	if s.Order == 0 {
		last := grow(0, 16, len(paths)) - 1
		slices.SortStableFunc(paths, func(a, b string) int { return cmp.Compare(javaHash(a)&last, javaHash(b)&last) })
	}
	return paths
}
