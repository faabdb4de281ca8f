package checkers

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

// Znodes is the linearizability of ZooKeeper itself, as its documentation promises it: "writes are linearizable", and a
// read that follows a sync sees every write that was answered before that sync was asked for. It judges recorded
// operations on single znodes (Invoke and Return of create, set, delete and get, with Path, Data and Version). A get
// begins no later than the call of a sync that its client has made. It is left out if a deposed leader may have
// answered, because such a leader answers a sync by itself. All writes to those znodes have to be recorded, and no two
// creates or sets of one znode may write the same data.
//
// Where the history has the txns, they give the order of the writes and the fate of those with unknown outcomes, so the
// check takes near-linear time. Elsewhere porcupine looks for an order in which the known zxids grow. It begins when
// there were no such znodes.
type Znodes struct{}

// Name implements [Checker].
func (Znodes) Name() string { return "znodes" }

// Doc implements [Checker].
func (Znodes) Doc() string {
	return "writes and synced reads of a znode are linearizable, in the order of the zxids"
}

// Needs implements [Declaring].
func (Znodes) Needs() Needs {
	return Needs{
		Words: judged("the operation of ZooKeeper, on the znode in Path", "create", "set", "delete", "get"),
		Seen: []Need{some("an answer of create, set, delete or get", "record it with Object.Record",
			succeeds("create", "set", "delete", "get"))},
	}
}

// Check implements [Checker].
func (z Znodes) Check(h *history.History) Verdict {
	for _, r := range registers(h) {
		v := Verdict{}
		if h.Txns {
			v = z.inZxidOrder(h, r)
		} else {
			v = z.inSomeOrder(r)
		}
		if v.Level != OK {
			return v
		}
	}
	return Verdict{}
}

// inSomeOrder lets porcupine find an order.
func (z Znodes) inSomeOrder(r *register) Verdict {
	switch linearizable(r.ops, znodeState{}, znodeState.step) {
	case Violated:
		return violated(z, -1, "no order of the operations on %s explains their answers", r.path)
	case Unknown:
		return Verdict{Unknown, z.Name(), "the operations on " + r.path + " are too many to be judged in time", -1}
	}
	return Verdict{}
}

// register is what was done to one znode.
type register struct {
	path string
	ops  []*access // in the order of the calls
	txns []int     // positions of its txns
}

// access is an operation on a znode and what was answered. Its interval is in
// positions of the history; ret is beyond the history's end when the outcome is
// unknown.
type access struct {
	span
	op       string
	path     string
	data     string // written, or read
	expected int32  // version, -1 for any
	err      error
	version  int32 // that a get or set answered
	mzxid    int64 // the same
	unknown  bool

	zxid int64 // of the txn of a write, where known
}

// at is the zxid of a write, 0 where it is not known. Where the txn of a set is not known, it is what the set answered.
func (a *access) at() int64 {
	if a.op == "set" {
		return cmp.Or(a.zxid, a.mzxid)
	}
	return a.zxid
}

func (a *access) writes() bool { return a.op != "get" && (a.err == nil || a.unknown) }

// String describes the operation for a message.
func (a *access) String() string {
	answer := "was done"
	switch {
	case a.err != nil:
		answer = "failed: " + a.err.Error()
	case a.op == "get":
		answer = fmt.Sprintf("read %q of version %d, mzxid 0x%x", a.data, a.version, a.mzxid)
	case a.op == "set":
		answer = fmt.Sprintf("made version %d, mzxid 0x%x", a.version, a.mzxid)
	}
	return fmt.Sprintf("c%d's %s of %s, which %s", a.client, a.op, a.path, answer)
}

// registers returns the znodes with recorded operations, in the order of the
// first. Reads whose outcome is unknown say nothing and are left out.
func registers(h *history.History) (list []*register) {
	byPath, txns := map[string]*register{}, map[string][]int{}
	open := map[ongoing]*access{}
	for i := range h.Events {
		e := &h.Events[i]
		r := byPath[e.Path]
		switch e.Kind {
		case history.Invoke:
			if !isAccess(e.Op) {
				break
			}
			if r == nil {
				r = &register{path: e.Path}
				byPath[e.Path] = r
				list = append(list, r)
			}
			a := &access{span: span{e.Client, i, len(h.Events)}, op: e.Op, path: e.Path, data: e.Data,
				expected: e.Version, unknown: true}
			open[ongoingOf(e)] = a
			r.ops = append(r.ops, a)
		case history.Return:
			if a := open[ongoingOf(e)]; a != nil {
				a.answer(e, i)
			}
			delete(open, ongoingOf(e))
		case history.Created, history.Changed, history.Deleted:
			txns[e.Path] = append(txns[e.Path], i)
		}
	}
	for _, r := range list {
		r.txns = txns[r.path]
		r.ops = slices.DeleteFunc(r.ops, func(a *access) bool { return a.unknown && a.op == "get" })
	}
	return list
}

// isAccess reports whether an operation is one on a znode.
func isAccess(op string) bool { return op == "create" || op == "set" || op == "delete" || op == "get" }

// txnOp returns the operation that makes a txn of that kind, "" for other events.
func txnOp(k history.Kind) string {
	switch k {
	case history.Created:
		return "create"
	case history.Changed:
		return "set"
	case history.Deleted:
		return "delete"
	}
	return ""
}

func (a *access) answer(e *history.Event, i int) {
	a.err = e.Err
	if e.Err == nil || definite(e.Err) {
		a.unknown, a.ret = false, i
		a.version, a.mzxid = e.Version, e.Zxid
	}
	if a.op == "get" {
		a.data = e.Data
	}
}

// definite reports whether a server has said no.
func definite(err error) bool {
	return err == zk.ErrNoNode || err == zk.ErrNodeExists || err == zk.ErrBadVersion
}

// znodeState is one znode.
type znodeState struct {
	exists  bool
	data    string
	version int32
	mzxid   int64 // 0 when not known
	last    int64 // the highest known zxid of its writes
}

// step is the sequential znode: whether it can answer a as it did, and what becomes of it. A write with an unknown
// outcome and without a known txn may fail, or take effect when nobody looks any more.
func (s znodeState) step(a *access) (bool, znodeState) {
	if z := a.at(); z != 0 && z <= s.last {
		return false, s
	}
	err, next := s.execute(a)
	if a.unknown {
		return err == nil || a.zxid == 0, next
	}
	if err != a.err {
		return false, s
	}
	if err == nil && (a.op == "get" || a.op == "set") {
		if next.mzxid == 0 && a.mzxid > s.last {
			next.mzxid, next.last = a.mzxid, a.mzxid
		}
		if next.version != a.version || next.mzxid != a.mzxid || next.data != a.data {
			return false, s
		}
	}
	return true, next
}

// execute is what a server does with the request; the state after an error is
// the one before.
func (s znodeState) execute(a *access) (error, znodeState) {
	switch {
	case a.op == "create" && s.exists:
		return zk.ErrNodeExists, s
	case a.op == "create":
		return nil, znodeState{exists: true, data: a.data, mzxid: a.zxid, last: max(s.last, a.zxid)}
	case !s.exists:
		return zk.ErrNoNode, s
	case a.expected != -1 && a.expected != s.version && a.op != "get":
		return zk.ErrBadVersion, s
	case a.op == "set":
		return nil, znodeState{exists: true, data: a.data, version: s.version + 1, mzxid: a.at(), last: max(s.last, a.at())}
	case a.op == "delete":
		return nil, znodeState{last: max(s.last, a.zxid)}
	}
	return nil, s // get
}
