package conform

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

// Difference is a property of one operation on which the two sides disagree.
type Difference struct {
	Step      int // of the operation in its sequence
	Field     string
	Real, Sim string
}

// String describes the difference in one line.
func (d Difference) String() string {
	return fmt.Sprintf("step %d: %s: ZooKeeper %s, simulator %s", d.Step, d.Field, d.Real, d.Sim)
}

// comparison compares the outcomes of one sequence, in order. It remembers which zxids correspond.
type comparison struct {
	step  int
	zxids correspondence
	times [2]map[int64]int64 // by zxid, for the real and the simulated side
	found []Difference
}

func newComparison() *comparison {
	return &comparison{times: [2]map[int64]int64{{}, {}}}
}

// outcome compares the outcomes of one operation.
func (c *comparison) outcome(o *Op, step int, real, sim *Outcome) {
	c.step = step
	c.result("", &real.Result, &sim.Result)
	c.text("data", real.Data, sim.Data)
	c.text("found", real.Found, sim.Found)
	c.list("children", real.Children, sim.Children)
	c.list("acl", real.ACL, sim.ACL)
	if len(real.Results) != len(sim.Results) {
		c.text("results", fmt.Sprint(len(real.Results)), fmt.Sprint(len(sim.Results)))
	}
	for i := range min(len(real.Results), len(sim.Results)) {
		c.result(fmt.Sprintf("results[%d].", i), &real.Results[i], &sim.Results[i])
	}
	c.text("session", real.Session, sim.Session)
	c.events(o, real.Events, sim.Events)
	c.states(o, real.States, sim.States)
	c.list("fired", real.Fired, sim.Fired)
}

func (c *comparison) differ(field, real, sim string) {
	c.found = append(c.found, Difference{c.step, field, real, sim})
}

func (c *comparison) text(field, real, sim string) {
	if real != sim {
		c.differ(field, cmp.Or(real, "nothing"), cmp.Or(sim, "nothing"))
	}
}

func (c *comparison) list(field string, real, sim []string) {
	if !slices.Equal(real, sim) {
		c.differ(field, fmt.Sprintf("%q", real), fmt.Sprintf("%q", sim))
	}
}

func (c *comparison) result(prefix string, real, sim *Result) {
	c.text(prefix+"err", real.Err, sim.Err)
	c.text(prefix+"path", real.Path, sim.Path)
	c.stat(prefix+"stat", real.Stat, sim.Stat)
}

// stat compares everything except zxids and times for equality. Zxids must correspond, and each time must be that of
// the txn.
func (c *comparison) stat(field string, real, sim *Stat) {
	if real == nil || sim == nil {
		if real != sim {
			c.differ(field, presence(real), presence(sim))
		}
		return
	}
	c.zxid(field+".czxid", real.Czxid, sim.Czxid)
	c.zxid(field+".mzxid", real.Mzxid, sim.Mzxid)
	c.zxid(field+".pzxid", real.Pzxid, sim.Pzxid)
	for i, s := range []*Stat{real, sim} {
		c.time(i, field+".ctime", s.Czxid, s.Ctime)
		c.time(i, field+".mtime", s.Mzxid, s.Mtime)
	}
	number := func(name string, real, sim int32) {
		if real != sim {
			c.differ(field+"."+name, fmt.Sprint(real), fmt.Sprint(sim))
		}
	}
	number("version", real.Version, sim.Version)
	number("cversion", real.Cversion, sim.Cversion)
	number("aversion", real.Aversion, sim.Aversion)
	c.text(field+".ephemeralOwner", real.Owner, sim.Owner)
	number("dataLength", real.Length, sim.Length)
	number("numChildren", real.Children, sim.Children)
}

func presence(s *Stat) string {
	if s == nil {
		return "nil"
	}
	return "a Stat"
}

func (c *comparison) zxid(field string, real, sim int64) {
	if !c.zxids.match(real, sim) {
		c.differ(field, c.zxids.describe(0, real), c.zxids.describe(1, sim))
	}
}

// time checks that all znodes changed by a txn have its time.
func (c *comparison) time(side int, field string, zxid, at int64) {
	known, ok := c.times[side][zxid]
	if !ok {
		c.times[side][zxid] = at
		return
	}
	if known == at {
		return
	}
	texts := [2]string{"the txn's time", "the txn's time"}
	texts[side] = fmt.Sprintf("%d, elsewhere %d for the same zxid", at, known)
	c.differ(field, texts[0], texts[1])
}

// events compares what the clients heard. Where ZooKeeper leaves the order open, the simulator may choose another: the
// order in which the ephemerals of a session go, and that of the paths in SetWatches, which go-zookeeper takes from a
// map. The order of the events about one path is never open.
func (c *comparison) events(o *Op, real, sim map[string][]string) {
	for _, client := range clients(real, sim) {
		r, s := real[client], sim[client]
		switch o.Kind {
		case Close, Expire:
			r, s = byPath(r), byPath(s)
		case Reconnect:
			c.list("order of the events of "+client, phases(r), phases(s))
			r, s = byPath(r), byPath(s)
		}
		c.list("events of "+client, r, s)
	}
}

// byPath sorts events by path, keeping the order of those about one path.
func byPath(events []string) []string {
	sorted := slices.Clone(events)
	slices.SortStableFunc(sorted, func(a, b string) int {
		_, a, _ = strings.Cut(a, " ")
		_, b, _ = strings.Cut(b, " ")
		return strings.Compare(a, b)
	})
	return sorted
}

// phases returns the types of the events that tell which list of SetWatches they come from: data, then exist, then
// child. A deletion may come from the first or the last list, so it is left out.
func phases(events []string) []string {
	var types []string
	for _, e := range events {
		if t, _, _ := strings.Cut(e, " "); t != history.EventName(zk.EventNodeDeleted) {
			types = append(types, t)
		}
	}
	return types
}

// states compares what the clients learnt about their sessions, except what a client that closes hears of its own end.
func (c *comparison) states(o *Op, real, sim map[string][]string) {
	for _, client := range clients(real, sim) {
		if o.Kind != Close || client != sessionName(o.Session, 1) {
			c.list("session events of "+client, real[client], sim[client])
		}
	}
}

// clients returns the keys of both maps in order.
func clients(a, b map[string][]string) []string {
	all := map[string][]string{}
	maps.Copy(all, a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

// correspondence maps the zxids of one side to those of the other: a bijection that keeps the order.
type correspondence struct {
	pairs [][2]int64 // ascending
}

// match reports whether two zxids can belong to the same txn. If so, it remembers that they do.
func (z *correspondence) match(real, sim int64) bool {
	i, found := slices.BinarySearchFunc(z.pairs, real, func(p [2]int64, real int64) int {
		return cmp.Compare(p[0], real)
	})
	if found {
		return z.pairs[i][1] == sim
	}
	if i > 0 && z.pairs[i-1][1] >= sim || i < len(z.pairs) && z.pairs[i][1] <= sim {
		return false
	}
	z.pairs = slices.Insert(z.pairs, i, [2]int64{real, sim})
	return true
}

// describe names a zxid of a side by its place among the known ones.
func (z *correspondence) describe(side int, zxid int64) string {
	n := 0
	for _, p := range z.pairs {
		if p[side] == zxid {
			return fmt.Sprintf("%#x (txn %d)", zxid, n+1)
		}
		if p[side] < zxid {
			n++
		}
	}
	return fmt.Sprintf("%#x (after txn %d)", zxid, n)
}
