package wire

import (
	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
)

// The xids of packets that belong to no operation of the program.
const (
	xidEvent int32 = -1
	xidPing  int32 = -2
)

// statLen is the length of a stat.
const statLen = 68

// request is what is known of a request on its way.
type request struct {
	xid int32
	model.Request
}

// parseRequest reads a packet of a client after the handshake, of which the
// operation, the path and the watch.
func parseRequest(packet []byte) (request, error) {
	r := reader{b: packet}
	q := request{xid: r.int32()}
	q.Op = model.Op(r.int32())
	switch q.Op {
	case model.OpPing, model.OpCloseSession, model.OpSetWatches, model.OpSetWatches2, model.OpAuth:
	case model.OpMulti, model.OpMultiRead:
		for {
			op, done := model.Op(r.int32()), r.bool()
			r.int32()
			if done || r.short {
				break
			}
			sub := model.Request{Op: op}
			r.operation(&sub)
			q.Ops = append(q.Ops, sub)
		}
	default:
		r.operation(&q.Request)
	}
	return q, r.err()
}

// operation reads the record of an operation, whole.
func (r *reader) operation(q *model.Request) {
	q.Path = r.string()
	switch q.Op {
	case model.OpCreate, model.OpCreate2, model.OpCreateContainer, model.OpCreateTTL:
		r.string()
		r.acl()
		q.Flags = r.int32()
		if q.Op == model.OpCreateTTL {
			r.int64()
		}
	case model.OpSetData:
		r.string()
		r.int32()
	case model.OpDelete, model.OpCheck:
		r.int32()
	case model.OpExists, model.OpGetData, model.OpGetChildren, model.OpGetChildren2:
		q.Watch = r.bool()
	}
}

// answer is a packet of a server after the handshake.
type answer struct {
	xid  int32
	zxid int64
	err  model.Code
	body reader
}

func parseAnswer(packet []byte) (answer, error) {
	r := reader{b: packet}
	a := answer{xid: r.int32(), zxid: r.int64(), err: model.Code(r.int32())}
	a.body = r
	return a, r.err()
}

// changes returns what a request that was answered without an error has changed,
// and where: the path that a create was given is in the answer.
func (q *request) changes(a *answer) []history.Event {
	if q.Op != model.OpMulti {
		return change(nil, q.Op, q.Path, a)
	}
	var all []history.Event
	for _, op := range q.Ops {
		kind := model.Op(a.body.int32()) // a result's header
		a.body.take(5)
		if kind == model.OpError { // of one, so of all
			return nil
		}
		all = change(all, op.Op, op.Path, a)
	}
	return all
}

func change(all []history.Event, op model.Op, path string, a *answer) []history.Event {
	e := history.Event{Path: path, Zxid: a.zxid}
	switch op {
	case model.OpCreate:
		e.Kind, e.Path = history.Created, a.body.string()
	case model.OpCreate2, model.OpCreateContainer, model.OpCreateTTL:
		e.Kind, e.Path = history.Created, a.body.string()
		a.body.take(statLen)
	case model.OpDelete:
		e.Kind = history.Deleted
	case model.OpSetData:
		e.Kind = history.Changed
		a.body.take(statLen)
	default:
		return all
	}
	return append(all, e)
}

// event reads a watch event.
func (a *answer) event() (zk.EventType, string) {
	t := zk.EventType(a.body.int32())
	a.body.int32() // state
	return t, a.body.string()
}
