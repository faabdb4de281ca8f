package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
	"zksim/model/jute"
	"zksim/sim"
)

// limit is how many events a recorder keeps, and limitBytes how many bytes of paths and data. Anything after that is
// not judged.
const (
	limit      = 4_000_000
	limitBytes = 1 << 30
)

// Recorder makes a history of what clients and servers say on any number of connections. Its methods may be called
// concurrently.
type Recorder struct {
	mu       sync.Mutex
	events   []history.Event
	bytes    int                 // of their strings
	lost     int                 // events beyond the limits
	sessions map[int64]*session  // by id
	owner    map[string]*session // of each ephemeral that exists
	objects  int32
	epoch    int64    // the highest in an answer of a server
	unknown  []string // what could not be followed, one per connection
	strange  int      // number of connections beyond these
	missed   error    // why the latest client reached no server; nil: it has a session
}

// NewRecorder returns a recorder that has heard nothing.
func NewRecorder() *Recorder {
	return &Recorder{sessions: map[int64]*session{}, owner: map[string]*session{}}
}

// add adds an event. Behind one that is lost all are, because a history with a gap would show what has not happened.
// The caller holds the lock.
func (r *Recorder) add(e history.Event) {
	e.Path = ShortPath(e.Path)
	if e.Kind != history.Reply { // the names of children are needed
		e.Data = ShortData(e.Data)
	}
	n := len(e.Path) + len(e.Data)
	if r.lost > 0 || len(r.events) >= limit || r.bytes+n > limitBytes {
		r.lost++
		return
	}
	r.bytes += n
	r.events = append(r.events, e)
}

// call is an unanswered request.
type call struct {
	xid    int32
	at     int32 // position of its event
	object int32 // for the judge of znodes; 0: it ignores the call
	word   string
	size   int
	request
}

// maxOpen limits the bytes of the unanswered requests of a connection, each with callSize more. With a server that
// reads and never answers they would grow without end.
const (
	maxOpen  = 64 << 20
	callSize = 256
)

type request = model.Request

// Connection is what a recorder hears of one connection of a client.
type Connection struct {
	r              *Recorder
	sent, received jute.Frames
	head           []byte // the first bytes of the client, at most wordLen
	greeted        [2]bool
	session        int64
	wanted         int64 // the session that the client had before; 0: none, or its password is wrong
	client         int32
	open           []call
	waiting        int // bytes of the open calls
	synced         bool
	deaf           bool // it can no longer be followed
	closing        bool // its client has asked to close the session
	mute           bool // its client sends no more
	pinged         bool // its client has sent a ping, and the server has said nothing since
}

// Missed records that a connection of a client, or to a server, could not be made.
func (r *Recorder) Missed(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missed = why
}

// gaps returns sentences about what was not heard. The caller holds the lock.
func (r *Recorder) gaps() []string {
	list := slices.Clone(r.unknown)
	if r.strange > 0 {
		list = append(list, fmt.Sprintf("so it is of %d more connections", r.strange))
	}
	if r.lost > 0 {
		list = append(list, fmt.Sprintf("only the first %d events are judged, and not the %d after them", len(r.events),
			r.lost))
	}
	if r.missed != nil {
		list = append(list, fmt.Sprintf("a client came and no server could be reached: %v", r.missed))
	}
	return list
}

// gap is the word of the event for a gap, whose data describes it.
const gap = "gap"

// Connect starts to record another connection.
func (r *Recorder) Connect() *Connection { return &Connection{r: r} }

// Sent records the next bytes of the client, before the server gets them.
func (c *Connection) Sent(b []byte) {
	c.head = append(c.head, b[:min(len(b), wordLen-len(c.head))]...)
	c.hear(&c.sent, b, c.request, "a client")
}

// wordLen is the length of the words that servers answer before there is a session, such as "ruok".
const wordLen = 4

// asksByWord reports whether the client has sent such a word. Read as a length, it would be more than a gigabyte.
func (c *Connection) asksByWord() bool {
	return len(c.head) == wordLen && strings.Trim(string(c.head), "abcdefghijklmnopqrstuvwxyz") == ""
}

// Received records the next bytes of the server, before the client gets them.
func (c *Connection) Received(b []byte) { c.hear(&c.received, b, c.answer, "a server") }

// hear follows one direction. What it cannot follow ends the recording of this connection; the bytes still go on to the
// other side.
func (c *Connection) hear(f *jute.Frames, b []byte, packet func([]byte) error, who string) {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	if c.deaf {
		return
	}
	f.Max = model.MaxPacketLen * maxFrames
	err := f.Feed(b, packet)
	if c.deaf = err != nil; !c.deaf || c.asksByWord() {
		return
	}
	if len(c.r.unknown) == maxUnknown {
		c.r.strange++
		return
	}
	whose := "of a connection without a session"
	if c.client > 0 {
		whose = fmt.Sprintf("of c%d", c.client)
	}
	c.r.unknown = append(c.r.unknown, fmt.Sprintf("%s %s said what cannot be followed: %v", who, whose, err))
}

