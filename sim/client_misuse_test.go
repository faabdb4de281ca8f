package sim

import (
	"context"
	"strings"
	"testing"
	"time"

	"zksim/model/history"
)

func TestEveryCallFromAnUnknownGoroutineIsReported(t *testing.T) {
	for call, f := range map[string]func(k Conn, e Env){
		"Create":        func(k Conn, e Env) { k.Create("/x", nil, 0, open) },
		"Delete":        func(k Conn, e Env) { k.Delete("bad path", -1) },
		"Multi":         func(k Conn, e Env) { k.Multi() },
		"Get":           func(k Conn, e Env) { k.Get("/x") },
		"ChildrenW":     func(k Conn, e Env) { k.ChildrenW("/x") },
		"SessionID":     func(k Conn, e Env) { k.SessionID() },
		"State":         func(k Conn, e Env) { k.State() },
		"Close":         func(k Conn, e Env) { k.Close() },
		"Now":           func(k Conn, e Env) { e.Now() },
		"Sleep":         func(k Conn, e Env) { e.Sleep(context.Background(), time.Second) },
		"Await":         func(k Conn, e Env) { e.Await(context.Background()) },
		"WithTimeout":   func(k Conn, e Env) { e.WithTimeout(context.Background(), time.Second) },
		"Yield":         func(k Conn, e Env) { e.Yield() },
		"Go":            func(k Conn, e Env) { e.Go("x", func() {}) },
		"UUID":          func(k Conn, e Env) { e.UUID() },
		"SessionEvents": func(k Conn, e Env) { e.SessionEvents() },
		"Forget":        func(k Conn, e Env) { e.Forget() },
		"Keep":          func(k Conn, e Env) { e.Keep() },
		"Within":        func(k Conn, e Env) { e.Within(context.Background(), func() {}) },
		"Undo":          func(k Conn, e Env) { e.Undo("x", func() {}) },
	} {
		w := NewWorld()
		w.Reset(Config{Clients: 2, Order: 1}, nil, func(c *Client) {})
		c, done := w.clients[1], make(chan bool)
		go func() {
			defer close(done)
			defer f(c.Conn(), c.Env()) // in an unwinding goroutine, too
			f(c.Conn(), c.Env())
			t.Errorf("%s came back", call)
		}()
		<-done
		err := w.Run(&Replay{})
		m, ok := err.(*Misuse)
		if !ok || m.Client != 2 ||
			m.Message != "c2 calls "+call+" from a goroutine that was not started by Env.Go" ||
			w.History.Outcome != history.Stopped {
			t.Errorf("%s: %v, outcome %v", call, err, w.History.Outcome)
			continue
		}
		for _, part := range []string{"." + call + " sim/", " sim/client_misuse_test.go:",
			"\nstarted by zksim/sim.TestEveryCallFromAnUnknownGoroutineIsReported sim/client_misuse_test.go:"} {
			if !strings.Contains(m.Stack, part) {
				t.Errorf("%s: no %q in\n%s", call, part, m.Stack)
			}
		}
		w.Reset(Config{Clients: 2, Order: 1}, nil, func(c *Client) { c.Conn().Exists("/") })
		if err := w.Run(&Replay{}); err != nil || w.History.Outcome != history.Quiet {
			t.Errorf("%s: the next run: %v, outcome %v", call, err, w.History.Outcome)
		}
		w.Close()
	}
}
