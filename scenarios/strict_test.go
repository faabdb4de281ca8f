package scenarios

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/sim"
)

// leaves are ways of client code to leave the simulator, and a part of what must be said of each.
var leaves = []struct {
	name, says string
	program    func(p *Process)
}{
	{"time.Sleep", "waits otherwise than by its Conn and Env (sleep)", func(p *Process) { time.Sleep(time.Millisecond) }},
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
	{"go and WaitGroup", "c2 ", func(p *Process) {
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
		o := p.Register(func() []string { return nil })
		go o.Invoke("x")
		p.Step()
	}},
	{"time.AfterFunc", "a goroutine", func(p *Process) {
		time.AfterFunc(0, p.Step)
		for at := time.Now(); time.Since(at) < 5*time.Millisecond; {
			p.Step()
		}
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
	{"context.WithTimeout", "calls Await with a context whose deadline is of real time; use Env.WithTimeout", func(p *Process) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		p.Env.Await(ctx)
	}},
	{"context.WithDeadline in Sleep", "calls Sleep with a context whose deadline is of real time; use Env.WithTimeout", func(p *Process) {
		ctx, cancel := p.Env.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		ctx, cancel = context.WithDeadline(ctx, p.Env.Now().Add(time.Second))
		defer cancel()
		p.Env.Sleep(ctx, time.Second)
	}},
	{"context.WithTimeout in Env.WithTimeout", "calls WithTimeout with a context whose deadline is of real time", func(p *Process) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		p.Env.WithTimeout(context.WithValue(ctx, "key", 1), time.Second)
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

func TestClientCodeThatLeavesTheSimulatorIsFoundOut(t *testing.T) {
	for _, x := range leaves {
		t.Run(x.name, func(t *testing.T) {
			s := Scenario{Name: "test/leaves", Clients: 2, Program: func(p *Process) {
				p.Step()
				x.program(p)
				p.Step()
			}}
			began := time.Now()
			rep, err := Run(context.Background(), &s, Options{Seeds: Range{1, 500}})
			m := (*sim.Misuse)(nil)
			if !errors.As(err, &m) {
				t.Fatalf("%v: %+v", err, rep)
			}
			if !strings.Contains(m.Message, x.says) || !strings.Contains(m.Stack, ".go:") || m.Client < 1 || rep.Status != Misused {
				t.Errorf("%v\n%+v", err, rep)
			}
			t.Logf("%v\n%v", time.Since(began), err)
		})
	}
}
