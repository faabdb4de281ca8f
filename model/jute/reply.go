package jute

import (
	"fmt"

	"github.com/go-zookeeper/zk"

	"zksim/model"
)

// Reply is a packet that a server sends after the handshake: the answer to a request, or a watch event.
type Reply struct {
	Xid  int32 // of the request; [XidEvent]: a watch event
	Zxid int64 // of the last txn that the server has applied; for an event before 3.9, [NoZxid]
	Err  model.Code
	Body []byte // the record after the header, in the memory of the packet
}

// ParseReply reads the header of a packet.
func ParseReply(packet []byte) (Reply, error) {
	r := reader{b: packet}
	a := Reply{Xid: r.int32(), Zxid: r.int64(), Err: model.Code(r.int32())}
	a.Body = r.b
	if r.err != nil {
		return a, fmt.Errorf("%w: %d bytes", ErrHeader, len(packet))
	}
	return a, nil
}

// AppendReply appends the packet that answers a request of operation op. The answer to a model.OpReconfig or
// model.OpSASL has its record, or its first field, in Data.
func AppendReply(b []byte, xid int32, op model.Op, res *model.Response) []byte {
	b = appendHeader(b, xid, res.Zxid, res.Err)
	if res.Err != model.OK && res.Results == nil {
		return b
	}
	switch op {
	case model.OpMulti, model.OpMultiRead: // an error may come with an empty list
		for i := range res.Results {
			b = appendResult(b, &res.Results[i])
		}
		return appendMultiHeader(b, model.OpError, true, -1)
	}
	return appendAnswer(b, op, res)
}

func appendHeader(b []byte, xid int32, zxid int64, code model.Code) []byte {
	return appendInt32(appendInt64(appendInt32(b, xid), zxid), int32(code))
}

// appendResult appends the result of one operation of a multi.
func appendResult(b []byte, res *model.Response) []byte {
	if res.Op == model.OpError {
		return appendInt32(appendMultiHeader(b, res.Op, false, int32(res.Err)), int32(res.Err))
	}
	return appendAnswer(appendMultiHeader(b, res.Op, false, 0), res.Op, res)
}

func appendAnswer(b []byte, op model.Op, res *model.Response) []byte {
	switch op {
	case model.OpCreate, model.OpSync:
		return appendText(b, res.Path)
	case model.OpCreate2, model.OpCreateContainer, model.OpCreateTTL:
		return appendStat(appendText(b, res.Path), &res.Stat)
	case model.OpExists, model.OpSetData, model.OpSetACL:
		return appendStat(b, &res.Stat)
	case model.OpGetData, model.OpReconfig:
		return appendStat(appendBuffer(b, res.Data), &res.Stat)
	case model.OpGetChildren, model.OpGetEphemerals:
		return appendTexts(b, res.Children)
	case model.OpGetChildren2:
		return appendStat(appendTexts(b, res.Children), &res.Stat)
	case model.OpGetACL:
		b = appendInt32(b, int32(len(res.ACL)))
		for _, e := range res.ACL {
			b = appendText(appendText(appendInt32(b, e.Perms), e.Scheme), e.ID)
		}
		return appendStat(b, &res.Stat)
	case model.OpWhoAmI:
		b = appendInt32(b, int32(len(res.ACL)))
		for _, e := range res.ACL {
			b = appendText(appendText(b, e.Scheme), e.ID)
		}
		return b
	case model.OpCountChildren:
		return appendInt32(b, int32(res.Count))
	case model.OpAddWatch:
		return appendInt32(b, 0) // an error code
	case model.OpSASL:
		return appendBuffer(b, res.Data)
	}
	return b
}

// Response returns the answer to a request of operation op. It shares no memory with the packet. In a multi, a result
// of a type that no multi has is an error and ends the results.
func (a *Reply) Response(op model.Op) (res model.Response, err error) {
	res = model.Response{Op: op, Err: a.Err, Zxid: a.Zxid}
	if a.Err != model.OK {
		return res, nil
	}
	r := reader{b: a.Body}
	switch op {
	case model.OpMulti, model.OpMultiRead:
		res.Results, err = r.results()
		return res, err
	}
	r.answer(op, &res)
	return res, r.err
}

// results reads the results of a multi.
func (r *reader) results() (list []model.Response, err error) {
	list = []model.Response{}
	for {
		res := model.Response{Op: model.Op(r.int32())}
		done := r.bool()
		r.int32()
		if done || r.err != nil {
			return list, r.err
		}
		switch res.Op {
		case model.OpError:
			res.Err = model.Code(r.int32())
		case model.OpCreate, model.OpCreate2, model.OpDelete, model.OpSetData, model.OpCheck, model.OpGetData,
			model.OpGetChildren:
			r.answer(res.Op, &res)
		default:
			return list, fmt.Errorf("jute: a result of a multi of type %d", res.Op)
		}
		list = append(list, res)
	}
}

func (r *reader) answer(op model.Op, res *model.Response) {
	switch op {
	case model.OpCreate, model.OpSync:
		res.Path = r.string()
	case model.OpCreate2, model.OpCreateContainer, model.OpCreateTTL:
		res.Path = r.string()
		r.stat(&res.Stat)
	case model.OpExists, model.OpSetData, model.OpSetACL:
		r.stat(&res.Stat)
	case model.OpGetData, model.OpReconfig:
		res.Data = r.buffer()
		r.stat(&res.Stat)
	case model.OpGetChildren, model.OpGetEphemerals:
		res.Children = r.strings()
	case model.OpGetChildren2:
		res.Children = r.strings()
		r.stat(&res.Stat)
	case model.OpGetACL:
		res.ACL = r.acl()
		r.stat(&res.Stat)
	case model.OpWhoAmI:
		for n := r.count(8); n > 0; n-- {
			res.ACL = append(res.ACL, zk.ACL{Scheme: r.string(), ID: r.string()})
		}
	case model.OpCountChildren:
		res.Count = int(r.int32())
	case model.OpAddWatch:
		r.int32()
	case model.OpSASL:
		res.Data = r.buffer()
	}
}

// AppendEvent appends the packet of a watch event. zxid is [NoZxid] or, since 3.9, the txn's zxid.
func AppendEvent(b []byte, ev model.Event, zxid int64) []byte {
	b = appendHeader(b, XidEvent, zxid, model.OK)
	b = appendInt32(appendInt32(b, int32(ev.Type)), int32(zk.StateSyncConnected))
	return appendText(b, ev.Path)
}

// Event returns the watch event of a packet whose xid is [XidEvent].
func (a *Reply) Event() (model.Event, error) {
	r := reader{b: a.Body}
	ev := model.Event{Type: zk.EventType(r.int32())}
	r.int32() // the state
	ev.Path = r.string()
	if a.Zxid > 0 {
		ev.Zxid = a.Zxid
	}
	return ev, r.err
}
