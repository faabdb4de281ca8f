package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/sim"
)

// leave is a way of client code to leave the simulator, and a part of what must be said of it.
type leave struct {
	name, says string
	program    func(p *Process)
}

// waits have code that waits for what is not in the simulator.
//
//zksim:ignore that it leaves the simulator is what is to be found
func waits() []leave {
	return []leave{
		{"time.Sleep", "waits otherwise than by its Conn and Env (sleep)",
			func(p *Process) { time.Sleep(time.Millisecond) }},
		{"select with time.After", "(select)", func(p *Process) {
			_, _, ch, _ := p.Conn.GetW("/")
			select {
			case <-ch:
			case <-time.After(2 * time.Millisecond):
			}
		}},
		{"a channel", "(chan receive)", func(p *Process) {
			_, _, ch, err := p.Conn.GetW("/")
			for err != nil {
				_, _, ch, err = p.Conn.GetW("/")
			}
			<-ch
		}},
		{"a nil channel", "(chan receive (nil chan))", func(p *Process) { <-(chan int)(nil) }},
		{"select without cases", "(select (no cases))", func(p *Process) { select {} }},
		{"WaitGroup.Wait", "(sync.WaitGroup.Wait)", func(p *Process) {
			var wg sync.WaitGroup
			wg.Add(1)
			wg.Wait()
		}},
		{"Cond.Wait", "(sync.Cond.Wait)", func(p *Process) {
			var mu sync.Mutex
			mu.Lock()
			sync.NewCond(&mu).Wait()
		}},
		{"IO", "(IO wait)", func(p *Process) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				panic(err)
			}
			defer l.Close()
			l.(*net.TCPListener).SetDeadline(time.Now().Add(2 * time.Millisecond))
			l.Accept()
		}},
		{"in a goroutine of Env.Go", "(sleep)", func(p *Process) {
			p.Env.Go("nap", func() { time.Sleep(time.Millisecond) })
			p.Step()
		}},
		{"code that recovers", "(sleep)", func(p *Process) {
			for range 3 {
				func() {
					defer func() { recover() }()
					time.Sleep(time.Millisecond)
					panic("oh")
				}()
			}
		}},
	}
}

// starts have code that starts goroutines.
//
//zksim:ignore that it leaves the simulator is what is to be found
func starts() []leave {
	return []leave{
		{"go and a call", "a goroutine", func(p *Process) {
			done := false
			go func() {
				defer func() { done = true }()
				p.Conn.Create("/x", nil, 0, zk.WorldACL(zk.PermAll))
			}()
			for range 100 {
				p.Step()
			}
			_ = done
		}},
		{"go and WaitGroup", "c", func(p *Process) {
			var wg sync.WaitGroup
			x := 0
			wg.Go(func() { x++ })
			wg.Wait()
			p.Step()
		}},
		{"go that goes on", "starts a goroutine otherwise than by Env.Go", func(p *Process) {
			end := time.Now().Add(time.Second)
			go func() {
				for time.Now().Before(end) {
					time.Sleep(time.Millisecond)
				}
			}()
			p.Step()
		}},
		{"go and Record", "a goroutine", func(p *Process) {
			o := p.Register(nil)
			go o.Invoke("x")
			p.Step()
		}},
		{"time.AfterFunc", "a goroutine", func(p *Process) {
			time.AfterFunc(0, p.Step)
			for at := time.Now(); time.Since(at) < 5*time.Millisecond; {
				p.Step()
			}
		}},
	}
}

// deadlines have contexts that end by the real clock.
//
//zksim:ignore that it leaves the simulator is what is to be found
func deadlines() []leave {
	return []leave{
		{"context.WithTimeout", "calls Await with a context whose deadline is of real time; use Env.WithTimeout",
			func(p *Process) {
				ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
				defer cancel()
				p.Env.Await(ctx)
			}},
		{"context.WithDeadline in Sleep",
			"calls Sleep with a context whose deadline is of real time; use Env.WithTimeout", func(p *Process) {
				ctx, cancel := p.Env.WithTimeout(context.Background(), time.Hour)
				defer cancel()
				ctx, cancel = context.WithDeadline(ctx, p.Env.Now().Add(time.Second))
				defer cancel()
				p.Env.Sleep(ctx, time.Second)
			}},
		{"context.WithTimeout in Env.WithTimeout", "calls WithTimeout with a context whose deadline is of real time",
			func(p *Process) {
				ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
				defer cancel()
				p.Env.WithTimeout(context.WithValue(ctx, "key", 1), time.Second)
			}},
	}
}

