package model

import (
	"fmt"

	"github.com/go-zookeeper/zk"
)

// Code is an error code of the ZooKeeper protocol.
type Code int32

// The codes that a server sends (org.apache.zookeeper.KeeperException.Code).
const (
	OK                      Code = 0
	RuntimeInconsistency    Code = -2
	MarshallingError        Code = -5
	Unimplemented           Code = -6
	BadArguments            Code = -8
	APIError                Code = -100
	NoNode                  Code = -101
	NoAuth                  Code = -102
	BadVersion              Code = -103
	NoChildrenForEphemerals Code = -108
	NodeExists              Code = -110
	NotEmpty                Code = -111
	SessionExpired          Code = -112
	InvalidACL              Code = -114
	AuthFailed              Code = -115
	SessionMoved            Code = -118
	NotReadOnly             Code = -119
	NoWatcher               Code = -121
	ReconfigDisabled        Code = -123
	QuotaExceeded           Code = -125
)

var codeNames = map[Code]string{
	OK: "OK", RuntimeInconsistency: "RUNTIMEINCONSISTENCY", MarshallingError: "MARSHALLINGERROR",
	Unimplemented: "UNIMPLEMENTED", BadArguments: "BADARGUMENTS", APIError: "APIERROR", NoNode: "NONODE",
	NoAuth: "NOAUTH", BadVersion: "BADVERSION", NoChildrenForEphemerals: "NOCHILDRENFOREPHEMERALS",
	NodeExists: "NODEEXISTS", NotEmpty: "NOTEMPTY", SessionExpired: "SESSIONEXPIRED", InvalidACL: "INVALIDACL",
	AuthFailed: "AUTHFAILED", SessionMoved: "SESSIONMOVED", NotReadOnly: "NOTREADONLY", NoWatcher: "NOWATCHER",
	ReconfigDisabled: "RECONFIGDISABLED", QuotaExceeded: "QUOTAEXCEEDED",
}

// String returns the symbolic name, for example "NONODE".
func (c Code) String() string {
	if s, ok := codeNames[c]; ok {
		return s
	}
	return fmt.Sprintf("CODE(%d)", int32(c))
}

var codeErrors = map[Code]error{
	APIError: zk.ErrAPIError, NoNode: zk.ErrNoNode, NoAuth: zk.ErrNoAuth, BadVersion: zk.ErrBadVersion,
	NoChildrenForEphemerals: zk.ErrNoChildrenForEphemerals, NodeExists: zk.ErrNodeExists, NotEmpty: zk.ErrNotEmpty,
	SessionExpired: zk.ErrSessionExpired, InvalidACL: zk.ErrInvalidACL, AuthFailed: zk.ErrAuthFailed,
	SessionMoved: zk.ErrSessionMoved, ReconfigDisabled: zk.ErrReconfigDisabled, BadArguments: zk.ErrBadArguments,
}

// Err returns go-zookeeper v1.0.4's error for the code: nil for OK, one of its sentinel errors, or an anonymous error
// for codes that it does not know.
func (c Code) Err() error {
	if c == OK {
		return nil
	}
	if err, ok := codeErrors[c]; ok {
		return err
	}
	return fmt.Errorf("unknown error: %d", int32(c))
}
