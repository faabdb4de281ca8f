// Package history is what a run leaves for the judges: invocations and responses, belief intervals, watch
// notifications, committed changes, faults, and the state at the end. Both backends write it; nothing in it refers to
// the simulator.
package history

import (
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
)

// Kind says what an [Event] records.
type Kind uint8

// The kinds of events. The fields in brackets are set besides Client.
const (
	Invoke   Kind = iota // a recipe operation begins [Object Op; Path and Value: what it is asked]
	Return               // it ends [Object Op Err; Path and Value: what it answers, OK: Err is a legal answer]
	Told                 // a recipe told the program something of its own accord [Object Op Path Value Zxid OK Err]
	Acquired             // Object's holder may believe it holds the lock [Object Path Value=token]
	Lost                 // the recipe told the holder that the lock is lost [Object]
	Released             // the holder gives it up [Object]
	Write                // a holder writes to the guarded resource, or reads it: Op=read [Object Value=token OK=accepted]
	Call                 // a ZooKeeper operation is issued [Op Path]
	Reply                // ... and answered [Op Path Err; Zxid: how far a real server was, Version: the mode of a watch]
	Notify               // a watch event reaches the client [Op=type Path Zxid]; Zxid 0: unknown or catch-up
	Created              // committed; Client is the author [Path Data Zxid Proposed Session=owner of an ephemeral]
	Changed              // committed: new data [Path Data Zxid Proposed]
	Deleted              // committed, as Created [Path Zxid Proposed Session]
	Session              // the session changes state [Op=state Session Version=which connection, 0 the first]
	Heard                // client code hears how its session is [Op=[Connected], [Disconnected] or empty; Session Version]
	Exceeded             // the client's session was ended before it could know [Version=which connection]
	Crashed              // the client's process ended
	Fault                // [Op=name of the transition]
	Calm                 // faults are over
)

var kindNames = [...]string{"invoke", "return", "told", "acquired", "lost", "released", "write", "call", "reply",
	"notify",
	"created", "changed", "deleted", "session", "heard", "exceeded", "crashed", "fault", "calm"}

// KindNames returns the names of all kinds, in their order.
func KindNames() []string { return append([]string(nil), kindNames[:]...) }

// KindOf returns the kind of that name, and whether there is one.
func KindOf(name string) (Kind, bool) {
	for k, x := range kindNames {
		if x == name {
			return Kind(k), true
		}
	}
	return 0, false
}

// What client code hears of its connection: [Event.Op] of Heard, empty if the code has asked only for the id of its
// session. It is the state at that moment, whatever older news has just arrived. Session is 0 if the library knows
// that the session is over and has no other yet.
const (
	Connected    = "connected"
	Disconnected = "disconnected"
)

// Closed is [Event.Op] of the Session whose client has closed it. Only the recordings of real traffic have this.
const Closed = "StateClosed"

// String returns the name used in history.jsonl.
func (k Kind) String() string { return kindNames[k] }

// IsChange reports whether events of the kind are changes of a znode.
func (k Kind) IsChange() bool { return k == Created || k == Changed || k == Deleted }

// Event is one entry. Its position in [History.Events] is its time: positions
// are unique, so two events are never taken for concurrent by accident.
type Event struct {
	Kind Kind
	OK   bool
	// Proposed says that the event is when the change was proposed. It was committed then or later, at the latest when a
	// Reply has its Zxid or a higher one.
	Proposed bool
	Client   int32 // 1 for c1; 0 for none
	Object   int32 // a recipe object, unique in the history; 0 for none
	Step     int32 // of the schedule
	Version  int32 // of a znode
	Zxid     int64
	Value    int64
	Session  int64
	Op       string
	Path     string
	Data     string
	Task     string // the goroutine of client code that recorded it; empty for the main one
	Err      error
}

// String describes the event briefly.
func (e Event) String() string {
	var b strings.Builder
	if e.Client > 0 {
		fmt.Fprintf(&b, "c%d ", e.Client)
	}
	b.WriteString(e.Kind.String())
	for _, word := range []string{e.Op, e.Path} {
		if word != "" {
			fmt.Fprintf(&b, " %s", word)
		}
	}
	if e.Kind == Acquired || e.Kind == Write {
		fmt.Fprintf(&b, " token %#x", e.Value)
	}
	if e.Kind == Write && !e.OK {
		b.WriteString(" refused")
	}
	if e.Zxid != 0 {
		fmt.Fprintf(&b, " zxid %#x", e.Zxid)
	}
	if e.Session != 0 {
		fmt.Fprintf(&b, " session %#x", e.Session)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Outcome says how a run ended.
type Outcome uint8

// The ways in which a run ends.
const (
	Quiet     Outcome = iota // nothing is left to happen
	StepLimit                // still busy when the limit was reached
	Panicked                 // the recipe or the workload panicked: History.Panic
	Stopped                  // the schedule or the time limit ended it
)

// Waiting is a client that still waits when nothing more can happen.
type Waiting struct {
	Client int32
	Where  string   // name of the coroutine
	Paths  []string // of the watches that it waits for
	Calls  []string // where its code waits, the innermost call first, as "pool.Get pool/pool.go:41"; nil: not looked for
}

// Node is a znode at the end of the run.
type Node struct {
	Path    string
	Data    string
	Owner   int64 // session of an ephemeral, else 0
	Czxid   int64
	Mzxid   int64
	Pzxid   int64
	Version int32
}

// History is one run.
type History struct {
	Clients  int
	Steps    int // of a simulated run: its transitions
	Events   []Event
	Outcome  Outcome
	Panic    string // what it panicked with, an empty line, and the calls of client code, one per line
	Waiting  []Waiting
	Tree     []Node           // sorted by path
	Sessions map[int64]int32  // open sessions and their clients
	Known    map[string]bool  // znodes that live recipe objects answer for
	Finished []bool           // per client, index 0 unused: its workload ended
	Failed   map[int32]string // per client: why its workload gave up
	Txns     bool             // Created, Changed, Deleted and Exceeded are complete
}

// PanicStack returns the calls of client code in a panic, the innermost first, one per line.
func (h *History) PanicStack() string {
	i := strings.LastIndex(h.Panic, "\n\n")
	if i < 0 {
		return ""
	}
	return h.Panic[i+2:]
}

// Add appends an event.
func (h *History) Add(e Event) { h.Events = append(h.Events, e) }

// Reset empties h, keeping memory.
func (h *History) Reset(clients int) {
	events, waiting, tree := h.Events[:0], h.Waiting[:0], h.Tree[:0]
	*h = History{Clients: clients, Events: events, Waiting: waiting, Tree: tree, Sessions: h.Sessions,
		Known: h.Known, Failed: h.Failed, Finished: append(h.Finished[:0], make([]bool, clients+1)...)}
	if h.Sessions == nil {
		h.Sessions, h.Known, h.Failed = map[int64]int32{}, map[string]bool{}, map[int32]string{}
	}
	clear(h.Sessions)
	clear(h.Known)
	clear(h.Failed)
}

// EventName returns the short name of a watch event's type: created, deleted, changed, child, or unwatched for the
// event that ends a watch with its session.
func EventName(t zk.EventType) string {
	switch t {
	case zk.EventNodeCreated:
		return "created"
	case zk.EventNodeDeleted:
		return "deleted"
	case zk.EventNodeDataChanged:
		return "changed"
	case zk.EventNodeChildrenChanged:
		return "child"
	case zk.EventNotWatching:
		return "unwatched"
	}
	return "session"
}
