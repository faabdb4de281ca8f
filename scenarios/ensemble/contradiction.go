package ensemble

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"zksim/internal/txnlog"
	"zksim/model"
	"zksim/model/history"
)

// contradiction says which txn cannot follow those before it; "" if all can. What several servers have logged was
// committed, or will be, by the protocol. Servers of 3.8.0 that follow a leader may log a txn while they shut down for
// an election, and go on without it in memory (ZOOKEEPER-4712): the next leader executes the same again.
func contradiction(log []txnlog.Txn) string {
	t := tree{made: map[string]int64{"/": 0}, nth: map[string]int32{}, owned: map[int64][]string{}}
	for i := range log {
		if why := t.apply(&log[i]); why != "" {
			return fmt.Sprintf("the servers have logged a txn 0x%x that cannot follow the others: %s", log[i].Zxid, why)
		}
	}
	return ""
}

// phantom names a znode that an answer shows and that no txn has made by then; "" if there is none.
func phantom(h *history.History, log []txnlog.Txn) string {
	made := map[string][]int64{}
	for i := range log {
		for _, c := range log[i].Changes {
			if c.Op == model.OpCreate {
				made[c.Path] = append(made[c.Path], log[i].Zxid)
			}
		}
	}
	for _, n := range h.Tree {
		if !slices.Contains(made[n.Path], n.Czxid) {
			return fmt.Sprintf("in the end a server has %s, made at zxid 0x%x, and no txn has made it", n.Path, n.Czxid)
		}
	}
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Reply || e.Err != nil || !slices.Contains(reads, e.Op) ||
			strings.HasPrefix(e.Path, "/zookeeper") {
			continue
		}
		if all := made[e.Path]; e.Path != "/" && (len(all) == 0 || all[0] > e.Zxid) {
			return fmt.Sprintf("c%d was told at zxid 0x%x that %s exists, and no txn has made it", e.Client, e.Zxid, e.Path)
		}
	}
	return ""
}

// reads are the requests that fail where there is no znode.
var reads = []string{"exists", "existsW", "get", "getW", "children", "childrenW", "getACL"}

// tree is what a log of txns has made so far.
type tree struct {
	made  map[string]int64   // znodes, and by which txn
	nth   map[string]int32   // of each parent the number of its last child
	owned map[int64][]string // ephemerals, or what was one, by session
}

// apply executes a txn, and says why it cannot.
func (t *tree) apply(x *txnlog.Txn) (why string) {
	if x.Op == model.OpCloseSession { // which names all or, in logs of 3.5, none
		for _, p := range t.owned[x.Session] {
			t.remove(p)
		}
		delete(t.owned, x.Session)
		return ""
	}
	for i := range x.Changes {
		c := &x.Changes[i]
		by, exists := t.made[c.Path]
		switch parent := path.Dir(c.Path); {
		case strings.HasPrefix(c.Path, "/zookeeper"): // the servers' own, of which a part is not made by txns
		case c.Op != model.OpCreate && !exists:
			return fmt.Sprintf("%v of %s, which does not exist", c.Op, c.Path)
		case c.Op == model.OpDelete:
			t.remove(c.Path)
		case c.Op != model.OpCreate:
		case exists:
			return fmt.Sprintf("create of %s, which exists since 0x%x", c.Path, by)
		case c.Nth <= t.nth[parent]:
			return fmt.Sprintf("create of %s as child %d of %s, which has had %d", c.Path, c.Nth, parent, t.nth[parent])
		default:
			t.made[c.Path], t.nth[parent] = x.Zxid, c.Nth
			if c.Owned {
				t.owned[x.Session] = append(t.owned[x.Session], c.Path)
			}
		}
	}
	return ""
}

func (t *tree) remove(p string) {
	delete(t.made, p)
	delete(t.nth, p)
}
