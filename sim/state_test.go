package sim_test

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/internal/perturb"
	"zksim/model"
	"zksim/sim"
)

// busy is a program that has something of everything on its way.
func busy(c *sim.Client, dials bool) {
	k, e := c.Conn(), c.Env()
	me := fmt.Sprint("/d/", c.ID())
	all := zk.WorldACL(zk.PermAll)
	k.AddAuth("digest", []byte("user:"+c.Name()))
	k.Create(me, []byte("a"), zk.FlagEphemeral, append(zk.DigestACL(zk.PermAll, "user", c.Name()), all...))
	k.Create("/d/n-", []byte("b"), zk.FlagSequence, all)
	within, cancel := e.WithTimeout(context.Background(), 50*time.Second)
	defer cancel()
	c.OnInterrupt(within, cancel)
	e.Go("sleeper", func() { e.Sleep(within, time.Second); k.Set(me, []byte("c"), -1) })
	e.Go("follower", func() {
		defer e.Forget()()
		for range 4 {
			session := e.SessionEvents()
			_, _, exists, _ := k.ExistsW("/d/none")
			e.Keep(&session, &exists)
			e.Await(within, exists)
			_, _, data, _ := k.GetW(me)
			_, _, children, _ := k.ChildrenW("/d")
			e.Keep(&session, &data, &children)
			e.Await(within, session, data, children)
		}
	})
	e.Go("writer", func() {
		for i := range 4 {
			k.Multi(&zk.SetDataRequest{Path: "/d", Data: []byte{byte(i)}, Version: -1}, &zk.CheckVersionRequest{Path: me})
			e.Within(within, func() { k.Create(fmt.Sprint(me, "-", i), nil, 0, all) })
			k.GetACL(me)
			k.SetACL("/d", all, -1)
			e.UUID()
			e.Choose(3)
			e.Yield()
		}
	})
	k.Sync("/d")
	k.CreateTTL(me+"-ttl", nil, zk.FlagTTL, all, time.Minute)
	k.CreateContainer(me+"-c", nil, zk.FlagContainer, all)
	e.Now()
	if dials {
		again := c.Dial().Conn()
		again.Create(me+"-again", nil, zk.FlagEphemeral, all)
		again.GetW(me)
		again.Close()
	}
}

// elsewhere says of each type, and of each field of others, that is not in the fingerprint of a state why it need not
// be there.
var elsewhere = map[string]string{
	"faults.Fault":   "the table of faults",
	"faults.Rule":    "the plan, the same in all runs of a search",
	"faults.Aim":     "the plan",
	"sim.Config":     "the same in all runs of a search",
	"sim.Detail":     "the same in all runs of a search",
	"sim.listing":    "of sim.Timed, which no search uses",
	"sim.Transition": "of the past, or of what is possible",
	"model.trigger":  "of the txn being applied",
	"model.undo":     "of the txn being applied",
	"model.armed":    "where a connection's watches are; the tables have them",

	"faults.Injector.plan": "the plan", "faults.rule.place": "the plan",
	"faults.charge.at": "one way to count the faults so far; which ones are left does not depend on it",
	"faults.rule.open": "for the summary of a check: the rule could have struck",

	"model.Conn.Session": "the client's", "model.Conn.armed": "where its watches are; the tables have them",
	"model.Conn.live": "how many watches the tables have", "model.Conn.mark": "of the txn being applied",
	"model.Conn.watched": "told by four-letter words alone", "model.watchTable.children": "which of two tables it is",
	"model.Server.born": "order of insertion, for Config.Order 0 only", "model.Server.marks": "of the txn being applied",
	"model.Server.inMulti": "of the txn being applied", "model.Server.triggers": "of the txn being applied",
	"model.Server.told": "of the txn being applied", "model.Server.undo": "of the txn being applied",
	"model.Server.free": "memory for later", "model.Server.spare": "memory for later",
	"model.Server.mortal": "the znodes of these kinds", "model.acl.open": "told by the list",
	"model.node.base": "told by the path", "model.node.hash": "told by the path",
	"model.node.children": "told by their paths", "model.node.place": "order of insertion, for Config.Order 0 only",
	"model.node.born":    "order of insertion, for Config.Order 0 only",
	"model.node.buckets": "order of children, for Config.Order 0 only", "model.node.rank": "place in the session's list",
	"model.session.ephemerals":   "told by the owners of the znodes",
	"model.session.buckets":      "order of ephemerals, for Config.Order 0 only",
	"model.watchTable.recursive": "how many there are of that mode", "model.watchTable.spare": "memory for later",

	"sim.Client.dirty": "false between steps", "sim.Client.stale": "whether moves is valid",
	"sim.Client.moves": "what is possible, computed anew when it is stale", "sim.Client.invalidated": "of sim.Timed",
	"sim.library.unaware": "zero between steps",
	"sim.library.rearmed": "memory for later; what is on its way is in the queues",
	"sim.library.fired":   "channels that have fired; code has learned of that when they did",
	"sim.process.names":   "names of transitions: in Part.Key, but equal states may differ in it",
	"sim.process.roster":  "names of transitions: in Part.Key, but equal states may differ in it",
	"sim.coroutine.name":  "an index; the name is there", "sim.coroutine.id": "for the search for misuse",
	"sim.coroutine.killed": "at the end of a run", "sim.coroutine.deaths": "at the end of a run",
	"sim.firedChan.what": "see sim.library.fired", "sim.request.sent": "told by the queue that the request is in",
	"sim.request.watch": "told by the operation", "sim.scope.number": "made for the fingerprint",
	"sim.server.index": "the place in the list", "sim.timer.index": "the place in the heap",
	"sim.timer.order": "counts by the order of the client's timers, which is there",

	"sim.World.Strict": "for the search for misuse", "sim.World.looking": "for the search for misuse",
	"sim.World.made": "for the search for misuse", "sim.World.author": "of the txn being applied",
	"sim.World.changed": "of the txn being applied", "sim.World.faults": "memory for later",
	"sim.World.normal": "memory for later", "sim.World.lagging": "memory for later",
	"sim.World.members": "memory for later", "sim.World.pool": "memory for later",
	"sim.World.replicas": "memory for later",
	"sim.World.hash":     "the past of the run", "sim.World.hashes": "the past of the run",
	"sim.World.schedule": "the past of the run", "sim.World.step": "the past of the run; a search has no limits of steps",
	"sim.World.follows": "of sim.Timed", "sim.World.tracks": "of sim.Timed and sim.Eager",
	"sim.World.joined": "of remote clients, which no search has", "sim.connection.bound": "of remote clients",
	"sim.World.lefts": "of remote clients", "sim.Client.left": "of remote clients",
	"sim.Client.lefts": "of remote clients", "sim.World.dying": "of sim.Eager",
	"sim.World.syncs":     "of sim.Eager and sim.Timed",
	"sim.connection.asks": "of remote clients", "sim.connection.timeout": "of remote clients",
	"sim.request.via": "told by the queue that the request is in",
	"sim.request.far": "of remote clients", "sim.request.tag": "of remote clients",
	"sim.World.panicked":   "ends the run",
	"sim.World.timerOrder": "larger than those of all timers", "sim.World.zxid": "that of the leader's store",
	"sim.valueHasher": "memory for later",
}

