package wire

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
)

// Causes completes the history of a run whose connections were all tapped. Servers of 3.8 do not say which change a
// notification is about. But a watch fires at the first relevant change after it was set, the answer that set it tells
// how far the server was, and the zxids of the changes are known. So every notification gets the zxid of its change,
// and every change comes before whatever was told of it. Causes fails at a notification that no change explains.
func Causes(h *history.History) error {
	var changes, rest []history.Event
	for i := range h.Events {
		switch h.Events[i].Kind {
		case history.Created, history.Changed, history.Deleted:
			changes = append(changes, h.Events[i])
		default:
			rest = append(rest, h.Events[i])
		}
	}
	slices.SortStableFunc(changes, func(a, b history.Event) int { return cmp.Compare(a.Zxid, b.Zxid) })
	c := newCauses(changes)
	for i := range rest {
		if err := c.see(&rest[i]); err != nil {
			return err
		}
	}
	h.Events = h.Events[:0]
	told := 0
	for _, e := range rest {
		for ; told < len(c.changes) && c.changes[told].Zxid <= e.Zxid; told++ {
			c.changes[told].Step = e.Step
			h.Add(c.changes[told])
		}
		h.Add(e)
	}
	h.Txns = true
	return nil
}

// causes finds the change behind each notification.
type causes struct {
	changes     []history.Event
	data, child map[string][]*history.Event // changes that fire a watch on that path, in order
	set         map[watch]int64             // watches, and the zxid at which each was set
	kept        map[watch]persistent
	told        map[event]int // how many of the changes were passed, for persistent watches
	now         int32         // what has a higher Step was not asked for yet
}

type watch struct {
	client int32
	child  bool
	path   string
}

// persistent is a watch that stays.
type persistent struct {
	since     int64 // zxid from which it reports changes
	recursive bool  // also those of znodes below
}

// event is what a notification says.
type event struct {
	client int32
	op     string
	path   string
}

// newCauses returns the causes for changes, which are in the order of their zxids.
func newCauses(changes []history.Event) *causes {
	c := &causes{changes: changes, data: map[string][]*history.Event{}, child: map[string][]*history.Event{},
		set: map[watch]int64{}, kept: map[watch]persistent{}, told: map[event]int{}, now: math.MaxInt32}
	for i := range c.changes {
		e := &c.changes[i]
		c.data[e.Path] = append(c.data[e.Path], e)
		if e.Kind == history.Changed {
			continue
		}
		parent := model.Folder(e.Path)
		c.child[parent] = append(c.child[parent], e)
		if e.Kind == history.Deleted {
			c.child[e.Path] = append(c.child[e.Path], e)
		}
	}
	return c
}

// drop removes the watches of a client.
func (c *causes) drop(client int32) {
	maps.DeleteFunc(c.set, func(w watch, _ int64) bool { return w.client == client })
	maps.DeleteFunc(c.kept, func(w watch, _ persistent) bool { return w.client == client })
}

// see follows the watches of a client, and gives a notification its zxid.
func (c *causes) see(e *history.Event) error {
	switch {
	case e.Kind == history.Notify:
		e.Zxid = c.cause(e)
		if e.Zxid == 0 {
			return fmt.Errorf("wire: c%d was notified that %s is %s, and nobody has changed it", e.Client, e.Path, e.Op)
		}
	case e.Kind == history.Reply && (e.Err == nil || e.Err == zk.ErrNoNode && e.Op == "existsW"):
		switch e.Op {
		case "getW", "existsW", "childrenW":
			w := watch{e.Client, e.Op == "childrenW", e.Path}
			if _, ok := c.set[w]; !ok {
				c.set[w] = e.Zxid
			}
		case "addWatch":
			c.stays(e)
		case "removeWatches":
			c.removed(e)
		}
	}
	return nil
}

// The modes of addWatch and removeWatches, as in [model.Request].
const (
	recursively = 1
	ofChildren  = 1
	ofData      = 2
)