// maxUnknown limits how many connections that cannot be followed are described.
const maxUnknown = 100

// maxFrames is how many times longer than a request an answer may be: a server limits only what it gets.
const maxFrames = 64

// request handles a packet of the client.
func (c *Connection) request(packet []byte) error {
	if !c.greeted[0] {
		c.greeted[0] = true
		q, err := jute.ParseConnectRequest(packet)
		if err == nil {
			c.wants(&q)
		}
		return err
	}
	xid, q, err := jute.ParseRequest(packet)
	c.pinged = c.pinged || err == nil && q.Op == model.OpPing
	if err != nil || q.Op == model.OpPing || xid < 0 && silent(q.Op) { // their answers have no turn
		return err
	}
	q.Data = slices.Clone(q.Data)
	x := call{xid: xid, request: q, word: c.judged(&q), size: callSize + len(packet)}
	if c.waiting += x.size; c.waiting > maxOpen {
		n := len(c.open) + 1
		c.open = nil
		return fmt.Errorf("%d requests without an answer", n)
	}
	if silent(q.Op) {
		c.open = append(c.open, x)
		return nil
	}
	if x.word != "" {
		c.r.objects++
		x.object = c.r.objects
		version := q.Version
		if x.word == "create" || x.word == "get" {
			version = -1
		}
		c.r.add(history.Event{Kind: history.Invoke, Client: c.client, Object: x.object, Op: x.word, Path: q.Path,
			Data: string(q.Data), Version: version, Session: c.ephemeral(&q)})
	}
	for i := range q.Ops {
		if Word(&q.Ops[i]) != "" && Word(&q.Ops[i]) != "get" { // it may never be known whether these were done
			c.r.add(history.Event{Kind: history.Call, Client: c.client, Op: sim.OpName(&q), Path: q.Ops[i].Path,
				Session: c.session})
		}
	}
	x.at = int32(len(c.r.events))
	c.r.add(history.Event{Kind: history.Call, Client: c.client, Op: sim.OpName(&q), Path: q.Path, Session: c.session})
	c.closing = q.Op == model.OpCloseSession
	c.open = append(c.open, x)
	return nil
}

// silent reports whether an operation is not recorded. go-zookeeper numbers these like others, so their answer may be
// the next one.
func silent(op model.Op) bool { return op == model.OpAuth || op == model.OpSASL }

// judged returns the word of an operation, or "" for a read that may see old data: without a sync, or while its session
// has two connections, of which one may lead to a server that is behind.
func (c *Connection) judged(q *model.Request) string {
	word := Word(q)
	if word == "" {
		c.synced = q.Op == model.OpSync
	}
	if word == "get" && (!c.synced || len(c.r.at(c.session)) > 1) {
		return ""
	}
	return word
}

// Words are the words for operations that the judge of znodes uses.
var Words = []string{"create", "delete", "set", "get"}

// Word returns the word for an operation that the judge of znodes uses; "" if it ignores the operation. It ignores
// sequential creates, because only the answer says which znode they write.
func Word(q *model.Request) string {
	switch q.Op {
	case model.OpCreate, model.OpCreate2, model.OpCreateContainer, model.OpCreateTTL:
		if q.Flags&zk.FlagSequence != 0 && q.Flags != zk.FlagTTL {
			return ""
		}
		return "create"
	case model.OpDelete:
		return "delete"
	case model.OpSetData:
		return "set"
	case model.OpGetData:
		return "get"
	}
	return ""
}

// answer handles a packet of the server.
func (c *Connection) answer(packet []byte) error {
	c.pinged = false
	if !c.greeted[1] {
		c.greeted[1] = true
		return c.welcome(packet)
	}
	a, err := jute.ParseReply(packet)
	if err != nil {
		return err
	}
	if a.Xid == jute.XidEvent {
		ev, err := a.Event()
		c.r.add(history.Event{Kind: history.Notify, Client: c.client, Op: history.EventName(ev.Type), Path: ev.Path})
		return err
	}
	for len(c.open) > 0 && c.open[0].xid != a.Xid && c.open[0].Op == model.OpCheck { // successful: see [model.Response]
		c.take(0)
	}
	if len(c.open) == 0 || c.open[0].xid != a.Xid {
		if c.overtaken(a.Xid) {
			return nil
		}
		if a.Xid == jute.XidPing || a.Xid < 0 { // from the handshake of a library, such as an authentication
			return nil
		}
		return fmt.Errorf("an answer to request %d, which was not sent or is not the first", a.Xid)
	}
	x := c.take(0)
	if silent(x.Op) {
		return nil
	}
	return c.answered(&x, &a)
}