// ofState reports whether a type holds state of a world.
func ofState(t reflect.Type) bool {
	return strings.HasPrefix(t.PkgPath(), "zksim/") && !strings.HasPrefix(t.PkgPath(), "zksim/model/history") ||
		t == reflect.TypeFor[zk.Stat]() || t == reflect.TypeFor[zk.ACL]()
}

// stateful looks now and then which fields are in the fingerprint of its world.
type stateful struct {
	sim.Chooser
	every int
	shown map[string]bool // by field: whether changing it has changed a fingerprint
	met   map[string]bool // fields and types that there are
}

// Choose implements [sim.Chooser].
func (s *stateful) Choose(w *sim.World) (sim.Transition, bool, error) {
	if w.Step()%s.every == 0 {
		s.look(w)
	}
	return s.Chooser.Choose(w)
}

func (s *stateful) look(w *sim.World) {
	print := w.Fingerprint()
	perturb.Each(w, ofState, func(name string, change func() func()) {
		for _, what := range []string{name, name[:strings.LastIndexByte(name, '.')]} {
			if s.met[what] = true; elsewhere[what] != "" {
				return
			}
		}
		if s.shown[name] || change == nil {
			return
		}
		s.shown[name] = false
		restore := change()
		s.shown[name] = differs(w, print)
		restore()
		if w.Fingerprint() != print {
			panic("the fingerprint stays changed after " + name + " is restored")
		}
	})
}

// differs reports whether a world has another fingerprint, or has become nonsense.
func differs(w *sim.World, print uint64) (other bool) {
	defer func() { other = other || recover() != nil }()
	return w.Fingerprint() != print
}

// TestEveryFieldOfAStateIsInItsFingerprint changes, in random runs, each field of all that a world consists of, one at
// a time: the fingerprint changes, or there is a reason why it need not.
func TestEveryFieldOfAStateIsInItsFingerprint(t *testing.T) {
	s := &stateful{every: 7, shown: map[string]bool{}, met: map[string]bool{}}
	for seed := range uint64(120) {
		w := sim.NewWorld()
		r := &sim.Random{FaultRate: 6000}
		r.Seed(seed)
		s.Chooser = r
		var in faults.Injector
		in.Reset(append(faults.Contract(), faults.Rule{Fault: "lose-reply", Budget: 1, Aim: faults.Aim{Op: "set", Nth: 1}}))
		cfg := sim.Config{Clients: 2, Servers: 1 + int(seed%2)*2, Order: seed, MaxSteps: 600}
		cfg.Detail = sim.Detail{DenseZxids: seed%4 > 1, Forget: seed%3 > 0}
		if seed%5 == 0 {
			cfg.Dials = 1
		}
		if seed%7 == 0 {
			cfg.Like = model.Keeper
		}
		w.Reset(cfg, &in, func(c *sim.Client) { busy(c, cfg.Dials > 0) })
		w.Prepare(model.Request{Op: model.OpCreate, Path: "/d", ACL: zk.WorldACL(zk.PermAll)})
		if err := w.Run(s); err != nil {
			t.Fatal(err)
		}
		w.Close()
	}
	for _, name := range slices.Sorted(maps.Keys(s.shown)) {
		if !s.shown[name] {
			t.Errorf("%s makes no difference to a fingerprint, and there is no reason why it need not", name)
		}
	}
	for name := range elsewhere {
		if !s.met[name] {
			t.Errorf("there is a reason why %s need not be in a fingerprint, but no such thing in these runs", name)
		}
	}
}