// TestAPanicEndsEnvWithin has a function of Env.Within panic; what is asked afterwards is not bound to its context.
func TestAPanicEndsEnvWithin(t *testing.T) {
	s := Scenario{Name: "test/panics-within", Clients: 1, Program: func(p *Process) {
		ctx, cancel := context.WithCancel(context.Background())
		func() {
			defer func() { recover() }()
			p.Env.Within(ctx, func() { panic("oops") })
		}()
		cancel()
		for range 2 {
			_, _, err := p.Conn.Exists("/")
			p.Always("an answer", err == nil)
		}
	}}
	if rep, err := Run(context.Background(), &s, Options{Seeds: Range{1, 50}}); err != nil || rep.Status != Held {
		t.Errorf("%v: %+v", err, rep)
	}
}

// leaving is a scenario in which clients leave the simulator.
func leaving(clients int, program func(p *Process)) Scenario {
	return Scenario{Name: "test/leaves", Clients: clients, Program: func(p *Process) {
		p.Step()
		program(p)
		p.Step()
	}}
}

// misuse runs a scenario as Check does and returns the misuse that is found.
func misuse(t *testing.T, s Scenario, o Options) *sim.Misuse {
	t.Helper()
	rep, err := Run(context.Background(), &s, o)
	m := (*sim.Misuse)(nil)
	if !errors.As(err, &m) || rep.Status != Misused || rep.Why != m.Message || rep.Stack != m.Stack {
		t.Fatalf("%v: %+v", err, rep)
	}
	return m
}

func TestClientCodeThatLeavesTheSimulatorIsFoundOut(t *testing.T) {
	for _, x := range slices.Concat(waits(), starts(), deadlines()) {
		t.Run(x.name, func(t *testing.T) {
			m := misuse(t, leaving(2, x.program), Options{Seeds: Range{1, 500}})
			client := fmt.Sprintf("c%d ", m.Client)
			if !strings.Contains(m.Message, x.says) || !strings.HasPrefix(m.Message, client) ||
				!strings.Contains(m.Stack, ".go:") || strings.Contains(m.Stack, "0x") {
				t.Error(m)
			}
		})
	}
}

// TestClientCodeThatSeldomLeavesTheSimulatorIsFoundOut has code that does so after the seeds that are run strictly.
//
//zksim:ignore that client code leaves the simulator is what is to be found
func TestClientCodeThatSeldomLeavesTheSimulatorIsFoundOut(t *testing.T) {
	for name, seldom := range map[string]func(p *Process){
		"waits":                func(p *Process) { time.Sleep(10 * time.Millisecond) },
		"waits forever":        func(p *Process) { select {} },
		"calls in a goroutine": func(p *Process) { go p.Conn.Get("/") },
	} {
		t.Run(name, func(t *testing.T) {
			var runs atomic.Int64
			misuse(t, leaving(1, func(p *Process) {
				if runs.Add(1) > 100 {
					seldom(p)
				}
			}), Options{Seeds: Range{1, 500}})
		})
	}
}

// TestAGoroutineThatOutlivesItsRunIsFoundOut has one that calls later, when nobody runs.
//
//zksim:ignore that client code leaves the simulator is what is to be found
func TestAGoroutineThatOutlivesItsRunIsFoundOut(t *testing.T) {
	r := NewRunner()
	defer r.Close()
	called := make(chan bool)
	s := leaving(1, func(p *Process) {
		go func() {
			defer close(called)
			<-called
			p.Conn.Create("/x", nil, 0, nil)
		}()
	})
	if res := r.Seed(&s, 1); res.Misuse != nil || res.Verdict.Level != checkers.OK {
		t.Fatalf("%+v", res)
	}
	called <- true
	<-called
	m := r.World().Misuse()
	if m == nil || m.Message != "c1 calls Create from a goroutine that was not started by Env.Go" {
		t.Fatal(m)
	}
	if want := regexp.MustCompile(`^zksim/sim\.Conn\.Create sim/client_conn\.go:\d+\n` +
		`zksim/scenarios/engine\.\S+ engine/strict_test\.go:\d+\nstarted by zksim/scenarios/engine\.\S+ ` +
		`engine/strict_test\.go:\d+$`); !want.MatchString(m.Stack) {
		t.Error(m.Stack)
	}
	s.Program = func(p *Process) { p.Step() }
	if res := r.Seed(&s, 2); res.Misuse != nil || res.Verdict.Level != checkers.OK {
		t.Errorf("the next run: %+v", res)
	}
}

