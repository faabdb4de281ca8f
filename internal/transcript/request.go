package transcript

import (
	"strings"

	"zksim/model"

	"github.com/go-zookeeper/zk"
)

// data returns the buffer that the operation sends.
func (a *Args) data() []byte {
	switch {
	case a.Fill > 0:
		return []byte(strings.Repeat("x", a.Fill))
	case a.Data != nil:
		return []byte(*a.Data)
	}
	return nil
}

// acl returns the access control list that the operation sends.
func (a *Args) acl() []zk.ACL {
	if a.NullACL || a.EmptyACL {
		return nil
	}
	if a.ACL == nil {
		return zk.WorldACL(zk.PermAll)
	}
	list := make([]zk.ACL, len(a.ACL))
	for i, e := range a.ACL {
		list[i] = zk.ACL{Perms: e.Perms, Scheme: e.Scheme, ID: e.ID}
	}
	return list
}

// version returns the version that the operation expects, -1 for any.
func (a *Args) version() int32 {
	if a.Version == nil {
		return -1
	}
	return *a.Version
}

// request returns the operation in the form that the model takes.
func (a *Args) request() *model.Request {
	r := &model.Request{
		Op: requests[a.Op], Path: a.Path, Data: a.data(), Version: a.version(), Flags: a.Flags, Mode: a.Mode,
		Watch: a.Watch, TTL: a.TTL, ACL: a.acl(),
	}
	if a.Op == opRaw {
		r.Op = model.Op(a.Opcode)
	}
	if r.Op == model.OpSetWatches || r.Op == model.OpSetWatches2 {
		r.Watches = &model.WatchLists{
			RelativeZxid: a.RelZxid, Data: a.DataWatches, Exist: a.ExistWatches, Child: a.ChildWatches,
			Persistent: a.PersistentWatches, Recursive: a.RecursiveWatches,
		}
	}
	for i := range a.Ops {
		r.Ops = append(r.Ops, *a.Ops[i].request())
	}
	return r
}

// packetLen is the length of the request's packet, without the length field before it.
func (a *Args) packetLen() int {
	if a.Op == opAuth {
		return (&model.Request{Op: model.OpAuth, Path: a.Scheme, Data: []byte(a.Auth)}).PacketLen()
	}
	return a.request().PacketLen()
}
