package wire

import (
	"zksim/model"
	"zksim/model/history"
	"zksim/model/jute"
)

// request is a request on its way.
type request struct {
	xid int32
	model.Request
}

// parseRequest reads a packet of a client after the handshake. Requests that the library sends by itself have no path.
func parseRequest(packet []byte) (q request, err error) {
	if q.xid, q.Request, err = jute.ParseRequest(packet); q.Op == model.OpAuth {
		q.Path = ""
	}
	return q, err
}

// changes returns what a request whose answer begins without an error has changed, and where: the path of a created
// znode is in the answer. A multi may still be refused.
func (q *request) changes(a *jute.Reply) (all []history.Event, refusal model.Code, err error) {
	switch q.Op {
	case model.OpCreate, model.OpCreate2, model.OpCreateContainer, model.OpCreateTTL, model.OpDelete, model.OpSetData,
		model.OpMulti:
	default:
		return nil, model.OK, nil
	}
	res, err := a.Response(q.Op)
	if err != nil || q.Op != model.OpMulti {
		return change(nil, &q.Request, &res, a.Zxid), model.OK, err
	}
	if refusal = q.Refusal(&res); refusal != model.OK {
		return nil, refusal, nil
	}
	for i := range min(len(q.Ops), len(res.Results)) {
		all = change(all, &q.Ops[i], &res.Results[i], a.Zxid)
	}
	return all, model.OK, nil
}

func change(all []history.Event, q *model.Request, res *model.Response, zxid int64) []history.Event {
	e := history.Event{Path: q.Path, Zxid: zxid}
	switch q.Op {
	case model.OpCreate, model.OpCreate2, model.OpCreateContainer, model.OpCreateTTL:
		e.Kind, e.Path = history.Created, res.Path
	case model.OpDelete:
		e.Kind = history.Deleted
	case model.OpSetData:
		e.Kind = history.Changed
	default:
		return all
	}
	return append(all, e)
}
