package model

import "github.com/go-zookeeper/zk"

// MaxPacketLen is the default of the server's jute.maxbuffer. The server closes the connection of a client that sends
// a longer packet.
const MaxPacketLen = 0xfffff

// Sizes on the wire: an int, a long, a bool, the header of a request, and the header of an operation inside a multi.
// One more such header ends the multi.
const (
	intLen           = 4
	longLen          = 8
	boolLen          = 1
	requestHeaderLen = intLen + intLen
	multiHeaderLen   = intLen + boolLen + intLen
)

// PacketLen returns the length of the packet that carries r, without the length
// field in front of it. For OpAuth, Path is the scheme and Data the credentials.
func (r *Request) PacketLen() int { return requestHeaderLen + r.bodyLen() }

func (r *Request) bodyLen() int {
	path := stringLen(r.Path)
	switch r.Op {
	case OpCreate, OpCreate2, OpCreateContainer:
		return path + intLen + len(r.Data) + aclLen(r.ACL) + intLen
	case OpCreateTTL:
		return path + intLen + len(r.Data) + aclLen(r.ACL) + intLen + longLen
	case OpSetData, OpAuth: // each also has an int
		return path + intLen + len(r.Data) + intLen
	case OpSetACL:
		return path + aclLen(r.ACL) + intLen
	case OpDelete, OpCheck, OpAddWatch, OpRemoveWatches, OpCheckWatches:
		return path + intLen
	case OpExists, OpGetData, OpGetChildren, OpGetChildren2:
		return path + boolLen
	case OpSetWatches:
		return longLen + r.Watches.len()
	case OpSetWatches2:
		return longLen + r.Watches.len() + stringsLen(r.Watches.Persistent) + stringsLen(r.Watches.Recursive)
	case OpMulti, OpMultiRead:
		n := multiHeaderLen
		for i := range r.Ops {
			n += multiHeaderLen + r.Ops[i].bodyLen()
		}
		return n
	case OpReconfig, OpSASL:
		return len(r.Data)
	case OpPing, OpWhoAmI, OpCreateSession, OpCloseSession:
		return 0
	}
	return path // getACL, sync, getEphemerals, getAllChildrenNumber, and unknown operations
}

func aclLen(list []zk.ACL) int {
	n := intLen
	for _, e := range list {
		n += intLen + stringLen(e.Scheme) + stringLen(e.ID)
	}
	return n
}

func stringsLen(list []string) int {
	n := intLen
	if len(list) == 1 && list[0] == Null { // the list is null
		return n
	}
	for _, s := range list {
		n += stringLen(s)
	}
	return n
}

func stringLen(s string) int {
	if s == Null {
		return intLen
	}
	return intLen + len(s)
}

// len returns the length of the lists that both kinds of SetWatches have.
func (l *WatchLists) len() int { return stringsLen(l.Data) + stringsLen(l.Exist) + stringsLen(l.Child) }