// overtaken reports whether an answer belongs to an authentication, which a server answers at once, before earlier
// requests. It removes that call from the open ones.
func (c *Connection) overtaken(xid int32) bool {
	i := slices.IndexFunc(c.open, func(x call) bool { return x.xid == xid && silent(x.Op) })
	if i < 0 {
		return false
	}
	c.take(i)
	return true
}

// take removes one of the open calls.
func (c *Connection) take(i int) call {
	x := c.open[i]
	c.open = slices.Delete(c.open, i, i+1)
	c.waiting -= x.size
	return x
}

// answered handles the answer to a request.
func (c *Connection) answered(x *call, a *jute.Reply) error {
	var res model.Response
	var err error
	refusal := a.Err
	if a.Err == model.OK {
		if res, err = a.Response(x.Op); err != nil {
			return err
		}
		refusal = x.Refusal(&res)
		c.changes(&x.request, &res, history.Event{Client: c.client, Zxid: a.Zxid, Step: x.at})
	}
	switch {
	case x.Op == model.OpCloseSession && a.Err == model.OK:
		c.ended(a.Zxid, x.at)
	case x.Op == model.OpSync && a.Err != model.OK:
		c.unsynced()
	}
	reply := history.Event{Kind: history.Reply, Client: c.client, Op: sim.OpName(&x.request), Path: x.Path, Zxid: a.Zxid,
		Err: refusal.Err(), Session: c.session, Version: x.Mode}
	if x.Op == model.OpGetChildren || x.Op == model.OpGetChildren2 {
		reply.Data = strings.Join(res.Children, "/")
	}
	c.r.add(reply)
	epoch := a.Zxid >> epochBits
	c.r.epoch = max(c.r.epoch, epoch)
	if x.object == 0 || x.word == "get" && epoch < c.r.epoch {
		return nil
	}
	e := history.Event{Kind: history.Return, Client: c.client, Object: x.object, Op: x.word, Path: x.Path,
		Err: a.Err.Err(), Version: res.Stat.Version, Zxid: res.Stat.Mzxid}
	if x.word == "get" {
		e.Data = string(res.Data)
	}
	c.r.add(e)
	return nil
}

// unsynced handles a sync that was refused, as a read-only server does. It leaves what is read behind it as old as it
// was, up to the next sync.
func (c *Connection) unsynced() {
	for i := range c.open {
		switch x := &c.open[i]; {
		case x.Op == model.OpSync:
			return
		case x.word == "get":
			x.object = 0
		}
	}
	c.synced = false
}

// epochBits is how many bits of a zxid are below its epoch. A server whose epoch is behind others has been deposed and
// does not know it yet, or follows such a server. It answers a sync by itself, so what it returns to a read may be old.
const epochBits = 32

// changes records the txns of a request that was carried out. Until the history is made, the Step of a change is the
// position of its request. e has what the changes of one request have in common.
func (c *Connection) changes(q *model.Request, res *model.Response, e history.Event) {
	e.Path = q.Path
	switch q.Op {
	case model.OpCreate, model.OpCreate2, model.OpCreateContainer, model.OpCreateTTL:
		e.Kind, e.Path, e.Data = history.Created, res.Path, string(q.Data)
		if isEphemeral(q) {
			e.Session = c.session
			c.r.owns(e.Path, c.session)
		}
	case model.OpDelete:
		e.Kind = history.Deleted
		c.r.disowns(e.Path)
	case model.OpSetData:
		e.Kind, e.Data = history.Changed, string(q.Data)
	case model.OpMulti:
		if q.FailedOp(res) >= 0 {
			return
		}
		for i := range min(len(q.Ops), len(res.Results)) {
			c.changes(&q.Ops[i], &res.Results[i], e)
		}
		return
	default:
		return
	}
	c.r.add(e)
}

// isEphemeral reports whether a create makes an ephemeral, with or without a sequence number. Containers and znodes
// with a time to live are none.
func isEphemeral(q *model.Request) bool {
	return (q.Op == model.OpCreate || q.Op == model.OpCreate2) && q.Flags&zk.FlagEphemeral != 0 && q.Flags < zk.FlagTTL
}

// ephemeral returns the session that an ephemeral will belong to, -1 if it is not known yet; 0 if q makes no ephemeral.
func (c *Connection) ephemeral(q *model.Request) int64 {
	if !isEphemeral(q) {
		return 0
	}
	return cmp.Or(c.session, -1)
}
