package conform

import (
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/model"
)

// names are the last components of new paths, and sequential are those of sequential znodes. There are few, so that
// sequences meet the same znode again.
var (
	names      = []string{"a", "b", "c", "a b", "\u00e9", ".h", "..x"}
	sequential = []string{"n-", "m-", ""}
)

const maxDepth = 4

// create makes the arguments of one of the create operations.
func (g *generator) create(o *Op, client int, a aim) {
	o.Flags = g.flags(o.Kind, a)
	o.Data = g.data()
	o.ACL = g.acl(a, guardRate)
	if o.Kind == CreateTTL {
		o.TTL = 3_600_000 + int64(g.source.IntN(3)) // no znode expires while the sequence runs
		if a == oddTTL {
			o.TTL = pick(g, []int64{0, -1, -7, 1 << 40, 1<<40 - 1 - 1<<41})
		}
	}
	if a == tooBig {
		o.Data, o.Fill = nil, g.size()
	}
	if a == oddFlags && g.chance(wrongPathRate) {
		a = oddPath
	}
	seq := isSequential(o.Flags)
	switch a {
	case noNode:
		o.Path = join(g.missing(), pick(g, names))
		return
	case oddPath:
		if o.Path, o.Outside = g.odd(o.Kind); o.Outside {
			o.Flags = zk.FlagPersistent // a sequential one would succeed, among other people's znodes
		}
		return
	case nodeExists:
		g.existing(o, client, seq)
		return
	case noAuth, underEphemeral:
		fits := func(_ string, z *znode) bool { return z.owner != 0 }
		if a == noAuth {
			fits = func(_ string, z *znode) bool { return !g.grants(z, client, zk.PermCreate) }
		}
		if list := g.paths(fits); len(list) > 0 {
			o.Path = join(pick(g, list), pick(g, names))
			return
		}
		if a == noAuth { // for the next time
			o.ACL = pick(g, []string{"read-only", "nothing", "no-create", "ann"})
		} else if o.Kind == Create {
			o.Flags = zk.FlagEphemeral
		}
	}
	o.Path = g.fresh(client, seq)
}

func isSequential(flags int32) bool {
	return flags == zk.FlagSequence || flags == zk.FlagEphemeralSequential || flags == zk.FlagPersistentSequentialWithTTL
}

func (g *generator) flags(kind Kind, a aim) int32 {
	odd := a == oddFlags
	switch {
	case kind == CreateContainer && odd:
		return pick(g, []int32{0, 1, 2, 3, 5, 6, 7, -1})
	case kind == CreateContainer:
		return zk.FlagContainer
	case kind == CreateTTL && odd:
		return pick(g, []int32{0, 1, 2, 3, 4, 7, -1})
	case kind == CreateTTL:
		return pick(g, []int32{zk.FlagTTL, zk.FlagPersistentSequentialWithTTL})
	case odd:
		return pick(g, []int32{zk.FlagTTL, zk.FlagPersistentSequentialWithTTL, 7, -1})
	case g.chance(5):
		return zk.FlagContainer // makes a plain znode
	}
	return pick(g, []int32{0, 0, zk.FlagEphemeral, zk.FlagSequence, zk.FlagEphemeralSequential})
}

// existing makes the path of a create that finds an existing znode. A sequential create finds one if another client has
// made the next number by hand. That is done first, so this takes two operations.
func (g *generator) existing(o *Op, client int, seq bool) {
	if !seq {
		list := g.paths(func(path string, _ *znode) bool {
			p := g.znodes[model.Folder(path)]
			return path != "/" && p != nil && g.grants(p, client, zk.PermCreate)
		})
		if len(list) == 0 {
			o.Path = "/"
			return
		}
		o.Path = pick(g, list)
		return
	}
	for _, path := range g.parents(client) {
		for _, prefix := range sequential {
			if g.znodes[join(path, g.znodes[path].upcoming(prefix))] != nil {
				o.Path = join(path, prefix)
				return
			}
		}
	}
	path := pick(g, g.parents(client))
	o.Path = join(path, g.znodes[path].afterNext(pick(g, sequential)))
	if o.Kind == Create {
		o.Flags = zk.FlagPersistent
	} else {
		o.Flags = zk.FlagTTL
	}
}

// parents returns the znodes under which the client can create.
func (g *generator) parents(client int) []string {
	list := g.paths(func(path string, z *znode) bool {
		return z.owner == 0 && g.grants(z, client, zk.PermCreate) && depth(path) < maxDepth
	})
	if len(list) == 0 {
		return []string{"/"}
	}
	return list
}

func depth(path string) int { return strings.Count(strings.TrimSuffix(path, "/"), "/") }

// fresh returns a path without a znode, if possible.
func (g *generator) fresh(client int, seq bool) string {
	parents := g.parents(client)
	if g.chance(wantedRate) {
		if list := g.awaited(parents, seq); len(list) > 0 {
			return pick(g, list)
		}
	}
	p := pick(g, parents)
	if seq {
		return join(p, pick(g, sequential))
	}
	first := g.source.IntN(len(names))
	for i := range names {
		if path := join(p, names[(first+i)%len(names)]); g.znodes[path] == nil {
			return path
		}
	}
	return join(p, g.znodes[p].afterNext("n-"))
}

