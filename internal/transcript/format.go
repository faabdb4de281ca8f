package transcript

import (
	"strings"

	"zksim/model"
)

// Transcript is one recording: what a few sessions asked a server with a fresh data directory, and everything that the
// server sent.
type Transcript struct {
	Header Header
	Steps  []Step
}

// Header is the first line.
type Header struct {
	Kind      string `json:"kind"` // always "header"
	Scenario  string `json:"scenario"`
	Desc      string `json:"desc,omitempty"`
	Server    string `json:"server,omitempty"`
	TickMs    int    `json:"tick_ms,omitempty"`
	Cfg       string `json:"cfg,omitempty"` // settings that are not the recorder's defaults
	Seed      int64  `json:"seed,omitempty"`
	Pipelined bool   `json:"pipelined,omitempty"` // some steps are
}

// Step is every further line: a request or an act on a session, and all its effects. The recorder waited for the
// effects of each step, except that it sent a pipelined step right after the one before it. Such steps form a batch.
// The batch's last line has what other sessions heard meanwhile, and which connections were closed.
type Step struct {
	I         int    `json:"i"`
	Session   string `json:"s"` // a name; sessions do not reuse one
	Pipelined bool   `json:"pipelined,omitempty"`
	Args
	Outcome
	Note string `json:"note,omitempty"`
}

// Args is the operation of a step, or of a sub-operation of a multi, with its
// arguments. A nil pointer is a default.
type Args struct {
	Op          string  `json:"op"`
	Path        string  `json:"path,omitempty"`
	Data        *string `json:"data,omitempty"` // default: null, which is not the same as empty
	Fill        int     `json:"fill,omitempty"` // instead of Data: that many times "x"
	Version     *int32  `json:"version,omitempty"`
	Flags       int32   `json:"flags,omitempty"`
	TTL         int64   `json:"ttl,omitempty"`
	ACL         []ACL   `json:"acl,omitempty"` // default: world:anyone:31
	NullACL     bool    `json:"null_acl,omitempty"`
	EmptyACL    bool    `json:"empty_acl,omitempty"`
	Watch       bool    `json:"watch,omitempty"`
	Mode        int32   `json:"mode,omitempty"`
	Scheme      string  `json:"scheme,omitempty"`
	Auth        string  `json:"auth,omitempty"`
	Opcode      int32   `json:"opcode,omitempty"`
	Timeout     int32   `json:"timeout,omitempty"`   // open: of the session; idle: how long; milliseconds
	LastZxid    int64   `json:"last_zxid,omitempty"` // reopen: the lastZxidSeen it sends
	BadPassword bool    `json:"bad_password,omitempty"`
	RelZxid     int64   `json:"rel_zxid,omitempty"`

	DataWatches       []string `json:"data_watches,omitempty"`
	ExistWatches      []string `json:"exist_watches,omitempty"`
	ChildWatches      []string `json:"child_watches,omitempty"`
	PersistentWatches []string `json:"persistent_watches,omitempty"`
	RecursiveWatches  []string `json:"recursive_watches,omitempty"`

	Ops []SubOp `json:"ops,omitempty"`
}

// SubOp is a part of a multi or multiRead. Its session is that of the step, whatever the field says.
type SubOp struct {
	Session string `json:"s,omitempty"`
	Args
}

// Outcome is what a step led to.
type Outcome struct {
	Res     Result              `json:"res"`
	Ev      map[string][]string `json:"ev,omitempty"`     // by session: "created /p", in wire order
	Closed  []string            `json:"closed,omitempty"` // connections the server closed
	EndZxid *int64              `json:"end_zxid,omitempty"`
}

// Reply is what top-level results and results inside a multi have in common.
type Reply struct {
	Err      string   `json:"err"`
	Path     *string  `json:"path,omitempty"`
	Stat     *Stat    `json:"stat,omitempty"`
	Data     *string  `json:"data,omitempty"`
	DataNull bool     `json:"data_null,omitempty"`
	DataLen  *int     `json:"data_len,omitempty"` // instead of data longer than maxShownData
	Children []string `json:"children,omitempty"`
}

