package variants

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/scenarios"
	"zksim/scenarios/engine"
	"zksim/scenarios/herd"
)

// bound is a variant that holds a recipe to the fan-out of its doc comment.
type bound struct {
	herd.Variant
	claims []herd.Claim
}

// of is a variant of this package with its own claims, or those of a herd.
func of(name string, claims ...herd.Claim) bound {
	i := slices.IndexFunc(All, func(v herd.Variant) bool { return v.Name == name })
	return bound{All[i], append(claims, All[i].Claims...)}
}

// fanOut has the bounds of every recipe of package recipes.
var fanOut = map[string][]bound{
	"Lock":           {of("lock/sequential")},
	"SingleNodeLock": {of("lock/single-node", herd.PerClient(1))},
	"RWLock": {of("rwlock/readers"),
		exclusive("rwlock/writers", func(p *herd.Process) herd.Locker { return newRWLock(p) }, herd.PerEvent(1), noWaste,
			bounded)},
	"RevocableLock": {exclusive("revocable/writers", newRevocable, herd.PerEvent(1), noWaste, bounded)},
	"Semaphore":     {exclusive("semaphore/leases", newSemaphore, herd.PerEvent(2), bounded)},
	"Election":      {of("election/predecessor"), of("election/smallest", herd.PerClient(1))},
	"Barrier":       {of("wait/watch")},
	"DoubleBarrier": {of("leave/lowest"), of("leave/sequential"), of("leave/naive", herd.PerClient(1))},
	"Queue":         {of("queue/all", herd.PerClient(4)), of("queue/turns")},
	"PriorityQueue": {priorities(false, herd.PerClient(4)), priorities(true, herd.PerEvent(4), bounded)},
	"Transaction":   {of("commit/all-sites", herd.PerClient(1+1)), of("commit/coordinator")},
	"Config":        {alone("config/update", updateConfig)},
	"FlaggedConfig": {alone("config/flagged", updateFlagged)},
	"CachedConfig": {follow("config/cached", runCache, updateConfig, herd.PerClient(1)),
		follow("config/cached-flagged", runCache, updateFlagged, herd.PerClient(2))},
	"Counter":              {alone("counter/add", addOne)},
	"Names":                {alone("names/register", registerNext)},
	"DataWatch":            {follow("watch/data", watchData, setData, herd.PerClient(1))},
	"ChildrenWatch":        {follow("watch/children", watchChildren, createChild, herd.PerClient(1))},
	"PatientChildrenWatch": {follow("watch/patient", watchPatiently, createChild, herd.PerClient(1))},
	"ChildrenCache":        {follow("watch/cache", cacheChildren, createAndDelete, herd.PerClient(3))},
	"Group":                {follow("group/watch", watchGroup, joinAndLeave, herd.PerClient(3))},
	"Monitor":              {follow("monitor/queue", monitorQueue, lockOnce, herd.PerClient(2))},
	"Master":               {masters(herd.PerEvent(1), bounded)},
	"Worker":               {pool(herd.PerEvent(3), bounded)},
	"TaskClient":           {pool(herd.PerEvent(3), bounded)},
}

// Every recipe says in its doc comment what its fan-out is, and is held to it.
func TestEveryRecipeKeepsTheFanOutThatItsDocCommentStates(t *testing.T) {
	docs := recipeDocs(t)
	for name, doc := range docs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(doc, "\n# Fan-out\n") {
				t.Errorf("the doc comment of recipes.%s has no section \"# Fan-out\"", name)
			}
			if len(fanOut[name]) == 0 {
				t.Errorf("recipes.%s has no entry in fanOut", name)
			}
			for _, b := range fanOut[name] {
				if len(b.claims) == 0 {
					t.Errorf("%s claims nothing", b.Name)
				}
				scenarios.Herd(t, b.Variant, b.claims...)
			}
		})
	}
	for name := range fanOut {
		if docs[name] == "" {
			t.Errorf("fanOut has an entry for %s, which is no recipe", name)
		}
	}
	if len(docs) < 25 {
		t.Errorf("only %d recipes were found", len(docs))
	}
}

