package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"zksim/recipes"
	"zksim/scenarios/engine"
)

// frugalLocks checks that what locks, leases and elections keep does not grow from call to call.
func (a alone) frugalLocks() {
	a.frugal(
		taking("Lock.Lock", simpleLock, (*recipes.Lock).Lock, (*recipes.Lock).Unlock),
		taking("SingleNodeLock.Lock", singleLock, (*recipes.SingleNodeLock).Lock, (*recipes.SingleNodeLock).Unlock),
		taking("RWLock.RLock", sharedLock, (*recipes.RWLock).RLock, (*recipes.RWLock).RUnlock),
		taking("RWLock.Lock", sharedLock, (*recipes.RWLock).Lock, (*recipes.RWLock).Unlock),
		taking("RevocableLock.Lock", revocableLock, (*recipes.RevocableLock).Lock, (*recipes.RevocableLock).Unlock),
		taking("Semaphore.Acquire", twoLeases, (*recipes.Semaphore).Acquire, (*recipes.Semaphore).Release),
		taking("Election.Campaign", candidate, (*recipes.Election).Campaign, (*recipes.Election).Resign))
}

// frugalStores does so for recipes that store data.
func (a alone) frugalStores() {
	take := func(opt recipes.QueueOptions) func(p *engine.Process, dir string) func(ctx context.Context) error {
		return func(p *engine.Process, dir string) func(ctx context.Context) error {
			return inVain(p, answer(recipes.NewQueue(p.Conn, p.Env, dir, opt).Take))
		}
	}
	a.frugal(
		usage{"Queue.Take of an empty queue", take(recipes.QueueOptions{})},
		usage{"Queue.Take of an empty queue, in turn", take(recipes.QueueOptions{Turns: true})},
		usage{"Queue.Put and Take", func(p *engine.Process, dir string) func(ctx context.Context) error {
			q := fifo(p, dir)
			return func(ctx context.Context) error {
				return untilError(ctx, func(ctx context.Context) error { return q.Put(ctx, nil) }, answer(q.Take))
			}
		}},
		usage{"Counter.Add", func(p *engine.Process, dir string) func(ctx context.Context) error {
			c := counterAt(p, dir)
			return answer(func(ctx context.Context) (int64, error) { return c.Add(ctx, 1) })
		}},
		usage{"FlaggedConfig.Update", func(p *engine.Process, dir string) func(ctx context.Context) error {
			c := flaggedIn(p, dir)
			return func(ctx context.Context) error { return c.Update(ctx, map[string][]byte{"a": nil}) }
		}})
}

// frugalWorks does so for recipes whose clients wait for each other.
func (a alone) frugalWorks() {
	a.frugal(
		taking("Barrier.Hold", barrierAt, (*recipes.Barrier).Hold, (*recipes.Barrier).Release),
		taking("DoubleBarrier.Enter", func(p *engine.Process, dir string) *recipes.DoubleBarrier {
			return recipes.NewDoubleBarrier(p.Conn, p.Env, dir, 1, recipes.DoubleBarrierOptions{})
		}, (*recipes.DoubleBarrier).Enter, (*recipes.DoubleBarrier).Leave),
		usage{"Group.Join", func(p *engine.Process, dir string) func(ctx context.Context) error {
			g := groupOf(p, dir)
			return func(ctx context.Context) error {
				m, err := g.Join(ctx, "m", nil)
				if err != nil {
					return err
				}
				a.p.AtRest() // until the membership is looked after
				return m.Leave(ctx)
			}
		}})
}

// frugalReads does so for calls that only ask, whatever the answer.
func (a alone) frugalReads() {
	reads := []string{"Contenders", "Candidates", "Leader", "List", "Resolve", "Get", "Len", "TryTake", "TryClaim"}
	var uses []usage
	for _, o := range calls {
		if !slices.Contains(reads, o.name[strings.IndexByte(o.name, '.')+1:]) {
			continue
		}
		uses = append(uses, usage{o.name, func(p *engine.Process, dir string) func(ctx context.Context) error {
			a.create(dir, "")
			return func(ctx context.Context) error {
				o.call(ctx, p, dir)
				return nil
			}
		}})
	}
	a.frugal(uses...)
}

// frugalWaits does so for waits that end at their deadline and are repeated.
func (a alone) frugalWaits() {
	const first = "_c_0-%s-0000000000"
	lock, write := fmt.Sprintf(first, "lock"), fmt.Sprintf(first, "write")
	a.frugal(
		vain(a, "Lock.Lock", lock, simpleLock, (*recipes.Lock).Lock),
		vain(a, "SingleNodeLock.Lock", "one/lock", singleLock, (*recipes.SingleNodeLock).Lock),
		vain(a, "RWLock.RLock", write, sharedLock, (*recipes.RWLock).RLock),
		vain(a, "RevocableLock.Lock", write, revocableLock, (*recipes.RevocableLock).Lock),
		vain(a, "Semaphore.Acquire", "gate/"+lock, twoLeases, (*recipes.Semaphore).Acquire),
		vain(a, "Semaphore.Acquire inside the gate", "leases/"+fmt.Sprintf(first, "lease"),
			func(p *engine.Process, dir string) *recipes.Semaphore {
				return recipes.NewSemaphore(p.Conn, p.Env, dir, 1, recipes.LockOptions{})
			}, (*recipes.Semaphore).Acquire),
		vain(a, "Election.Campaign", "candidates/"+fmt.Sprintf(first, "candidate"), candidate, (*recipes.Election).Campaign),
		vain(a, "Election.AwaitLeader", "", candidate,
			func(e *recipes.Election, ctx context.Context) error { return answer(e.AwaitLeader)(ctx) }),
		vain(a, "Barrier.Wait", "", barrierAt, (*recipes.Barrier).Wait),
		vain(a, "DoubleBarrier.Enter", "", func(p *engine.Process, dir string) *recipes.DoubleBarrier {
			return recipes.NewDoubleBarrier(p.Conn, p.Env, dir, 2, recipes.DoubleBarrierOptions{})
		}, (*recipes.DoubleBarrier).Enter),
		vain(a, "Worker.Next", "", workerOf,
			func(w *recipes.Worker, ctx context.Context) error { return answer(w.Next)(ctx) }),
		usage{"Task.Wait in vain", func(p *engine.Process, dir string) func(ctx context.Context) error {
			t, err := tasksOf(p, dir).Submit(background, nil)
			a.fine(err, "TaskClient.Submit")
			return inVain(p, answer(t.Wait))
		}})
}