// awaited returns the paths of creates that a watch waits for.
func (g *generator) awaited(parents []string, seq bool) []string {
	var list []string
	for _, p := range parents {
		if !seq {
			for _, name := range names {
				if g.wanted[join(p, name)] && g.znodes[join(p, name)] == nil {
					list = append(list, join(p, name))
				}
			}
			continue
		}
		for _, prefix := range sequential {
			if g.wanted[join(p, g.znodes[p].upcoming(prefix))] {
				list = append(list, join(p, prefix))
			}
		}
	}
	return list
}

// promising returns a path without a znode that could soon have one.
func (g *generator) promising(client int) string {
	p := pick(g, g.parents(client))
	if g.chance(50) {
		return join(p, g.znodes[p].upcoming(pick(g, sequential)))
	}
	return join(p, pick(g, names))
}

// missing returns a path without a znode, whose parent may or may not exist.
func (g *generator) missing() string {
	path := pick(g, g.paths(func(path string, _ *znode) bool { return depth(path) < maxDepth }))
	for {
		path = join(path, pick(g, append([]string{"none"}, names...)))
		if g.znodes[path] == nil {
			return path
		}
	}
}

// Paths that the library or the server refuses, or that look like it.
var (
	oddPaths = []string{
		"", "a", "/a/", "/a//b", "//", "/.", "/..", "/a/..", "/a/./b", "/\x01", "/a\x00b", "/\x7f", "/\u0085", "/\uf000",
		"/\uf8ff",
		"/\ufff0", "/...", "/a.", "/.../b",
	}
	// These pass the library's check but not the server's.
	serverOddPaths = []string{"/\U0001F600", "/\uffff", "/\ue000", "/a/\ue123"}
	outsidePaths   = []string{"/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"}
)

func (g *generator) odd(kind Kind) (path string, outside bool) {
	if g.chance(50) {
		return pick(g, oddPaths), false
	}
	if (kind == Delete || kind == Create) && g.chance(40) {
		return pick(g, outsidePaths), true
	}
	return pick(g, serverOddPaths), false
}

// multi makes a multi in which at most one part aims at a failure.
func (g *generator) multi(client int, a aim) Op {
	o := Op{Kind: Multi}
	n := 1 + g.source.IntN(4)
	switch a {
	case oddFlags:
		return g.oddMulti(client)
	case tooBig:
		return Op{Kind: Multi, Ops: []Op{g.one(pick(g, []Kind{Create, Set}), client, tooBig)}}
	}
	culprit := g.source.IntN(n)
	before := g.sketch.znodes
	g.sketch.znodes = g.copied()
	for i := range n {
		kind := pick(g, []Kind{Create, Create, Delete, Set, Check})
		aimed := success
		if a != success && i == culprit {
			aimed = a
			kind = pick(g, fitting(a))
		}
		part := g.one(kind, client, aimed)
		o.Ops = append(o.Ops, part)
		g.foresee(&part, client)
	}
	g.sketch.znodes = before
	return o
}

// fitting returns the kinds of parts that can fail in that way.
func fitting(a aim) []Kind {
	var list []Kind
	for _, k := range []Kind{Create, Delete, Set, Check} {
		if slices.Contains(aims[k], a) {
			list = append(list, k)
		}
	}
	return list
}

// oddMulti makes a multi that succeeds or fails in a special way: without parts, with a read among them, or with a
// container or TTL znode.
func (g *generator) oddMulti(client int) Op {
	o := Op{Kind: Multi}
	switch g.source.IntN(6) {
	case 0:
	case 1:
		o.Ops = []Op{g.one(Create, client, success), g.one(Get, client, success)}
	case 2, 4, 5:
		part := g.one(Create, client, success)
		part.Flags = zk.FlagContainer
		o.Ops = []Op{g.one(pick(g, []Kind{Set, Delete, Delete}), client, success), part}
	case 3:
		part := g.one(Create, client, success)
		part.Flags = pick(g, []int32{zk.FlagTTL, zk.FlagPersistentSequentialWithTTL, 7, -1})
		o.Ops = []Op{g.one(Set, client, success), part}
	}
	return o
}

func (g *generator) copied() map[string]*znode {
	znodes := map[string]*znode{}
	for path, z := range g.znodes {
		c := *z
		znodes[path] = &c
	}
	return znodes
}

// foresee updates the sketch with what a part of a multi will do, so that later parts can build on it.
func (g *generator) foresee(o *Op, client int) {
	r := Result{Stat: &Stat{}}
	path := o.Path
	if path == "" || path[0] != '/' {
		return
	}
	if isSequential(o.Flags) && o.Kind == Create {
		p := g.znodes[model.Folder(path)]
		if p == nil {
			return
		}
		path = join(model.Folder(path), p.upcoming(model.BaseName(path)))
	}
	if z := g.znodes[o.Path]; z != nil {
		r.Stat.Version = z.version + 1
	}
	if o.Kind == Create && g.znodes[path] != nil {
		return
	}
	g.changed(o, client, &r, "/root"+path)
}
