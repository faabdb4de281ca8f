package conform

import (
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/model"
)

// Source makes the choices of a sequence.
type Source interface {
	// IntN returns a number from 0 to n-1. n is at least 1.
	IntN(n int) int
}

// aim is the outcome that an operation is meant to have.
type aim uint8

const (
	success aim = iota
	noNode
	noAuth
	badVersion
	notEmpty
	nodeExists
	underEphemeral
	invalidACL
	oddPath
	oddFlags
	oddTTL
	tooBig
	closedClient
)

// aims are the aims that each kind of operation can have besides success.
var aims = map[Kind][]aim{
	Create:          {noNode, noAuth, nodeExists, underEphemeral, invalidACL, oddPath, oddFlags, closedClient},
	CreateContainer: {noNode, noAuth, nodeExists, underEphemeral, invalidACL, oddPath, oddFlags, closedClient},
	CreateTTL:       {noNode, noAuth, nodeExists, underEphemeral, invalidACL, oddPath, oddFlags, oddTTL, closedClient},
	Delete:          {noNode, noAuth, badVersion, notEmpty, oddPath, closedClient},
	Set:             {noNode, noAuth, badVersion, oddPath, closedClient},
	Get:             {noNode, noAuth, oddPath, closedClient},
	Exists:          {noNode, oddPath, closedClient},
	Children:        {noNode, noAuth, oddPath, closedClient},
	GetACL:          {noNode, noAuth, oddPath, closedClient},
	SetACL:          {noNode, noAuth, badVersion, invalidACL, oddPath, closedClient},
	AddAuth:         {oddPath, closedClient},
	Sync:            {oddPath, closedClient},
	Multi: {noNode, noAuth, badVersion, notEmpty, nodeExists, underEphemeral, invalidACL, oddPath, oddFlags,
		closedClient},
	Check: {noNode, noAuth, badVersion, oddPath},
}

// weights are how often each kind is tried.
var weights = []struct {
	kind   Kind
	weight int
}{
	{Create, 46}, {CreateContainer, 6}, {CreateTTL, 10}, {Delete, 22}, {Set, 20}, {Get, 16}, {Exists, 20}, {Children, 16},
	{GetACL, 6}, {SetACL, 12}, {AddAuth, 6}, {Sync, 3}, {Multi, 22}, {Open, 3}, {Close, 3}, {Cut, 6}, {Expire, 3},
	{Reconnect, 18},
}

// Probabilities in percent.
const (
	failureRate = 22 // of the operations aim at a failure
	absentRate  = 40 // of the exists are about a missing znode
	watchRate   = 60 // of the reads leave a watch
	guardRate   = 12 // of the creates take rights away
	wantedRate  = 50 // of the creates are at a path with a watch on its creation, if there is one

	// wrongPathRate is how many of the creates with wrong flags also have a wrong path.
	wrongPathRate = 25
)

// bigOneIn says how rarely an operation has too much data: one in this many.
var bigOneIn = map[Kind]int{Create: 150, Set: 150, CreateContainer: 50, CreateTTL: 50, Multi: 100}

// patientDraws is how often a generator tries kinds that no client can execute. It is limited because a source may
// always draw the same.
const patientDraws = 20

const firstClients = 3 // and sometimes one more

// generator makes a sequence, one operation after the other.
type generator struct {
	sketch
	source  Source
	servers int
	local   bool // the servers see the clients at a loopback address
	opened  int
	clients int // number of clients to open at the beginning
}

func newGenerator(source Source, servers int, local bool) *generator {
	return &generator{sketch: newSketch(), source: source, servers: servers, local: local,
		clients: firstClients + source.IntN(2)}
}

func (g *generator) chance(percent int) bool { return g.source.IntN(100) < percent }

func pick[T any](g *generator, list []T) T { return list[g.source.IntN(len(list))] }

// next returns an operation that the stage allows.
func (g *generator) next() Op {
	if g.opened < g.clients {
		return g.open()
	}
	total := 0
	for _, w := range weights {
		total += w.weight
	}
	for range patientDraws {
		n := g.source.IntN(total)
		for _, w := range weights {
			if n -= w.weight; n >= 0 {
				continue
			}
			if o, ok := g.operation(w.kind); ok && g.allows(&o) {
				return o
			}
			break
		}
		if len(g.in(connected)) == 0 {
			return g.revive()
		}
	}
	return Op{Session: pick(g, g.in(connected)), Kind: Children, Path: "/"}
}

func (g *generator) open() Op {
	g.opened++
	return Op{Session: g.opened, Kind: Open, Server: g.source.IntN(g.servers)}
}

// revive makes sure that a client has a connection.
func (g *generator) revive() Op {
	if list := g.in(disconnected, expired); len(list) > 0 {
		return Op{Session: pick(g, list), Kind: Reconnect, Server: g.source.IntN(g.servers)}
	}
	if g.opened < maxClients {
		return g.open()
	}
	return Op{Session: pick(g, g.in(gone, orphaned)), Kind: Sync, Path: "/"}
}

