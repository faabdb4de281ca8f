package model

import (
	"strings"

	"github.com/go-zookeeper/zk"
)

// Read executes an operation that does not enter the log on the state that this replica has reached, and arms the
// watch that it asks for.
func (s *Server) Read(c *Conn, r *Request, res *Response) {
	*res = Response{Op: r.Op, Zxid: s.zxid}
	switch r.Op {
	case OpExists, OpGetData, OpGetChildren, OpGetChildren2, OpGetACL, OpCountChildren:
		res.Err = s.readNode(c, r, res)
	case OpSync:
		res.Path = r.Path
	case OpPing:
	case OpSetWatches, OpSetWatches2:
		res.Err = s.setWatches(c, r.Watches)
	case OpAddWatch:
		switch r.Mode {
		case 0:
			s.addWatch(c, r.Path, persistent)
		case 1:
			s.addWatch(c, r.Path, recursive)
		default:
			res.Err = MarshallingError
		}
	case OpRemoveWatches, OpCheckWatches:
		res.Err = s.watchesOf(c, r)
	case OpGetEphemerals:
		s.ephemeralsOf(c.Session, r.Path, res)
	case OpWhoAmI:
		for _, id := range c.Auth {
			user := id.ID
			if id.Scheme == "digest" {
				user, _, _ = strings.Cut(user, ":")
			}
			res.ACL = append(res.ACL, zk.ACL{Scheme: id.Scheme, ID: user})
		}
	case OpMultiRead:
		s.multiRead(c, r, res)
	default:
		res.Err, res.Zxid, res.Hangup = Unimplemented, -1, true
	}
}

// readNode answers the reads of one znode. Paths are not validated: an invalid path simply does not exist, and exists
// still leaves a watch on it.
func (s *Server) readNode(c *Conn, r *Request, res *Response) Code {
	if r.Path == Null {
		return MarshallingError
	}
	if r.Op == OpExists {
		if strings.IndexByte(r.Path, 0) >= 0 {
			return BadArguments
		}
	}
	n := s.lookup(r.Path)
	if n == nil {
		if r.Op == OpExists && r.Watch {
			s.data.add(c, r.Path, oneShot)
		}
		return NoNode
	}
	perms := int32(zk.PermRead)
	switch r.Op {
	case OpGetACL:
		perms |= zk.PermAdmin
	}
	free := r.Op == OpExists && s.Like != ZooKeeper39 // it needs no permission
	if !free && !n.acl.allows(perms, c.Auth) {
		return NoAuth
	}
	switch r.Op {
	case OpExists:
		if r.Watch {
			s.data.add(c, r.Path, oneShot)
		}
	case OpGetData:
		res.Data = n.data
		if r.Watch {
			s.data.add(c, r.Path, oneShot)
		}
	case OpGetChildren, OpGetChildren2:
		res.Children = s.listing(n)
		if r.Watch {
			s.child.add(c, r.Path, oneShot)
		}
	case OpGetACL:
		if res.ACL = n.acl.list; !n.acl.allows(zk.PermAdmin, c.Auth) {
			res.ACL = n.acl.masked()
		}
	case OpCountChildren:
		res.Count = descendants(n)
		if r.Path == "" {
			res.Count++ // counts "/" as below ""
		}
		return OK
	}
	n.stat(&res.Stat)
	return OK
}

func descendants(n *node) int {
	total := len(n.children)
	for _, c := range n.children {
		total += descendants(c)
	}
	return total
}

// maxMultiRead is about how many bytes the results of a multiRead may have. A real server runs out of memory
// somewhere above this; ours ends the connection. Clients accept no answer longer than their jute.maxbuffer, usually
// 1 MB.
const maxMultiRead = 32 << 20

// multiRead answers each sub-operation on its own: one that fails does not stop the others. If all operations are
// those of a multi, it refuses them with an error and an empty list of results. If one has no path, it returns an
// error with the results of the operations before it.
func (s *Server) multiRead(c *Conn, r *Request, res *Response) {
	reads := 0
	for i := range r.Ops {
		switch op := r.Ops[i].Op; {
		case op.InMultiRead():
			reads++
		case !op.InMulti():
			res.Err = MarshallingError
			return
		}
	}
	if reads < len(r.Ops) {
		if res.Err = MarshallingError; reads == 0 {
			res.Results = []Response{}
		}
		return
	}
	res.Results = make([]Response, len(r.Ops))
	room := maxMultiRead
	for i := range r.Ops {
		sub, read := &res.Results[i], r.Ops[i]
		if read.Path == Null {
			res.Err, res.Results = MarshallingError, res.Results[:i]
			return
		}
		sub.Op, read.Watch = read.Op, false // the flag is on the wire, but ignored
		if sub.Err = s.readNode(c, &read, sub); sub.Err != OK {
			*sub = Response{Op: OpError, Err: sub.Err}
		}
		if room -= len(sub.Data) + stringsLen(sub.Children); room < 0 {
			*res = Response{Op: r.Op, Zxid: s.zxid, Err: MarshallingError, Hangup: true}
			return
		}
	}
}

// ephemeralsOf lists the session's ephemerals whose path starts with prefix. The prefix is a string, not a path: "/p"
// matches "/px". A blank prefix is like "/".
func (s *Server) ephemeralsOf(id int64, prefix string, res *Response) {
	x := s.sessions[id]
	if x == nil {
		return
	}
	trimmed := strings.TrimFunc(prefix, func(r rune) bool { return r <= ' ' }) // Java's trim
	if trimmed == "" || trimmed == "/" || prefix == Null {
		prefix = ""
	}
	for _, n := range s.owned(x) {
		if strings.HasPrefix(n.path, prefix) {
			res.Children = append(res.Children, n.path)
		}
	}
}
