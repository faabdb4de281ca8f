package banned

import (
	"context"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"zksim/recipes"
)

type guarded struct {
	env recipes.Env
	sync.Mutex
	rw     sync.RWMutex
	group  sync.WaitGroup
	cond   *sync.Cond
	once   sync.Once
	m      sync.Map
	n      atomic.Int64
	pool   sync.Pool
	weight *semaphore.Weighted
	flight singleflight.Group
}

func (g *guarded) locks() {
	g.Lock() // want `^\(\*sync.Mutex\).Lock blocks outside of the simulator while the holder waits; let one goroutine own what it guards, and use Env.Await to wait for it$`
	g.Unlock()
	g.rw.Lock()  // want `^\(\*sync.RWMutex\).Lock blocks`
	g.rw.RLock() // want `^\(\*sync.RWMutex\).RLock blocks`
	g.rw.RUnlock()
	g.rw.RLocker().Lock() // want `^\(sync.Locker\).Lock blocks`
	if g.TryLock() {
		defer g.Unlock()
	}
}

func (g *guarded) waits(ctx context.Context) {
	g.group.Add(1)
	g.group.Go(func() {}) // want `^\(\*sync.WaitGroup\).Go starts a goroutine outside of the simulator; use Env.Go$`
	g.group.Done()
	g.group.Wait()           // want `^\(\*sync.WaitGroup\).Wait blocks outside of the simulator; use Env.Await$`
	g.cond.Wait()            // want `^\(\*sync.Cond\).Wait blocks outside of the simulator; use Env.Await$`
	g.weight.Acquire(ctx, 1) // want `^\(\*golang.org/x/sync/semaphore.Weighted\).Acquire blocks`
	g.flight.Do("", nil)     // want `^\(\*golang.org/x/sync/singleflight.Group\).Do blocks`
	g.flight.DoChan("", nil) // want `^\(\*golang.org/x/sync/singleflight.Group\).DoChan starts`
	runtime.Gosched()        // want `^runtime.Gosched lets nothing in the simulator run; use Env.Sleep$`
	reflect.Select(nil)      // want `^reflect.Select blocks outside of the simulator; use Env.Await$`

	e, _ := errgroup.WithContext(ctx)
	e.Go(nil)    // want `^\(\*golang.org/x/sync/errgroup.Group\).Go starts a goroutine`
	e.TryGo(nil) // want `^\(\*golang.org/x/sync/errgroup.Group\).TryGo starts`
	e.Wait()     // want `^\(\*golang.org/x/sync/errgroup.Group\).Wait blocks`
}

func (g *guarded) harmless() {
	g.once.Do(func() { g.n.Add(1) })
	g.m.Store(1, 1)
	g.pool.Get()   // want `^\(\*sync.Pool\).Get returns what the garbage collector has left; make a new value$`
	g.m.Range(nil) // want `^\(\*sync.Map\).Range has another order in each run`
}
