package model

import (
	"slices"

	"github.com/go-zookeeper/zk"
)

// FailedOp returns the index of the operation that has failed, by the answer, and so undone the whole multi. It
// returns -1 if r is not a multi, if none has failed, or if the error is in the header, which names no operation.
func (r *Request) FailedOp(answer *Response) int {
	if r.Op != OpMulti {
		return -1
	}
	return slices.IndexFunc(answer.Results, func(x Response) bool { return x.Op == OpError && x.Err != OK })
}

// Refusal returns the code with which an answer refuses r, or OK. It is the code in the header, or that of the
// operation of a multi that has failed: then the header says OK.
func (r *Request) Refusal(answer *Response) Code {
	if i := r.FailedOp(answer); i >= 0 {
		return answer.Results[i].Err
	}
	return answer.Err
}

// undo is what a failing multi needs to undo one change.
type undo struct {
	kind          uint8
	node          *node
	parent        *node
	saved         node // for undoChange
	pzxid         int64
	creates, sets int32
	buckets       uint32
	sessionBucket uint32
}

const (
	undoLink uint8 = iota
	undoUnlink
	undoChange
)

// remember stores the state before a change. It does so only in a multi, because nothing else can fail half-way.
func (s *Server) remember(k uint8, n *node) {
	if !s.inMulti {
		return
	}
	u := undo{kind: k, node: n, saved: *n}
	if k == undoLink {
		u.parent = s.lookup(ParentPath(n.path))
	} else {
		u.parent = n.parent
	}
	if u.parent != nil {
		u.pzxid, u.creates, u.sets, u.buckets = u.parent.pzxid, u.parent.creates, u.parent.sets, u.parent.buckets
	}
	if x := s.sessions[n.owner]; x != nil && n.kind == ephemeral {
		u.sessionBucket = x.buckets
	}
	s.undo = append(s.undo, u)
}

// rollback undoes all remembered changes, the last first.
func (s *Server) rollback() {
	for i := len(s.undo) - 1; i >= 0; i-- {
		u := &s.undo[i]
		n := u.node
		switch u.kind {
		case undoLink:
			n.detach()
			delete(s.nodes, n.path)
			s.disown(n)
			s.quotaTrack(n, false)
		case undoUnlink:
			u.parent.attach(n)
			s.nodes[n.path] = n
			s.own(n)
			s.quotaTrack(n, true)
		case undoChange:
			n.data, n.mzxid, n.mtime, n.version = u.saved.data, u.saved.mzxid, u.saved.mtime, u.saved.version
		}
		if u.parent != nil {
			u.parent.pzxid, u.parent.creates, u.parent.sets, u.parent.buckets = u.pzxid, u.creates, u.sets, u.buckets
		}
		if x := s.sessions[n.owner]; x != nil && n.kind == ephemeral {
			x.buckets = u.sessionBucket
		}
	}
	s.gone = s.gone[:0]
	clear(s.undo)
}

// multi applies all sub-operations or none. If one fails, it reports its code, those before it report 0, and those
// after it RuntimeInconsistency. The header says OK either way. But an operation that no multi may have, or that is
// malformed, fails the multi with MarshallingError in the header and without results.
func (s *Server) multi(t *Txn, res *Response) {
	if s.unreadable(t.Req) {
		res.Err = MarshallingError
		return
	}
	s.freezeQuotas()
	s.inMulti = true
	res.Results = make([]Response, len(t.Req.Ops))
	failed := -1
	for i := range t.Req.Ops {
		r, sub := &t.Req.Ops[i], &res.Results[i]
		if sub.Err = s.write(t, r, sub); sub.Err != OK {
			failed = i
			break
		}
		sub.Op = resultOp(r)
	}
	s.inMulti, s.quotas.frozen, s.past = false, nil, nil
	if failed < 0 {
		return
	}
	s.rollback()
	s.triggers = s.triggers[:0]
	if code := res.Results[failed].Err; code == MarshallingError {
		res.Err, res.Results = code, nil
		return
	}
	for i := range res.Results {
		code := res.Results[i].Err
		if i > failed {
			code = RuntimeInconsistency
		}
		res.Results[i] = Response{Op: OpError, Err: code}
	}
}

// unreadable reports whether a multi has an operation that it may not have, or that the server cannot read.
func (s *Server) unreadable(multi *Request) bool {
	for i := range multi.Ops {
		if r := &multi.Ops[i]; !r.Op.InMulti() || s.Like == ZooKeeper39 && r.isUnreadable() {
			return true
		}
	}
	return false
}

// isUnreadable reports whether a newer ZooKeeper refuses the operation as soon as it reads the multi: a create with
// flags that mean nothing, or that ask for a ttl, which only a createTTL carries.
func (r *Request) isUnreadable() bool {
	switch r.Op {
	case OpCreate, OpCreate2, OpCreateContainer:
		return r.Flags < 0 || r.Flags >= zk.FlagTTL
	}
	return false
}

// resultOp returns the type of a result on the wire: containers and ttl znodes answer as create2, all other creates
// as create.
func resultOp(r *Request) Op {
	switch r.Op {
	case OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL:
		if r.Flags >= 4 {
			return OpCreate2
		}
		return OpCreate
	}
	return r.Op
}