// Result is the answer to a step's operation.
type Result struct {
	Reply
	Zxid    *int64      `json:"zxid,omitempty"` // of the reply header
	N       *int        `json:"n,omitempty"`
	ACL     []ACL       `json:"acl,omitempty"`
	Paths   []string    `json:"paths,omitempty"`
	Info    []string    `json:"info,omitempty"`
	Results []SubResult `json:"results,omitempty"`
	Timeout int32       `json:"timeout,omitempty"`  // informative
	BodyLen int         `json:"body_len,omitempty"` // informative
}

// SubResult is one result of a multi or multiRead.
type SubResult struct {
	Type model.Op `json:"type"`
	Reply
}

// Stat is a znode's Stat without its times: the recorder has checked that ctime
// and mtime are the times of the txns cz and mz, and the driver does the same.
type Stat struct {
	Czxid          int64  `json:"cz"`
	Mzxid          int64  `json:"mz"`
	Pzxid          int64  `json:"pz"`
	Version        int32  `json:"v"`
	Cversion       int32  `json:"cv"`
	Aversion       int32  `json:"av"`
	EphemeralOwner string `json:"eo"` // the name of the session
	DataLength     int32  `json:"len"`
	NumChildren    int32  `json:"nc"`
}

// ACL is one entry of an access control list.
type ACL struct {
	Perms  int32  `json:"perms"`
	Scheme string `json:"scheme"`
	ID     string `json:"id"`
}

// Results without a code from the server, as the recorder wrote them.
const (
	errConnectionLoss = "CONNECTIONLOSS" // no connection, or closed without a reply
	errTimeout        = "TIMEOUT"        // no reply in 5 seconds
)

// maxShownData is the longest data that a result quotes.
const maxShownData = 256

// The operations that are not requests of their own.
const (
	opOpen   = "open"   // new session
	opDrop   = "drop"   // the TCP connection ends, the session lives
	opReopen = "reopen" // the session gets a new connection
	opExpire = "expire" // the server ends the session
	opWait   = "wait"   // until the server has committed that many txns of its own
	opIdle   = "idle"   // nothing happens for a while
	opAuth   = "auth"
	opClose  = "close" // closeSession
	opRaw    = "raw"   // a bare opcode
)

var control = map[string]bool{opOpen: true, opDrop: true, opReopen: true, opExpire: true, opWait: true, opIdle: true}

// requests has the operations that the model executes.
var requests = map[string]model.Op{
	"create": model.OpCreate, "create2": model.OpCreate2, "createContainer": model.OpCreateContainer,
	"createTTL": model.OpCreateTTL, "delete": model.OpDelete, "set": model.OpSetData, "setACL": model.OpSetACL,
	"check": model.OpCheck, "exists": model.OpExists, "get": model.OpGetData, "children": model.OpGetChildren,
	"children2": model.OpGetChildren2, "getACL": model.OpGetACL, "sync": model.OpSync,
	"getEphemerals": model.OpGetEphemerals, "getAllChildrenNumber": model.OpCountChildren,
	"whoAmI": model.OpWhoAmI, "multi": model.OpMulti, "multiRead": model.OpMultiRead,
	"addWatch": model.OpAddWatch, "removeWatches": model.OpRemoveWatches, "checkWatches": model.OpCheckWatches,
	"setWatches": model.OpSetWatches, "setWatches2": model.OpSetWatches2, "ping": model.OpPing,
	opClose: model.OpCloseSession,
}

// errNames is every name that Reply.Err can have.
var errNames = func() map[string]bool {
	names := map[string]bool{errConnectionLoss: true, errTimeout: true}
	for c := model.OK; c > -200; c-- {
		if name := c.String(); !strings.HasPrefix(name, "CODE(") {
			names[name] = true
		}
	}
	return names
}()
