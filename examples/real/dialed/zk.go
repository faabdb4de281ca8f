// Package zk is go-zookeeper with one difference: if a test has set [NewDialer], every connection dials with it,
// whatever options its caller passes. So code that calls zk.Connect by itself runs unchanged in a simulated ensemble.
// go.mod replaces github.com/go-zookeeper/zk by this package, and names the original by another path.
package zk

import (
	"time"

	"example.com/go-zookeeper/zk"
)

// NewDialer, if not nil, returns the dialer of the next connection.
var NewDialer func() Dialer

// Connect is go-zookeeper's, but if NewDialer is set, it dials with that and by default logs nothing.
func Connect(servers []string, timeout time.Duration, options ...func(*Conn)) (*Conn, <-chan Event, error) {
	return zk.Connect(servers, timeout, func(c *Conn) {
		if NewDialer != nil {
			zk.WithLogger(quiet{})(c)
		}
		for _, option := range options {
			option(c)
		}
		if NewDialer != nil {
			zk.WithDialer(NewDialer())(c)
		}
	})
}

type quiet struct{}

func (quiet) Printf(string, ...interface{}) {}

// ConnectWithDialer is go-zookeeper's, but if NewDialer is set, it ignores dialer.
func ConnectWithDialer(servers []string, timeout time.Duration, dialer Dialer) (*Conn, <-chan Event, error) {
	return Connect(servers, timeout, WithDialer(dialer))
}

// Everything else is the original's.
type (
	ACL                   = zk.ACL
	CheckVersionRequest   = zk.CheckVersionRequest
	Conn                  = zk.Conn
	CreateRequest         = zk.CreateRequest
	CreateTTLRequest      = zk.CreateTTLRequest
	DNSHostProvider       = zk.DNSHostProvider
	DNSHostProviderOption = zk.DNSHostProviderOption
	DeleteRequest         = zk.DeleteRequest
	Dialer                = zk.Dialer
	ErrCode               = zk.ErrCode
	Event                 = zk.Event
	EventCallback         = zk.EventCallback
	EventType             = zk.EventType
	HostProvider          = zk.HostProvider
	Lock                  = zk.Lock
	Logger                = zk.Logger
	Mode                  = zk.Mode
	MultiResponse         = zk.MultiResponse
	PathVersionRequest    = zk.PathVersionRequest
	ServerClient          = zk.ServerClient
	ServerClients         = zk.ServerClients
	ServerStats           = zk.ServerStats
	SetDataRequest        = zk.SetDataRequest
	Stat                  = zk.Stat
	State                 = zk.State
)

const (
	DefaultPort                     = zk.DefaultPort
	EventNodeChildrenChanged        = zk.EventNodeChildrenChanged
	EventNodeCreated                = zk.EventNodeCreated
	EventNodeDataChanged            = zk.EventNodeDataChanged
	EventNodeDeleted                = zk.EventNodeDeleted
	EventNotWatching                = zk.EventNotWatching
	EventSession                    = zk.EventSession
	FlagContainer                   = zk.FlagContainer
	FlagEphemeral                   = zk.FlagEphemeral
	FlagEphemeralSequential         = zk.FlagEphemeralSequential
	FlagPersistent                  = zk.FlagPersistent
	FlagPersistentSequentialWithTTL = zk.FlagPersistentSequentialWithTTL
	FlagSequence                    = zk.FlagSequence
	FlagTTL                         = zk.FlagTTL
	ModeFollower                    = zk.ModeFollower
	ModeLeader                      = zk.ModeLeader
	ModeStandalone                  = zk.ModeStandalone
	ModeUnknown                     = zk.ModeUnknown
	PermAdmin                       = zk.PermAdmin
	PermAll                         = zk.PermAll
	PermCreate                      = zk.PermCreate
	PermDelete                      = zk.PermDelete
	PermRead                        = zk.PermRead
	PermWrite                       = zk.PermWrite
	StateAuthFailed                 = zk.StateAuthFailed
	StateConnected                  = zk.StateConnected
	StateConnectedReadOnly          = zk.StateConnectedReadOnly
	StateConnecting                 = zk.StateConnecting
	StateDisconnected               = zk.StateDisconnected
	StateExpired                    = zk.StateExpired
	StateHasSession                 = zk.StateHasSession
	StateSaslAuthenticated          = zk.StateSaslAuthenticated
	StateSyncConnected              = zk.StateSyncConnected
	StateUnknown                    = zk.StateUnknown
)

var (
	DefaultLogger              = zk.DefaultLogger
	ErrAPIError                = zk.ErrAPIError
	ErrAuthFailed              = zk.ErrAuthFailed
	ErrBadArguments            = zk.ErrBadArguments
	ErrBadVersion              = zk.ErrBadVersion
	ErrClosing                 = zk.ErrClosing
	ErrConnectionClosed        = zk.ErrConnectionClosed
	ErrDeadlock                = zk.ErrDeadlock
	ErrInvalidACL              = zk.ErrInvalidACL
	ErrInvalidFlags            = zk.ErrInvalidFlags
	ErrInvalidPath             = zk.ErrInvalidPath
	ErrNoAuth                  = zk.ErrNoAuth
	ErrNoChildrenForEphemerals = zk.ErrNoChildrenForEphemerals
	ErrNoNode                  = zk.ErrNoNode
	ErrNoServer                = zk.ErrNoServer
	ErrNodeExists              = zk.ErrNodeExists
	ErrNotEmpty                = zk.ErrNotEmpty
	ErrNotLocked               = zk.ErrNotLocked
	ErrNothing                 = zk.ErrNothing
	ErrPtrExpected             = zk.ErrPtrExpected
	ErrReconfigDisabled        = zk.ErrReconfigDisabled
	ErrSessionExpired          = zk.ErrSessionExpired
	ErrSessionMoved            = zk.ErrSessionMoved
	ErrShortBuffer             = zk.ErrShortBuffer
	ErrUnhandledFieldType      = zk.ErrUnhandledFieldType
	ErrUnknown                 = zk.ErrUnknown
)

var (
	AuthACL               = zk.AuthACL
	DigestACL             = zk.DigestACL
	FLWCons               = zk.FLWCons
	FLWRuok               = zk.FLWRuok
	FLWSrvr               = zk.FLWSrvr
	FormatServers         = zk.FormatServers
	NewDNSHostProvider    = zk.NewDNSHostProvider
	NewLock               = zk.NewLock
	WithDialer            = zk.WithDialer
	WithEventCallback     = zk.WithEventCallback
	WithHostProvider      = zk.WithHostProvider
	WithLogInfo           = zk.WithLogInfo
	WithLogger            = zk.WithLogger
	WithLookupTimeout     = zk.WithLookupTimeout
	WithMaxBufferSize     = zk.WithMaxBufferSize
	WithMaxConnBufferSize = zk.WithMaxConnBufferSize
	WorldACL              = zk.WorldACL
)