// TestManyGoroutinesThatCallAtOnceDoNoHarm has them call while code of the same client runs, and of another.
//
//zksim:ignore that client code leaves the simulator is what is to be found
func TestManyGoroutinesThatCallAtOnceDoNoHarm(t *testing.T) {
	r := NewRunner()
	defer r.Close()
	var wg sync.WaitGroup
	defer wg.Wait()
	s := leaving(2, func(p *Process) {
		conn, env := p.Conn, p.Env // the next run makes p anew
		for range 20 {
			wg.Go(func() { conn.Set("/", nil, -1) })
			wg.Go(func() { env.UUID() })
			wg.Go(func() { env.Go("x", func() {}) })
			wg.Go(conn.Close)
			conn.Exists("/")
		}
	})
	for seed := range uint64(20) {
		r.Seed(&s, seed)
	}
	wg.Wait()
	if r.World().Misuse() == nil {
		t.Error("nothing was found")
	}
}

// TestLocksAndEndlessLoopsAreFoundInTheirTime has code that nothing but the time that it takes tells from other code.
//
//zksim:ignore that client code leaves the simulator is what is to be found
func TestLocksAndEndlessLoopsAreFoundInTheirTime(t *testing.T) {
	var over atomic.Bool
	defer over.Store(true)
	for _, x := range []struct {
		says    string
		program func(p *Process)
	}{
		{"c1 has waited for 100ms otherwise than by its Conn and Env (sync.Mutex.Lock)", func(p *Process) {
			var mu sync.Mutex
			mu.Lock()
			mu.Lock()
		}},
		{"c1 has waited for 100ms otherwise than by its Conn and Env (sync.RWMutex.RLock)", func(p *Process) {
			var mu sync.RWMutex
			mu.Lock()
			mu.RLock()
		}},
		{"c1 has kept control for 100ms without a call of its Conn or Env", func(p *Process) {
			for !over.Load() {
			}
		}},
	} {
		m := misuse(t, leaving(1, x.program), Options{Seeds: Range{1, 1}, Stuck: 100 * time.Millisecond})
		if m.Message != x.says || !strings.Contains(m.Stack, "engine/strict_test.go:") {
			t.Error(m)
		}
	}
}

// TestWhatIsNoMisuse has contexts without a deadline of real time, and locks that are free.
func TestWhatIsNoMisuse(t *testing.T) {
	var mu sync.Mutex
	s := Scenario{Name: "test/fine", Clients: 2, Program: func(p *Process) {
		mu.Lock() //zksim:ignore the holder does not wait
		defer mu.Unlock()
		p.Env.Go("x", func() {})
		ctx, cancel := p.Env.WithTimeout(context.WithValue(t.Context(), "key", 1), time.Second)
		defer cancel()
		ctx, cancel = context.WithCancel(context.WithValue(ctx, "key", 2))
		defer cancel()
		inner, cancel := p.Env.WithTimeout(ctx, time.Minute)
		defer cancel()
		mu.Unlock()
		p.Env.Sleep(inner, time.Millisecond)
		p.Env.Await(inner)
		mu.Lock() //zksim:ignore the holder does not wait
	}}
	if rep, err := Run(context.Background(), &s, Options{Seeds: Range{1, 100}}); err != nil || rep.Status != Held {
		t.Errorf("%v, %+v", err, rep)
	}
}

func TestRunsThatPartSayWhereAndWhatWasDone(t *testing.T) {
	r := NewRunner()
	defer r.Close()
	calls := 0
	s := Scenario{Name: "test/coin", Clients: 2, Program: func(p *Process) {
		if calls++; calls == 4 {
			p.Step()
		}
		p.Conn.Exists(fmt.Sprint("/", min(calls, 6)/6))
	}}
	var runs []Shown
	for range 4 {
		r.Replay(&s, Schedule{Scenario: s.Name, Servers: 1})
		runs = append(runs, r.Shown())
	}
	if got := Parts(runs[0], runs[0]); got != "" {
		t.Error(got)
	}
	const cause = "random numbers or time from outside of Env, or the order of a map?"
	if got := Parts(runs[0],
		runs[3]); !regexp.MustCompile(`^part at step \d+ \(run c\d is not the same in both, code of c\d\): ` +
		regexp.QuoteMeta(cause) + `$`).MatchString(got) {
		t.Error(got)
	}
	for _, x := range []struct{ a, b, want string }{
		{"run c1", "run c2/x", "run c1 in one and run c2/x in the other"},
		{"run c1/a", "deliver c1", "run c1/a in one and deliver c1 in the other, code of c1"},
		{"serve c1", "serve c1", "serve c1 is not the same in both"},
		{"tick", "", "tick in one and the end of the run in the other"},
	} {
		a, b := Shown{[]uint64{1, 2, 3}, []string{"tick", x.a, "tick"}}, Shown{[]uint64{1, 3, 3}, []string{"tick", x.b}}
		if x.b == "" {
			b.hashes, b.names = b.hashes[:1], b.names[:1]
		}
		if got, want := Parts(a, b), "part at step 2 ("+x.want+"): "+cause; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
