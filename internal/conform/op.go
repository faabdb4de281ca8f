package conform

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// Kind is what an operation does: a call of the client library, or an act on a
// session.
type Kind string

// The operations. Open to Expire concern the session as a whole.
const (
	Create          Kind = "create"
	CreateContainer Kind = "createContainer"
	CreateTTL       Kind = "createTTL"
	Delete          Kind = "delete"
	Set             Kind = "set"
	Get             Kind = "get"
	Exists          Kind = "exists"
	Children        Kind = "children"
	GetACL          Kind = "getACL"
	SetACL          Kind = "setACL"
	AddAuth         Kind = "addAuth"
	Sync            Kind = "sync"
	Multi           Kind = "multi"
	Check           Kind = "check" // inside a multi only

	Open      Kind = "open"      // a new client connects
	Close     Kind = "close"     // Conn.Close
	Cut       Kind = "cut"       // the TCP connection ends
	Expire    Kind = "expire"    // the connection and then the session end; the client does not know
	Reconnect Kind = "reconnect" // a client without a connection gets one
)

// calls are the operations that are methods of recipes.Conn, and sessionActs the others. Both are in the order of the
// coverage table.
var (
	calls = []Kind{Create, CreateContainer, CreateTTL, Delete, Set, Get, Exists, Children, GetACL, SetACL, AddAuth,
		Sync, Multi}
	sessionActs = []Kind{Open, Close, Cut, Expire, Reconnect}
)

// Op is one operation with its arguments. It does not refer to any state, so that any part of a sequence is a sequence.
type Op struct {
	Session int     `json:"-"` // which client, from 1; 0 inside a multi
	Kind    Kind    `json:"op"`
	Path    string  `json:"path,omitempty"`    // below the root of the sequence if it starts with a slash
	Outside bool    `json:"outside,omitempty"` // Path is not below the root
	Data    *string `json:"data,omitempty"`    // nil is null
	Fill    int     `json:"fill,omitempty"`    // instead of Data: that many bytes
	Flags   int32   `json:"flags,omitempty"`   // create
	TTL     int64   `json:"ttl,omitempty"`     // milliseconds
	Version *int32  `json:"version,omitempty"` // nil is -1, any
	ACL     string  `json:"acl,omitempty"`     // a key of acls; "" is open to all
	Scheme  string  `json:"scheme,omitempty"`  // addAuth
	Auth    string  `json:"auth,omitempty"`    // addAuth
	Watch   bool    `json:"watch,omitempty"`   // get, exists, children: leave a watch
	Server  int     `json:"server,omitempty"`  // open, expire, reconnect: which server, from 0
	Ops     []Op    `json:"ops,omitempty"`     // multi
}

// String describes the operation in one line.
func (o Op) String() string {
	var b strings.Builder
	if o.Session > 0 {
		fmt.Fprintf(&b, "%s ", sessionName(o.Session, 1))
	}
	b.WriteString(o.label())
	if o.Path != "" || o.Kind == Get {
		fmt.Fprintf(&b, " %q", o.Path)
	}
	if o.Outside {
		b.WriteString(" (outside)")
	}
	switch {
	case o.Data != nil && len(*o.Data) <= maxShownData:
		fmt.Fprintf(&b, " data %q", *o.Data)
	case o.Data != nil || o.Fill > 0:
		fmt.Fprintf(&b, " data of %d bytes", len(o.data()))
	}
	if o.Version != nil {
		fmt.Fprintf(&b, " version %d", *o.Version)
	}
	if o.Kind == CreateTTL {
		fmt.Fprintf(&b, " ttl %d", o.TTL)
	}
	if o.ACL != "" {
		fmt.Fprintf(&b, " acl %s", o.ACL)
	}
	if o.Kind == AddAuth {
		fmt.Fprintf(&b, " %s %q", o.Scheme, o.Auth)
	}
	if o.Server > 0 {
		fmt.Fprintf(&b, " server %d", o.Server+1)
	}
	for i, sub := range o.Ops {
		fmt.Fprintf(&b, "%s %v", map[bool]string{true: ":", false: ";"}[i == 0], sub)
	}
	return b.String()
}

// modes are the names of the create flags.
var modes = []string{"persistent", "ephemeral", "sequential", "ephemeral-sequential", "container", "ttl",
	"ttl-sequential"}

// label returns the kind of the operation with its variant: the mode of a create, the watch of a read.
func (o Op) label() string {
	switch {
	case o.isCreate() && o.Flags >= 0 && int(o.Flags) < len(modes):
		return string(o.Kind) + "/" + modes[o.Flags]
	case o.isCreate():
		return fmt.Sprintf("%s/flags %d", o.Kind, o.Flags)
	case o.Watch:
		return string(o.Kind) + "W"
	}
	return string(o.Kind)
}

func (o Op) isCreate() bool {
	return o.Kind == Create || o.Kind == CreateContainer || o.Kind == CreateTTL
}

// isRead reports whether the operation has no effect on other sessions.
func (o Op) isRead() bool {
	switch o.Kind {
	case Get, Exists, Children, GetACL, Sync, AddAuth:
		return true
	}
	return false
}

func (o Op) data() []byte {
	switch {
	case o.Data != nil:
		return []byte(*o.Data)
	case o.Fill > 0:
		return []byte(strings.Repeat("x", o.Fill))
	}
	return nil
}

func (o Op) version() int32 {
	if o.Version == nil {
		return -1
	}
	return *o.Version
}

func (o Op) ttl() time.Duration { return time.Duration(o.TTL) * time.Millisecond }

// in returns the path to send, below root.
func (o Op) in(root string) string {
	switch {
	case o.Outside || !strings.HasPrefix(o.Path, "/"):
		return o.Path
	case o.Path == "/" && !(o.isCreate() && isSequential(o.Flags)):
		return root
	}
	return root + o.Path
}

// request returns the operation as a part of a multi.
func (o Op) request(root string) any {
	path := o.in(root)
	switch o.Kind {
	case Create:
		return &zk.CreateRequest{Path: path, Data: o.data(), Acl: acls[o.ACL], Flags: o.Flags}
	case Delete:
		return &zk.DeleteRequest{Path: path, Version: o.version()}
	case Set:
		return &zk.SetDataRequest{Path: path, Data: o.data(), Version: o.version()}
	case Check:
		return &zk.CheckVersionRequest{Path: path, Version: o.version()}
	}
	return o // the library does not know the type and says so
}

// sessionName returns "s3" for the first session of client 3, and "s3.2" for the next one, which the library opens when
// the first has expired.
func sessionName(client, session int) string {
	if session == 1 {
		return fmt.Sprintf("s%d", client)
	}
	return fmt.Sprintf("s%d.%d", client, session)
}