// operation makes an operation of the kind, if a client can execute it.
func (g *generator) operation(kind Kind) (Op, bool) {
	var list []int
	switch kind {
	case Open:
		// The last client is kept for when no other is left.
		if g.opened+1 >= maxClients || len(g.in(connected)) > firstClients {
			return Op{}, false
		}
		return g.open(), true
	case Close:
		list = g.in(connected, connected, disconnected, expired, gone)
	case Cut:
		list = g.in(connected)
	case Expire:
		list = g.in(connected, disconnected, orphaned)
	case Reconnect:
		list = g.in(disconnected, expired)
	default:
		return g.call(kind)
	}
	if len(list) == 0 {
		return Op{}, false
	}
	o := Op{Session: pick(g, list), Kind: kind}
	if kind == Expire || kind == Reconnect {
		o.Server = g.source.IntN(g.servers)
	}
	return o, true
}

// call makes a call of the client library.
func (g *generator) call(kind Kind) (Op, bool) {
	a := success
	switch {
	case kind == Exists && g.chance(absentRate):
		a = noNode
	case g.chance(failureRate):
		a = pick(g, aims[kind])
	}
	who := g.in(connected)
	if a == closedClient {
		who = g.in(gone, orphaned)
		a = success
	}
	if len(who) == 0 {
		return Op{}, false
	}
	client := pick(g, who)
	o := Op{Kind: kind}
	if n := bigOneIn[kind]; n > 0 && g.source.IntN(n) == 0 {
		a = tooBig
	}
	switch kind {
	case Multi:
		o = g.multi(client, a)
	case AddAuth:
		o = g.addAuth(a)
	default:
		o = g.one(kind, client, a)
	}
	o.Session = client
	return o, true
}

// one makes a call about one znode, or a part of a multi.
func (g *generator) one(kind Kind, client int, a aim) Op {
	o := Op{Kind: kind}
	switch kind {
	case Create, CreateContainer, CreateTTL:
		g.create(&o, client, a)
		return o
	case Get, Exists, Children:
		o.Watch = g.chance(watchRate)
	case Set:
		o.Data = g.data()
	case SetACL:
		o.ACL = g.acl(a, 70)
	}
	g.target(&o, client, a)
	switch kind {
	case Delete, Set, SetACL, Check:
		o.Version = g.version(&o, a)
	}
	if a == tooBig {
		o.Data, o.Fill = nil, g.size()
	}
	return o
}

// rights are the rights that the kinds need; delete needs them on the parent.
var rights = map[Kind]int32{
	Delete: zk.PermDelete, Set: zk.PermWrite, Get: zk.PermRead, Children: zk.PermRead,
	GetACL: zk.PermRead | zk.PermAdmin, SetACL: zk.PermAdmin, Check: zk.PermRead, Exists: zk.PermAll, Sync: zk.PermAll,
}

// target chooses the znode.
func (g *generator) target(o *Op, client int, a aim) {
	may := func(path string, z *znode) bool {
		if o.Kind == Delete {
			if z = g.znodes[model.Folder(path)]; z == nil {
				return true
			}
		}
		return o.Kind == Exists || o.Kind == Sync || g.grants(z, client, rights[o.Kind])
	}
	var fits func(path string, z *znode) bool
	switch a {
	case noNode:
		if o.Path = g.missing(); o.Kind == Exists && g.chance(wantedRate) {
			o.Path = g.promising(client)
		}
		return
	case oddPath:
		o.Path, o.Outside = g.odd(o.Kind)
		return
	case noAuth:
		fits = func(path string, z *znode) bool { return !may(path, z) }
	case notEmpty:
		fits = func(path string, z *znode) bool { return path != "/" && z.children > 0 && may(path, z) }
	default:
		fits = func(path string, z *znode) bool {
			return may(path, z) && !(o.Kind == Delete && (path == "/" || z.children > 0)) && !(o.Kind == SetACL && path == "/")
		}
	}
	if list := g.paths(fits); len(list) > 0 {
		o.Path = pick(g, list)
		return
	}
	o.Path = g.missing()
}

func (g *generator) version(o *Op, a aim) *int32 {
	z := g.znodes[o.Path]
	if z == nil {
		z = &znode{}
	}
	v := z.version
	if o.Kind == SetACL {
		v = z.aversion
	}
	switch {
	case a == badVersion:
		v += pick(g, []int32{1, -1, 7, -2 - v - v})
		if v == -1 {
			v = 99
		}
		return &v
	case g.chance(50):
		return &v
	}
	return nil
}

func (g *generator) data() *string {
	texts := []string{"", "x", "yy", "zzz", strings.Repeat("long", 40)}
	n := g.source.IntN(len(texts) + 1)
	if n == len(texts) {
		return nil
	}
	return &texts[n]
}

// size returns a size below the server's limit of 1 MiB for a packet, above it, or above the library's own limit of 1.5
// MiB.
func (g *generator) size() int { return pick(g, []int{1_048_000, 1_100_000, 1_600_000, 1_600_000}) }

func (g *generator) acl(a aim, guarded int) string {
	switch {
	case a == invalidACL:
		return pick(g, invalidACLs)
	case a == success && g.chance(guarded):
		list := guardedACLs
		if g.local {
			list = append(slices.Clone(list), addressACLs...)
		}
		return pick(g, list)
	}
	return ""
}

func (g *generator) addAuth(a aim) Op {
	o := Op{Kind: AddAuth, Scheme: "digest", Auth: pick(g, []string{firstUser, secondUser})}
	if a == oddPath {
		o.Scheme = pick(g, []string{"nobody", "world", "ip", ""})
	}
	return o
}
