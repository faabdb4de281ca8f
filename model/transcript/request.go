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

// request is the operation as the model takes it.
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

// Sizes on the wire: an int, a long, a bool, the header of a request, and the
// header of an operation inside a multi, one more of which ends the multi.
const (
	intLen           = 4
	longLen          = 8
	boolLen          = 1
	requestHeaderLen = intLen + intLen
	multiHeaderLen   = intLen + boolLen + intLen
)

func stringLen(s string) int { return intLen + len(s) }

func stringsLen(list []string) int {
	n := intLen
	for _, s := range list {
		n += stringLen(s)
	}
	return n
}

// packetLen is the length of the request's packet, without the length field in
// front of it. The server closes a connection that sends a longer one than
// jute.maxbuffer.
func (a *Args) packetLen() int { return requestHeaderLen + a.bodyLen() }

func (a *Args) bodyLen() int {
	switch a.Op {
	case "create", "create2", "createContainer":
		return stringLen(a.Path) + a.dataLen() + a.aclLen() + intLen
	case "createTTL":
		return stringLen(a.Path) + a.dataLen() + a.aclLen() + intLen + longLen
	case "set":
		return stringLen(a.Path) + a.dataLen() + intLen
	case "setACL":
		return stringLen(a.Path) + a.aclLen() + intLen
	case "delete", "check", "addWatch", "removeWatches", "checkWatches":
		return stringLen(a.Path) + intLen
	case "exists", "get", "children", "children2":
		return stringLen(a.Path) + boolLen
	case "getACL", "sync", "getEphemerals", "getAllChildrenNumber", opRaw:
		return stringLen(a.Path)
	case opAuth:
		return intLen + stringLen(a.Scheme) + stringLen(a.Auth)
	case "setWatches", "setWatches2":
		n := longLen + stringsLen(a.DataWatches) + stringsLen(a.ExistWatches) + stringsLen(a.ChildWatches)
		if a.Op == "setWatches2" {
			n += stringsLen(a.PersistentWatches) + stringsLen(a.RecursiveWatches)
		}
		return n
	case "multi", "multiRead":
		n := multiHeaderLen
		for i := range a.Ops {
			n += multiHeaderLen + a.Ops[i].bodyLen()
		}
		return n
	}
	return 0 // ping, whoAmI, close
}

func (a *Args) dataLen() int {
	if a.Data != nil {
		return stringLen(*a.Data)
	}
	return intLen + a.Fill
}

func (a *Args) aclLen() int {
	n := intLen
	for _, e := range a.acl() {
		n += intLen + stringLen(e.Scheme) + stringLen(e.ID)
	}
	return n
}
