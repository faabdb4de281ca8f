package scenarios_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/recipes"
	"zksim/scenarios"
	proofs "zksim/scenarios/prove"
)

// sharing is a scenario in which two goroutines of a client add to a number, and wait while they do.
func sharing(lock, unlock func(m *recipes.Mutex)) scenarios.Scenario {
	return scenarios.Scenario{Name: "mine/mutex", Clients: 1, Program: func(p *scenarios.Process) {
		m, n, ended := recipes.NewMutex(p.Env), 0, make(chan zk.Event, 2)
		add := func() {
			lock(m)
			seen := n
			p.Conn.Exists("/")
			n = seen + 1
			unlock(m)
			ended <- zk.Event{}
		}
		p.Env.Go("a", add)
		p.Env.Go("b", add)
		for range 2 {
			p.Env.Await(context.Background(), ended)
		}
		p.Always("both are counted", n == 2)
	}}
}

func TestAMutexIsHeldByOneGoroutine(t *testing.T) {
	lock := func(m *recipes.Mutex) { m.Lock(context.Background()) }
	held := sharing(lock, (*recipes.Mutex).Unlock)
	if f := check(t, held, "1-100", ""); f.fatal != "" {
		t.Error(f.fatal)
	}
	if r := proveAll(t, held, proofs.Every); r.Outcome != proofs.Holds {
		t.Error(r.Certificate.String())
	}
	none := sharing(func(*recipes.Mutex) {}, func(*recipes.Mutex) {})
	if f := check(t, none, "1-100", ""); !strings.Contains(f.fatal, "both are counted") {
		t.Errorf("without it: %s", f.fatal)
	}
	twice := sharing(lock, func(m *recipes.Mutex) { m.Unlock(); m.Unlock() })
	if f := check(t, twice, "1-100", ""); !strings.Contains(f.fatal, "Unlock of a Mutex that is not locked") {
		t.Errorf("unlocked twice: %s", f.fatal)
	}
}

// TestAMailboxIsWaitedForNextToAWatch: values come in order and none is lost, nor is the event of the watch.
func TestAMailboxIsWaitedForNextToAWatch(t *testing.T) {
	s := scenarios.Scenario{Name: "mine/mailbox", Clients: 2, Faults: faults.MustParse("disconnect=1"),
		Setup: []scenarios.Request{scenarios.Mkdir("/flag")},
		Program: func(p *scenarios.Process) {
			if p.ID == 2 {
				p.Conn.Delete(p.Path("/flag"), -1)
				return
			}
			box := recipes.NewMailbox[int](p.Env)
			for _, from := range []int{10, 20} {
				p.Env.Go(fmt.Sprint(from), func() {
					for i := range 2 {
						box.Put(from + i)
						p.Step()
					}
				})
			}
			session := p.Env.SessionEvents()
			_, _, gone, _ := p.Conn.ExistsW(p.Path("/flag"))
			var got []int
			for len(got) < 4 {
				switch i, _, _ := p.Env.Await(context.Background(), gone, session, box.Ready()); i {
				case 0:
					gone = nil
				case 1:
					session = p.Env.SessionEvents()
				default:
					got = append(got, box.Next())
				}
			}
			text := fmt.Sprint(got)
			p.Always("values of one goroutine come in order", strings.Index(text, "10") < strings.Index(text, "11") &&
				strings.Index(text, "20") < strings.Index(text, "21"))
			p.Sometimes("the watch is first", gone == nil)
			p.Sometimes("values are mixed", got[0]/10 != got[1]/10)
		}}
	if f := check(t, s, "1-300", ""); f.fatal != "" {
		t.Error(f.fatal)
	}
}