// stays notes a persistent watch. A recursive one reports no children as such.
func (c *causes) stays(e *history.Event) {
	recursive := e.Version == recursively
	c.kept[watch{e.Client, false, e.Path}] = persistent{e.Zxid, recursive}
	if !recursive {
		c.kept[watch{e.Client, true, e.Path}] = persistent{e.Zxid, false}
	}
}

// removed forgets the watches that a client has removed.
func (c *causes) removed(e *history.Event) {
	for child, other := range map[bool]int32{false: ofChildren, true: ofData} { // order-free
		if e.Version != other {
			w := watch{e.Client, child, e.Path}
			delete(c.set, w)
			delete(c.kept, w)
		}
	}
}

// again notes that a client's watches were set again: it has been told of earlier changes, or never will be.
func (c *causes) again(e *history.Event) {
	for w, zxid := range c.set { // order-free
		if w.client == e.Client {
			c.set[w] = max(zxid, e.Zxid)
		}
	}
	for w, x := range c.kept { // order-free
		if w.client == e.Client {
			c.kept[w] = persistent{max(x.since, e.Zxid), x.recursive}
		}
	}
}

// cause returns the zxid of the first change after the watch was set, and removes the watch unless it is persistent. A
// deletion ends both watches on a path with one notification.
func (c *causes) cause(e *history.Event) int64 {
	first := c.next(e)
	for _, child := range []bool{false, true} {
		if child && e.Op != "child" && e.Op != "deleted" || !child && e.Op == "child" {
			continue
		}
		w := watch{e.Client, child, e.Path}
		since, ok := c.set[w]
		if !ok {
			continue
		}
		delete(c.set, w)
		if e := c.first(w, since); e != nil && (first == 0 || e.Zxid < first) {
			first = e.Zxid
		}
	}
	return first
}

// next returns the zxid of the next change that a persistent watch reports by such a notification; 0: there is none.
func (c *causes) next(e *history.Event) int64 {
	since, ok := c.since(e)
	if !ok {
		return 0
	}
	list := c.data[e.Path]
	if e.Op == "child" {
		list = c.child[e.Path]
	}
	at := event{e.Client, e.Op, e.Path}
	k := sort.Search(len(list), func(k int) bool { return list[k].Zxid > since })
	for k = max(k, c.told[at]); k < len(list) && list[k].Step <= c.now; k++ {
		if told(list[k], e.Op == "child", e.Path) == e.Op {
			c.told[at] = k + 1
			return list[k].Zxid
		}
	}
	return 0
}

// since returns the zxid from which persistent watches send a client such notifications. Notifications of children come
// only from a watch on that znode, the others also from recursive watches above it.
func (c *causes) since(e *history.Event) (zxid int64, ok bool) {
	if e.Op == "child" {
		x, is := c.kept[watch{e.Client, true, e.Path}]
		return x.since, is
	}
	for path := e.Path; ; path = model.ParentPath(path) {
		x, is := c.kept[watch{e.Client, false, cmp.Or(path, "/")}]
		if is && (x.recursive || path == e.Path) && (!ok || x.since < zxid) {
			zxid, ok = x.since, true
		}
		if path == "" {
			return zxid, ok
		}
	}
}

// told is the word with which a watch on a path reports a change.
func told(change *history.Event, child bool, path string) string {
	if child && change.Path != path {
		return "child"
	}
	return change.Kind.String()
}

// first returns the first change after a zxid at which a watch fires; nil: there is none.
func (c *causes) first(w watch, since int64) *history.Event {
	list := c.data[w.path]
	if w.child {
		list = c.child[w.path]
	}
	k := sort.Search(len(list), func(k int) bool { return list[k].Zxid > since })
	if k == len(list) || list[k].Step > c.now {
		return nil
	}
	return list[k]
}

