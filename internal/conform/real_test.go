package conform

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"pgregory.net/rapid"

	"zksim/internal/zkserver"
	"zksim/internal/zkserver/zkservertest"
	"zksim/model"
)

// start starts servers that clean nothing up while sequences run.
func start(t *testing.T, servers int) []string {
	return zkservertest.Start(t, zkserver.Options{Servers: servers, ContainerCheck: time.Hour}).Addrs()
}

// report fails the test for a failure, in full.
func report(t *testing.T, f Failure) {
	t.Helper()
	t.Errorf("seed %d, repeated: %v", f.Seed, f.Repeated)
	for i := range f.Steps {
		t.Logf("%3d %s: %q", i, f.Relative(f.Steps[i].Op.String()), f.Steps[i].Real.Err)
	}
	for _, d := range f.Differences {
		t.Error(f.Relative(d.String()))
	}
}

func TestTheSimulatorIsZooKeeper(t *testing.T) {
	for name, c := range map[string]struct{ servers, ops int }{"standalone": {1, 1200}, "ensemble": {3, 400}} {
		t.Run(name, func(t *testing.T) {
			heard := 0
			rep, err := Run(t.Context(), Options{Servers: start(t, c.servers), Ops: c.ops, Seed: 1, Done: func() { heard++ },
				Failed: func(f Failure) { report(t, f) }})
			if err != nil {
				t.Fatal(err)
			}
			if rep.Ops < c.ops || rep.Ops != heard || rep.Sequences < c.ops/sequenceOps || rep.Servers != c.servers ||
				rep.Elapsed <= 0 {
				t.Errorf("%d operations in %d sequences, heard of %d", rep.Ops, rep.Sequences, heard)
			}
			if list := rep.Coverage.surprises(); len(list) > 0 {
				t.Errorf("the table says that these cannot be: %v", list)
			}
		})
	}
}

// choices is a source that rapid shrinks.
type choices struct{ t *rapid.T }

func (c choices) IntN(n int) int { return rapid.IntRange(0, n-1).Draw(c.t, "choice") }

func TestTheSimulatorIsZooKeeperWhateverRapidThinksOf(t *testing.T) {
	addrs := start(t, 1)
	e, err := connect(t.Context(), addrs)
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	b := newBench(e, model.ZooKeeper)
	defer b.world.Close()
	const opsPerCheck = 20
	rapid.Check(t, func(rt *rapid.T) {
		q, err := b.run(t.Context(), &generated{newGenerator(choices{rt}, 1, true), opsPerCheck})
		if err != nil {
			rt.Fatal(err)
		}
		for i := range q.Steps {
			rt.Logf("%3d %s: %q", i, q.Relative(q.Steps[i].Op.String()), q.Steps[i].Real.Err)
		}
		for _, d := range q.Differences {
			rt.Error(q.Relative(d.String()))
		}
	})
}

// What no generated sequence has: names of users that Java encodes otherwise or cannot read, and more watches than the
// library sends in one request.
func TestTheSimulatorIsZooKeeperForOddTextsAndLongPaths(t *testing.T) {
	for name, user := range map[string]string{"astral": "\U0001F600", "odd": "\xff"} {
		acls[name] = append(zk.DigestACL(zk.PermAll, user, "p"), cleaner)
		defer delete(acls, name)
	}
	acls["surrogate"] = append(zk.WorldACL(zk.PermAll), zk.ACL{Perms: zk.PermAll, Scheme: "digest", ID: "\xed\xa0\xbd:x"})
	defer delete(acls, "surrogate")
	auth := func(user string) Op { return Op{Session: 1, Kind: AddAuth, Scheme: "digest", Auth: user + ":p"} }
	create := func(acl string) Op { return Op{Session: 1, Kind: Create, Path: "/a", ACL: acl} }
	get, acl := Op{Session: 1, Kind: Get, Path: "/a"}, Op{Session: 1, Kind: GetACL, Path: "/a"}
	cut, reconnect := Op{Session: 1, Kind: Cut}, Op{Session: 1, Kind: Reconnect}
	scripts := map[string][]Op{
		"astral":    {auth("\U0001F600"), create("astral"), acl, cut, reconnect, get},
		"odd":       {auth("\xff"), create("odd"), get, acl},
		"of auth":   {auth("\xff"), create("auth"), acl, cut, reconnect, get},
		"surrogate": {create("surrogate"), acl},
	}
	for i := range 12 {
		path := fmt.Sprint("/", i, strings.Repeat("n", 100_000))
		scripts["long"] = append(scripts["long"], Op{Session: 1, Kind: Exists, Watch: true, Path: path})
	}
	scripts["long"] = append(scripts["long"], cut, reconnect, create(""), get)
	e, err := connect(t.Context(), start(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	b := newBench(e, model.ZooKeeper)
	defer b.world.Close()
	for name, ops := range scripts {
		q := run(t, b, &fixed{ops: append([]Op{{Session: 1, Kind: Open}}, ops...)})
		for _, d := range q.Differences {
			t.Errorf("%s: %.300s", name, q.Relative(d.String()))
		}
		if len(q.Steps) != len(ops)+1 {
			t.Errorf("%s: %d steps of %d", name, len(q.Steps), len(ops)+1)
		}
	}
}

// A lie about one side must be found on real servers too, and the sequence that
// tells it be replayed below another root.
func TestADifferenceFromARealServerIsShrunk(t *testing.T) {
	e, err := connect(t.Context(), start(t, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	b := newBench(e, model.ZooKeeper)
	defer b.world.Close()
	sides := b.sides
	b.sides = func(root string) (side, side, error) {
		real, simulated, err := sides(root)
		return real, liar{simulated, func(o *Op, out *Outcome) {
			if o.Kind == Reconnect && len(out.Fired) > 0 {
				out.Fired, out.Events = nil, nil
			}
		}}, err
	}
	for seed := range uint64(100) {
		q := run(t, b, sequenceOf(seed, 1))
		if len(q.Differences) == 0 {
			continue
		}
		f, err := b.minimize(t.Context(), q, seed)
		if err != nil {
			t.Fatal(err)
		}
		// Clients, a watch, a cut or expiry, perhaps a change, a reconnect.
		if !f.Repeated || len(f.Steps) > 8 || f.Root == q.Root || f.Steps[len(f.Steps)-1].Op.Kind != Reconnect {
			t.Errorf("repeated: %v, %d steps: %v", f.Repeated, len(f.Steps), f.ops())
		}
		return
	}
	t.Fatal("no difference found")
}

func TestNothingIsLeftBehind(t *testing.T) {
	addrs := start(t, 1)
	if _, err := Run(t.Context(), Options{Servers: addrs, Ops: 300, Seed: 3}); err != nil {
		t.Fatal(err)
	}
	e, err := connect(t.Context(), addrs)
	if err != nil {
		t.Fatal(err)
	}
	defer e.close()
	if names, _, err := e.admins[0].Children("/"); err != nil || len(names) != 1 {
		t.Errorf("%v, %v: want only zookeeper", names, err)
	}
}

func TestARunThatIsInterruptedIsAnError(t *testing.T) {
	addrs := start(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	rep, err := Run(ctx, Options{Servers: addrs, Ops: 1 << 30, Done: cancel})
	if !errors.Is(err, context.Canceled) || rep == nil || rep.Ops == 0 || rep.Elapsed <= 0 {
		t.Errorf("%v, %+v", err, rep)
	}
}
