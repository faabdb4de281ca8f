package jute

import (
	"fmt"

	"zksim/model"
)

// AppendRequest appends the packet of a request. For model.OpReconfig and model.OpSASL, Data is the record. For an
// operation without a record here it appends only the header.
func AppendRequest(b []byte, xid int32, r *model.Request) []byte {
	return appendRecord(appendInt32(appendInt32(b, xid), int32(r.Op)), r)
}

// ParseRequest reads the packet of a request. The request shares no memory with the packet. For model.OpReconfig and
// model.OpSASL, Data is the record. An unknown operation has no fields. A multi ends at the first operation that no
// multi has, because nobody knows how long that is; a server refuses the multi whatever follows. A null string is
// [model.Null].
//
// After an error that wraps [ErrHeader] nothing is known of the request; after any other error the xid and the
// operation are.
func ParseRequest(packet []byte) (xid int32, q model.Request, err error) {
	r := reader{b: packet}
	xid, q.Op = r.int32(), model.Op(r.int32())
	if r.err != nil {
		return 0, model.Request{}, fmt.Errorf("%w: %d bytes", ErrHeader, len(packet))
	}
	r.record(&q)
	if r.err != nil {
		q = model.Request{Op: q.Op}
	}
	return xid, q, r.err
}

func appendRecord(b []byte, r *model.Request) []byte {
	switch r.Op {
	case model.OpCreate, model.OpCreate2, model.OpCreateContainer, model.OpCreateTTL:
		b = appendACL(appendBuffer(appendString(b, r.Path), r.Data), r.ACL)
		if b = appendInt32(b, r.Flags); r.Op == model.OpCreateTTL {
			b = appendInt64(b, r.TTL)
		}
		return b
	case model.OpSetData:
		return appendInt32(appendBuffer(appendString(b, r.Path), r.Data), r.Version)
	case model.OpSetACL:
		return appendInt32(appendACL(appendString(b, r.Path), r.ACL), r.Version)
	case model.OpDelete, model.OpCheck:
		return appendInt32(appendString(b, r.Path), r.Version)
	case model.OpExists, model.OpGetData, model.OpGetChildren, model.OpGetChildren2:
		return appendBool(appendString(b, r.Path), r.Watch)
	case model.OpGetACL, model.OpSync, model.OpGetEphemerals, model.OpCountChildren, model.OpDeleteContainer:
		return appendString(b, r.Path)
	case model.OpAddWatch, model.OpRemoveWatches, model.OpCheckWatches:
		return appendInt32(appendString(b, r.Path), r.Mode)
	case model.OpMulti, model.OpMultiRead:
		return appendMulti(b, r.Ops)
	case model.OpSetWatches, model.OpSetWatches2:
		return appendWatches(b, r)
	case model.OpAuth: // the type is always 0
		return appendBuffer(appendString(appendInt32(b, 0), r.Path), r.Data)
	case model.OpReconfig, model.OpSASL:
		return append(b, r.Data...)
	}
	return b
}

func appendMulti(b []byte, ops []model.Request) []byte {
	for i := range ops {
		b = appendRecord(appendMultiHeader(b, ops[i].Op, false, -1), &ops[i])
	}
	return appendMultiHeader(b, model.OpError, true, -1)
}

func appendMultiHeader(b []byte, op model.Op, done bool, code int32) []byte {
	return appendInt32(appendBool(appendInt32(b, int32(op)), done), code)
}

func appendWatches(b []byte, r *model.Request) []byte {
	l := r.Watches
	if l == nil {
		l = &model.WatchLists{}
	}
	b = appendInt64(b, l.RelativeZxid)
	b = appendStrings(appendStrings(appendStrings(b, l.Data), l.Exist), l.Child)
	if r.Op == model.OpSetWatches2 {
		b = appendStrings(appendStrings(b, l.Persistent), l.Recursive)
	}
	return b
}

// record reads the record of the operation q.Op.
func (r *reader) record(q *model.Request) {
	switch q.Op {
	case model.OpCreate, model.OpCreate2, model.OpCreateContainer, model.OpCreateTTL:
		q.Path, q.Data, q.ACL, q.Flags = r.string(), r.buffer(), r.acl(), r.int32()
		if q.Op == model.OpCreateTTL {
			q.TTL = r.int64()
		}
	case model.OpSetData:
		q.Path, q.Data, q.Version = r.string(), r.buffer(), r.int32()
	case model.OpSetACL:
		q.Path, q.ACL, q.Version = r.string(), r.acl(), r.int32()
	case model.OpDelete, model.OpCheck:
		q.Path, q.Version = r.string(), r.int32()
	case model.OpExists, model.OpGetData, model.OpGetChildren, model.OpGetChildren2:
		q.Path, q.Watch = r.string(), r.bool()
	case model.OpGetACL, model.OpSync, model.OpGetEphemerals, model.OpCountChildren, model.OpDeleteContainer:
		q.Path = r.string()
	case model.OpAddWatch, model.OpRemoveWatches, model.OpCheckWatches:
		q.Path, q.Mode = r.string(), r.int32()
	case model.OpMulti, model.OpMultiRead:
		r.multi(q)
	case model.OpSetWatches, model.OpSetWatches2:
		l := &model.WatchLists{RelativeZxid: r.int64(), Data: r.watched(), Exist: r.watched(), Child: r.watched()}
		if q.Op == model.OpSetWatches2 {
			l.Persistent, l.Recursive = r.kept(), r.kept()
		}
		q.Watches = l
	case model.OpAuth:
		r.int32() // the type
		q.Path, q.Data = r.string(), r.buffer()
	case model.OpReconfig, model.OpSASL:
		if q.Data = append([]byte{}, r.b...); q.Op == model.OpReconfig {
			r.string() // joining
			r.string() // leaving
			r.string() // members
			r.int64()  // the version of the configuration to replace
		}
	case model.OpCreateSession:
		r.int32() // the timeout
	}
}

// multi reads the operations of a multi.
func (r *reader) multi(q *model.Request) {
	for {
		op, done := model.Op(r.int32()), r.bool()
		r.int32()
		if done || r.err != nil {
			return
		}
		sub := model.Request{Op: op}
		known := op.InMulti() || op.InMultiRead()
		if known {
			r.record(&sub)
		}
		q.Ops = append(q.Ops, sub)
		if !known {
			return
		}
	}
}
