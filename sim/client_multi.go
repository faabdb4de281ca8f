package sim

import (
	"bytes"
	"fmt"

	"github.com/go-zookeeper/zk"

	"zksim/model"
)

// Multi is [zk.Conn.Multi].
func (k Conn) Multi(ops ...interface{}) ([]zk.MultiResponse, error) {
	reqs := make([]model.Request, len(ops))
	for i, op := range ops {
		if !subRequest(op, &reqs[i]) {
			return nil, k.refuse(fmt.Errorf("unknown operation type %T", op))
		}
	}
	r := k.begin(model.OpMulti, "")
	r.req.Ops = reqs
	switch err := k.do(r); {
	case err == zk.ErrConnectionClosed:
		return nil, err
	case r.err != nil || r.res.Err != model.OK:
		return []zk.MultiResponse{}, err
	}
	return multiResult(r.res.Results)
}

func subRequest(op any, r *model.Request) bool {
	switch x := op.(type) {
	case *zk.CreateRequest:
		*r = model.Request{Op: model.OpCreate, Path: x.Path, Data: bytes.Clone(x.Data), ACL: copyACL(x.Acl, javaText),
			Flags: x.Flags}
	case *zk.SetDataRequest:
		*r = model.Request{Op: model.OpSetData, Path: x.Path, Data: bytes.Clone(x.Data), Version: x.Version}
	case *zk.DeleteRequest:
		*r = model.Request{Op: model.OpDelete, Path: x.Path, Version: x.Version}
	case *zk.CheckVersionRequest:
		*r = model.Request{Op: model.OpCheck, Path: x.Path, Version: x.Version}
	default:
		return false
	}
	return true
}

// multiResult decodes like the library. Its error is the first one that is not zero. Operations before the failed one
// look successful although they were rolled back. A container among the results cannot be decoded at all, although the
// transaction was committed.
func multiResult(results []model.Response) ([]zk.MultiResponse, error) {
	out := make([]zk.MultiResponse, len(results))
	var first error
	for i := range results {
		res := &results[i]
		switch res.Op {
		case model.OpCreate2:
			return out[:i], zk.ErrAPIError
		case model.OpError:
			out[i].Error = res.Err.Err()
		case model.OpCreate:
			out[i].String = res.Path
		case model.OpSetData:
			stat := res.Stat
			out[i].Stat = &stat
		}
		if first == nil {
			first = out[i].Error
		}
	}
	return out, first
}