// recipeDocs returns the doc comments of the types that package recipes has a New
// function for.
func recipeDocs(t *testing.T) map[string]string {
	product := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	packages, err := parser.ParseDir(token.NewFileSet(), "../../../recipes", product, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	types, made := map[string]string{}, map[string]string{}
	for _, file := range packages["recipes"].Files {
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if x, ok := spec.(*ast.TypeSpec); ok {
						types[x.Name.Name] = d.Doc.Text() + x.Doc.Text()
					}
				}
			case *ast.FuncDecl:
				if name, ok := maker(d); ok {
					made[name] = ""
				}
			}
		}
	}
	for name := range made {
		made[name] = types[name]
	}
	return made
}

// maker returns what a function New... makes of a connection. What is made of an Env alone shares nothing with others.
func maker(d *ast.FuncDecl) (string, bool) {
	if d.Recv != nil || !strings.HasPrefix(d.Name.Name, "New") || d.Type.Results == nil || len(d.Type.Params.List) == 0 {
		return "", false
	}
	if x, ok := d.Type.Params.List[0].Type.(*ast.Ident); !ok || x.Name != "Conn" {
		return "", false
	}
	star, ok := d.Type.Results.List[0].Type.(*ast.StarExpr)
	if !ok {
		return "", false
	}
	return star.X.(*ast.Ident).Name, true
}

// exclusive is Locks for a lock that needs the Process.
func exclusive(name string, newLocker func(p *herd.Process) herd.Locker, claims ...herd.Claim) bound {
	return bound{herd.Locks(name, func(p *engine.Process) herd.Locker { return newLocker(&herd.Process{Process: p}) }),
		claims}
}

func newRevocable(p *herd.Process) herd.Locker {
	return recipes.NewRevocableLock(p.Conn, p.Env, p.Path(dir), recipes.LockOptions{})
}

// leases is a semaphore as a lock.
type leases struct{ *recipes.Semaphore }

func (l leases) Lock(ctx context.Context) error   { return l.Acquire(ctx) }
func (l leases) Unlock(ctx context.Context) error { return l.Release(ctx) }

func newSemaphore(p *herd.Process) herd.Locker {
	return leases{recipes.NewSemaphore(p.Conn, p.Env, p.Path(dir), 2, recipes.LockOptions{})}
}

// times is how often the driver of a variant below does something.
const times = 20

func often(int) int { return times }

// alone is a variant in which all clients do something that notifies nobody.
func alone(name string, do func(p *herd.Process, k int) error) bound {
	return bound{herd.Variant{Name: name, Events: func(n int) int { return 3 * n }, Most: 80, Setup: setup,
		Program: func(p *herd.Process) {
			p.Opening(0)
			for k := range 3 {
				if !p.Went(do(p, k)) {
					return
				}
			}
		}}, []herd.Claim{herd.PerEvent(0)}}
}

// follow is a variant in which clients hear of what the driver does.
func follow(name string, run func(p *herd.Process) error, do func(p *herd.Process, k int) error,
	claims ...herd.Claim) bound {
	return bound{herd.Variant{Name: name, Events: often, Setup: setup, Most: 80, Interval: 100,
		Program: func(p *herd.Process) {
			if err := run(p); err != nil {
				p.Fail(err)
			}
		},
		Drive: func(p *herd.Process) {
			if err := do(p, times); err != nil { // which makes what is made once
				p.Fail(err)
				return
			}
			p.Opening(0)
			for k := range times {
				if !p.Went(do(p, k)) {
					return
				}
				p.Settle()
			}
		}}, append(claims, heard)}
}

// heard is broken by clients that are never notified: then a bound says nothing.
var heard = herd.Claim{Doc: "clients are notified", Broken: func(all []herd.Measurement) string {
	for _, m := range all {
		if m.Notifications < float64(m.Clients)/2 {
			return fmt.Sprintf("only %v notifications with %d clients", m.Notifications, m.Clients)
		}
	}
	return ""
}}

func updateConfig(p *herd.Process, k int) error {
	c := recipes.NewConfig(p.Conn, p.Env, p.Path(dir), recipes.ConfigOptions{})
	for {
		base, err := c.Get(context.Background())
		if err == nil {
			err = c.Update(context.Background(), base, news(p, k))
		}
		if !errors.Is(err, recipes.ErrConfigChanged) {
			return err
		}
	}
}

