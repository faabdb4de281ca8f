package scenarios

import (
	"zksim/model"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// Request is one of Scenario.Setup: see [Mkdir].
type Request = model.Request

// Mkdir returns a request for Scenario.Setup that makes a persistent znode that everybody may use.
func Mkdir(path string) Request { return engine.Mkdir(path) }

// Lock returns the scenario of a lock, with zksim's own workload, faults, checkers and goals:
//
//	func TestMyLock(t *testing.T) {
//		scenarios.Check(t, scenarios.Lock("my/lock", func(p *scenarios.Process) *mylock.Lock {
//			return mylock.New(p.Conn, p.Env, p.Path("/my-lock"))
//		}))
//	}
//
// A lock needs only the first two of these methods. The others are called and judged if it has them:
//
//	Lock(ctx context.Context) error
//	Unlock(ctx context.Context) error
//	TryLock(ctx context.Context) error // optional: recipes.ErrLocked says that another client has or awaits it
//	Lost() <-chan zk.Event             // optional: yields an event, or is closed, when the lock is lost
//	Token() int64                      // optional: the fencing token, by which a resource refuses earlier holders
//	Znodes() []string                  // optional: by which it holds or waits, the first one first
//
// [workload.Locker] says what is expected of each; the other presets have such an interface too. All presets may be
// changed before Check, Prove or Fuzz takes them: append to Faults, and to Setup what the recipe expects to find (see
// [Mkdir]); replace Program, Clients, Checkers or Goals. No preset judges what a recipe leaves behind. Only its author
// knows which persistent znodes are to stay, and which names come again: append [checkers.Leftover] with the former and
// [checkers.Watches] with the latter to Checkers.
func Lock[L workload.Locker](name string, newLock func(p *Process) L) Scenario {
	return workload.Locks(name, newLock)
}

// RWLock is Lock for a read/write lock. It also has RLock and RUnlock, and may have TryRLock and Downgrade: see
// [workload.RWLocker].
func RWLock[L workload.RWLocker](name string, newLock func(p *Process) L) Scenario {
	return workload.RWLocks(name, newLock)
}

// Semaphore is Lock for a semaphore with that many leases, at least 1. It has Acquire and Release and may have
// TryAcquire, Lost and Znodes: see [workload.Leaser]. Waiting while a lease is free shows only if holders stay until
// nothing else can happen: docs/adopt.md has a test of that.
func Semaphore[S workload.Leaser](name string, leases int, newSemaphore func(p *Process) S) Scenario {
	return workload.Semaphores(name, leases, newSemaphore)
}

// Election is Lock for an election. It has Campaign and Resign, and may have Acknowledge and Leader, Lost, Token and
// Znodes: see [workload.Elector].
func Election[E workload.Elector](name string, newElection func(p *Process) E) Scenario {
	return workload.Elections(name, newElection)
}

// Barrier is Lock for a barrier, with Hold, Release and Wait: see [workload.Barrier].
func Barrier[B workload.Barrier](name string, newBarrier func(p *Process) B) Scenario {
	return workload.Barriers(name, newBarrier)
}

// DoubleBarrier is Lock for a double barrier with a number of participants. It has Enter, Leave and Znodes, and may
// have Lost and Round: see [workload.DoubleBarrier].
func DoubleBarrier[B workload.DoubleBarrier](name string, newBarrier func(p *Process, participants int) B) Scenario {
	return workload.DoubleBarriers(name, newBarrier)
}

// Queue is Lock for a queue. It has Put and Take, and may have TryTake: see [workload.Queue].
func Queue[Q workload.Queue](name string, newQueue func(p *Process) Q) Scenario {
	return workload.Queues(name, newQueue)
}

// PriorityQueue is Queue with a priority for Put. The item with the lowest number is taken first; of several with the
// same number, the one that was put first. See [workload.PriorityQueue].
func PriorityQueue[Q workload.PriorityQueue](name string, newQueue func(p *Process) Q) Scenario {
	return workload.PriorityQueues(name, newQueue)
}

// Counter is Lock for a counter. It has Add, and may have Get and CompareAndSet: see [workload.Counter]. If Get may
// return an old value, use a type without Get.
func Counter[C workload.Counter](name string, newCounter func(p *Process) C) Scenario {
	return workload.Counters(name, newCounter)
}

// Members is Lock for membership in a group, whose folder is path. It has Join and Leave, and may have Watch: see
// [workload.Membership].
func Members[M workload.Membership](name string, newMember func(p *Process, path string) M) Scenario {
	return workload.Members(name, newMember)
}

// Watcher is Lock for a watcher of the data of znode path. Its Run reports each state: see [workload.Watcher].
func Watcher[W workload.Watcher](name string, newWatcher func(p *Process, path string) W) Scenario {
	return workload.Watchers(name, newWatcher)
}

// Cache is Lock for a watcher of the children of znode path. Its Run reports their names: see [workload.Cache].
func Cache[C workload.Cache](name string, newCache func(p *Process, path string) C) Scenario {
	return workload.Caches(name, newCache)
}

// Config is Lock for a configuration in the folder path. It has Get and Update, and may have Watch: see
// [workload.Config].
func Config[C workload.Config](name string, newConfig func(p *Process, path string) C) Scenario {
	return workload.Configs(name, newConfig)
}
