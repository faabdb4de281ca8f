package workload

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/scenarios/engine"
)

// Feed makes a program in which the first client puts what the others get, one item a round, while its session lasts.
func Feed(claim bool, newQueue func(p *engine.Process) Consumer) func(p *engine.Process) {
	return feed(func(p *engine.Process) *worker { return newWorker(p, newQueue, claim) })
}

// FeedAtWork is Feed with consumers that wait a few times with a deadline, give up and come back, and work long on what
// they have claimed.
func FeedAtWork(newQueue func(p *engine.Process) Consumer) func(p *engine.Process) {
	return feed(func(p *engine.Process) *worker {
		w := newWorker(p, newQueue, true)
		w.brief, w.work = 3, longWork
		return w
	})
}

// feedAndPut is Feed with consumers that put items themselves, one before each that they get except the first. The
// first comes from the producer, and most consumers have to wait for it.
func feedAndPut(newQueue func(p *engine.Process) Consumer) func(p *engine.Process) {
	return feed(func(p *engine.Process) *worker {
		w := newWorker(p, newQueue, false)
		w.gives = true
		return w
	})
}

// FeedAtRest is Feed with a producer that puts its last item when nothing else can happen, unless the run is brief.
func FeedAtRest(claim bool, newQueue func(p *engine.Process) Consumer) func(p *engine.Process) {
	return feed(func(p *engine.Process) *worker {
		w := newWorker(p, newQueue, claim)
		w.rests = !Brief(p)
		return w
	})
}

// feed is Feed with clients of any kind.
func feed(newWorker func(p *engine.Process) *worker) func(p *engine.Process) {
	return func(p *engine.Process) {
		w := newWorker(p)
		if p.ID == 1 {
			w.produce()
			rounds := p.Rounds
			if w.gives {
				rounds = 1
			}
			for left := rounds * (p.Clients - 1); left > 0; left-- {
				if left == 1 && w.rests {
					p.AtRest()
				}
				if !w.put() {
					return
				}
			}
			return
		}
		end, ok := w.follow()
		if !ok {
			return
		}
		defer end()
		for r := 0; r < p.Rounds && (r == 0 || !w.gives || w.put()) && w.get((p.ID+r)%3 == 0); r++ {
		}
	}
}

// producerPath is an ephemeral znode of the producer.
const producerPath = "/producer"

// produce announces the producer.
func (w *worker) produce() {
	for {
		_, err := w.p.Conn.Create(w.p.Path(producerPath), nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		if err == nil || err == zk.ErrNodeExists {
			return
		}
		w.p.Env.Sleep(context.Background(), time.Second)
	}
}

// follow looks for the producer and returns the function that ends fed; ok is false if it sees no producer.
func (w *worker) follow() (end context.CancelFunc, ok bool) {
	for range 20 {
		exists, _, err := w.p.Conn.Exists(w.p.Path(producerPath))
		if err == nil && exists {
			w.fed, end = context.WithCancel(context.Background())
			w.p.Env.Go("follow", func() { w.attend(end) })
			return end, true
		}
		w.p.Env.Sleep(context.Background(), 100*time.Millisecond)
	}
	return nil, false
}

// attend calls gone when the producer's session has ended.
func (w *worker) attend(gone context.CancelFunc) {
	defer recipes.Forget(w.p.Env)()
	for w.fed.Err() == nil {
		recipes.Keep(w.p.Env)
		change := w.p.Env.SessionEvents()
		ended, event := w.producer()
		if ended {
			gone()
			return
		}
		if _, ev, _ := w.p.Env.Await(w.fed, event, change); ev.Err == zk.ErrClosing {
			return // the connection is closed for good: the run is over, and asking again would spin
		}
	}
}

// producer reports whether the producer's session has ended, and watches for that. In a preset it leaves no watch once
// the session has ended, since the user may have watches judged.
func (w *worker) producer() (ended bool, event <-chan zk.Event) {
	path := w.p.Path(producerPath)
	if w.gives {
		_, _, event, err := w.p.Conn.GetW(path)
		return err == zk.ErrNoNode, event
	}
	exists, _, event, err := w.p.Conn.ExistsW(path)
	return err == nil && !exists, event
}