func updateFlagged(p *herd.Process, k int) error {
	c := recipes.NewFlaggedConfig(p.Conn, p.Env, p.Path(dir), recipes.ConfigOptions{})
	for {
		if err := c.Update(context.Background(), news(p, k)); !errors.Is(err, recipes.ErrConfigChanged) {
			return err
		}
		p.Rest(time.Duration(p.ID) * time.Millisecond) // two that meet again and again stand in each other's way
	}
}

func news(p *herd.Process, k int) map[string][]byte {
	return map[string][]byte{"key": fmt.Append(nil, p.ID, k)}
}

func runCache(p *herd.Process) error {
	return recipes.NewCachedConfig(p.Conn, p.Env, p.Path(dir), func(recipes.ConfigSet) {}).Run(context.Background())
}

func addOne(p *herd.Process, _ int) error {
	_, err := recipes.NewCounter(p.Conn, p.Env, p.Path(dir+"/counter"), recipes.CounterOptions{}).Add(context.Background(),
		1)
	return err
}

func registerNext(p *herd.Process, _ int) error {
	_, err := recipes.NewNames(p.Conn, p.Env, p.Path(dir), recipes.NamesOptions{}).RegisterNext(context.Background(),
		"name-", nil)
	return err
}

func watchData(p *herd.Process) error {
	w := recipes.NewDataWatch(p.Conn, p.Env, p.Path(dir), recipes.WatchOptions{})
	return w.Run(context.Background(), func([]byte, *zk.Stat) bool { return true })
}

func setData(p *herd.Process, k int) error {
	_, err := p.Conn.Set(p.Path(dir), fmt.Append(nil, k), -1)
	return err
}

func watchChildren(p *herd.Process) error {
	w := recipes.NewChildrenWatch(p.Conn, p.Env, p.Path(dir), recipes.WatchOptions{})
	return w.Run(context.Background(), func([]string, *zk.Stat) bool { return true })
}

func watchPatiently(p *herd.Process) error {
	w := recipes.NewPatientChildrenWatch(p.Conn, p.Env, p.Path(dir), time.Millisecond, recipes.WatchOptions{})
	return w.Run(context.Background(), func([]string, *zk.Stat) bool { return true })
}

func cacheChildren(p *herd.Process) error {
	c := recipes.NewChildrenCache(p.Conn, p.Env, p.Path(dir), recipes.WatchOptions{})
	return c.Run(context.Background(), func([]recipes.Child, []recipes.Change) bool { return true })
}

func child(p *herd.Process, k int) string { return fmt.Sprintf("%s/child-%d", p.Path(dir), k) }

func createChild(p *herd.Process, k int) error {
	_, err := p.Conn.Create(child(p, k), nil, 0, zk.WorldACL(zk.PermAll))
	return err
}

// createAndDelete is two changes, of which the second notifies twice.
func createAndDelete(p *herd.Process, k int) error {
	if err := createChild(p, k); err != nil {
		return err
	}
	p.Settle()
	return p.Conn.Delete(child(p, k), -1)
}

func watchGroup(p *herd.Process) error {
	g := recipes.NewGroup(p.Conn, p.Env, p.Path(dir), recipes.GroupOptions{})
	return g.Watch(context.Background(), func([]recipes.Child, []recipes.Change) bool { return true })
}

func joinAndLeave(p *herd.Process, k int) error {
	m, err := recipes.NewGroup(p.Conn, p.Env, p.Path(dir), recipes.GroupOptions{}).Join(context.Background(),
		fmt.Sprint("m", k), nil)
	if err != nil {
		return err
	}
	p.Settle()
	return m.Leave(context.Background())
}

func monitorQueue(p *herd.Process) error {
	never := recipes.MonitorOptions{Limit: time.Hour, Alarm: func(recipes.Overdue) {}}
	return recipes.NewMonitor(p.Conn, p.Env, p.Path(dir), never).Run(context.Background())
}

// lockOnce is two changes of the queue.
func lockOnce(p *herd.Process, _ int) error {
	l := newLock(p.Process)
	if err := l.Lock(context.Background()); err != nil {
		return err
	}
	p.Settle()
	return l.Unlock(context.Background())
}
