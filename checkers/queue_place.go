package checkers

import (
	"path"
	"slices"
	"strconv"

	"zksim/internal/hash"
	"zksim/model/history"
)

// places is what the tree says about the order of a queue, for [FIFO] and [PriorityOrder]. An item is a znode with its
// number as data. It is claimed while a znode elsewhere has the same name. It is free for a consumer if it has been
// there and not claimed since the consumer asked: then every list that the consumer has read shows it.
type places struct {
	znodes []string // that exist
	items  []queuedItem
	puts   []placing
	asks   []ask
}

// placing is a put in progress, or one that a crash has cut off and that may still make its znode later.
type placing struct {
	caller
	item int64
	made bool // its znode was made
	cut  bool
}

// queuedItem is an item that is in the queue; the items are in the order of their creation.
type queuedItem struct {
	item    int64
	path    string
	claimed bool
	since   int64 // the zxid of the txn that has put it there, or removed its latest claim
}

// ask is an operation in progress that asks for an item, or returns one.
type ask struct {
	caller
	op     string
	free   []int64 // items that were free all the time
	got    int64   // the item that the client has claimed, or removed, meanwhile; 0: none
	passed int64   // an item that was free and comes before that one; 0: none
	from   string  // the path of an item that is returned
	moved  bool    // the item has another path now
}

func (p *places) reset() {
	p.znodes, p.items, p.puts, p.asks = p.znodes[:0], p.items[:0], p.puts[:0], p.asks[:0]
}

// print returns a hash of what is remembered. The world knows which znodes exist, but not which of them are items: a
// znode that was made when its put had failed is none. Nor does it know what a crashed client was doing.
func (p *places) print() hash.Hash {
	var all hash.Hash // in any order
	for _, x := range p.items {
		all += hash.Hash(x.item).String(x.path)
	}
	for _, x := range p.puts {
		if x.cut {
			all += hash.Hash(x.item).Bool(true) // no item's
		}
	}
	for i := range p.asks {
		a := &p.asks[i]
		all += printOf(p.asks, a.caller).String(a.op).Uint64(printOfItems(a.free)).Uint64(uint64(a.got)).
			Uint64(uint64(a.passed)).String(a.from).Bool(a.moved)
	}
	return all
}

// begin notes that an operation begins. All txns up to the zxid committed are certainly committed by then.
func (p *places) begin(o *queueOp, committed int64) {
	x := ask{caller: o.caller, op: o.name}
	if o.name == "put" {
		p.puts = append(p.puts, placing{caller: x.caller, item: o.item})
	}
	for _, i := range p.items {
		switch {
		case o.name == "return" && i.item == o.item:
			x.from = i.path
		case o.consumes() && !i.claimed && i.since <= committed:
			x.free = append(x.free, i.item)
		}
	}
	if o.consumes() || x.from != "" {
		p.asks = append(p.asks, x)
	}
}

// ends returns what is known of an operation that has ended.
func (p *places) ends(o *queueOp) (x ask) {
	if o.name == "put" {
		p.puts = forget(p.puts, o.caller)
	}
	if k := p.asked(o); k >= 0 {
		x = p.asks[k]
		p.asks = slices.Delete(p.asks, k, k+1)
	}
	return x
}

// asked returns the index of what is noted for an operation in asks, or -1 if there is nothing.
func (p *places) asked(o *queueOp) int {
	return slices.IndexFunc(p.asks, func(a ask) bool { return a.caller == o.caller && a.op == o.name })
}

// change notes a txn or a crash. Only what an operation on a queue puts is an item. first reports whether item a comes
// before item b.
func (p *places) change(e *history.Event, ops queueOps, first func(a, b int64) bool) {
	switch e.Kind {
	case history.Crashed:
		p.asks = withoutClient(p.asks, e.Client)
		p.puts = drop(p.puts, func(x placing) bool { return x.client == e.Client && x.made })
		for k := range p.puts {
			p.puts[k].cut = p.puts[k].cut || p.puts[k].client == e.Client
		}
		return
	case history.Created:
		p.znodes = append(p.znodes, e.Path)
		if p.named(e.Path) < 0 {
			p.create(e, ops)
		}
	case history.Deleted:
		p.znodes = drop(p.znodes, func(x string) bool { return x == e.Path })
	default:
		return
	}
	k := p.named(e.Path)
	if k < 0 {
		return
	}
	x := &p.items[k]
	was, gone := x.claimed, e.Kind == history.Deleted && x.path == e.Path
	x.claimed = slices.ContainsFunc(p.znodes, func(y string) bool {
		return y != x.path && path.Base(y) == path.Base(x.path)
	})
	switch {
	case was && !x.claimed:
		x.since = e.Zxid
	case !was && (x.claimed || gone):
		p.taken(e.Client, k, first)
	}
	if gone {
		p.items = slices.Delete(p.items, k, k+1)
	}
}

// named returns the index of the item whose znode has the last name of a path, or -1 if there is none.
func (p *places) named(of string) int {
	return slices.IndexFunc(p.items, func(x queuedItem) bool { return path.Base(x.path) == path.Base(of) })
}

// create notes a znode whose data is the number of an item that is being put or returned.
func (p *places) create(e *history.Event, ops queueOps) {
	item, err := strconv.ParseInt(e.Data, 10, 64)
	if err != nil {
		return
	}
	k := slices.IndexFunc(p.puts, func(x placing) bool { return x.item == item })
	if k >= 0 && !slices.ContainsFunc(p.items, func(x queuedItem) bool { return x.item == item }) {
		p.items = append(p.items, queuedItem{item: item, path: e.Path, since: e.Zxid})
		if p.puts[k].made = true; p.puts[k].cut {
			p.puts = slices.Delete(p.puts, k, k+1)
		}
	}
	for _, o := range ops {
		k := p.asked(&o)
		if o.name == "return" && o.item == item && o.client == e.Client && k >= 0 {
			a := &p.asks[k]
			a.moved = a.moved || path.Dir(a.from) == path.Dir(e.Path)
		}
	}
}

// taken notes that a client claims an item, or removes one that nobody has claimed.
func (p *places) taken(client int32, k int, first func(a, b int64) bool) {
	item := p.items[k].item
	for i := range p.asks {
		a := &p.asks[i]
		a.free = drop(a.free, func(x int64) bool { return x == item })
		if a.client != client {
			continue
		}
		a.got, a.passed = item, 0
		for j, x := range p.items {
			if j != k && slices.Contains(a.free, x.item) && (first(x.item, item) || j < k && !first(item, x.item)) {
				a.passed = x.item
				break
			}
		}
	}
}