// Explain gives the notifications of a run the zxids of their changes. The changes are known from elsewhere, and in the
// order of their zxids. The Step of each is the position of its request in the history, or 0. What a server tells a
// client that has reconnected is about no particular change: its zxid stays 0. So does that of a notification before
// the requests of all changes that could explain it, as when a session has ended and no packet tells what went with it.
func Explain(h *history.History, changes []history.Event) error {
	c := newCauses(changes)
	catchingUp, several := map[int32]bool{}, map[int32]bool{}
	for i := range h.Events {
		e := &h.Events[i]
		c.now = int32(i)
		switch {
		case e.Kind == history.Session && e.Version > 0: // it is unknown which watches belong to that connection
			several[e.Client] = true
		case e.Kind == history.Session:
			delete(catchingUp, e.Client)
			if e.Op == zk.StateExpired.String() { // the watches have ended with the session
				c.drop(e.Client)
			}
		case strings.HasPrefix(e.Op, "setWatches"):
			catchingUp[e.Client] = e.Kind == history.Call
			if e.Kind == history.Reply && e.Err == nil && !several[e.Client] {
				c.again(e)
			}
		case e.Kind == history.Notify:
			if e.Zxid = c.cause(e); catchingUp[e.Client] {
				e.Zxid = 0
			}
		case e.Kind == history.Reply:
			if err := c.see(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// Untold names a watch whose event a client was not told although it was told of something later: on one connection the
// event comes first. It returns "" if there is none. Watches are only followed on the connection on which they were
// left.
func Untold(h *history.History, changes []history.Event) string {
	c := newCauses(changes)
	several := map[int32]bool{}
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case several[e.Client]:
		case e.Kind == history.Session:
			several[e.Client] = e.Version > 0
			c.drop(e.Client)
		case e.Kind == history.Notify:
			c.cause(e)
		case e.Kind == history.Reply:
			for w, since := range c.set { // order-free: any will do
				if first := c.first(w, since); w.client == e.Client && first != nil && first.Zxid <= e.Zxid {
					return fmt.Sprintf("c%d was told of zxid 0x%x, and not of 0x%x, for which it had a watch on %s since 0x%x",
						e.Client, e.Zxid, first.Zxid, w.path, since)
				}
			}
			c.see(e)
		}
	}
	return ""
}

// Unfounded names a notification about a znode below root for which its client had no watch, or that is not about the
// first change after the watch was set; "" if there is none. Clients are only followed while they have their first
// connection and set watches by reads.
func Unfounded(h *history.History, changes []history.Event, root string) string {
	c := newCauses(changes)
	asked, lost := map[int32]bool{}, map[int32]bool{} // clients that have sent a request, or that are not followed
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case lost[e.Client]:
		case e.Kind == history.Session:
			lost[e.Client] = e.Version > 0 || asked[e.Client]
		case e.Kind == history.Call:
			asked[e.Client] = true
			lost[e.Client] = e.Op == "addWatch" || strings.HasPrefix(e.Op, "setWatches")
		case e.Kind == history.Notify && strings.HasPrefix(e.Path, root+"/"):
			if why := c.unfounded(e); why != "" {
				return fmt.Sprintf("c%d was notified that %s is %s, and %s", e.Client, e.Path, e.Op, why)
			}
			c.cause(e)
		case e.Kind == history.Reply:
			c.see(e)
		}
	}
	return ""
}

// unfounded says why a notification is unfounded; "" if it is not.
func (c *causes) unfounded(e *history.Event) string {
	why := "it had no watch there"
	for _, child := range []bool{false, true} {
		w := watch{e.Client, child, e.Path}
		since, ok := c.set[w]
		if !ok {
			continue
		}
		is := "unchanged"
		if first := c.first(w, since); first != nil {
			is = told(first, child, e.Path)
		}
		if is == e.Op {
			return ""
		}
		why = fmt.Sprintf("for its watch since zxid 0x%x it is %s", since, is)
	}
	return why
}
