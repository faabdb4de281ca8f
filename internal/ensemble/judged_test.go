package ensemble_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/internal/zkserver"
	"zksim/internal/zkserver/zkservertest"
	"zksim/model/history"
	"zksim/scenarios/engine"
)

// What checkers say of a real history by its txns, its end and the moments at which sessions end. Each program is what
// a broken recipe would do, and with sound it is what a correct one does.
func TestOnRealServersIsJudgedWhatTheLogsShow(t *testing.T) {
	e := zkservertest.Start(t, zkserver.Options{Servers: 1, MinSessionTimeout: time.Second})
	for _, x := range []struct {
		name, plan string
		checker    checkers.Checker
		program    func(p *engine.Process, o engine.Object, sound bool)
		want       string
	}{
		{"a session that ends while its client could know", "expire=1@op=exists,nth=1", checkers.Claim{}, holdsOn,
			"c1 still believes that it holds the lock by /lock/a, whose session has ended, and was disconnected before"},
		{"a name that a failed register leaves", "lose-reply=1@op=create,nth=1", checkers.Names{}, registers,
			"c1 could not register its name, and what it has made of it stays: /lock/a"},
		{"an item that comes first", "none", checkers.FIFO{}, takes,
			"c1 got item 2 while item 1, which comes first, was free all the time since it asked"},
		{"a lock that is not broken", "none", checkers.LostRevoke{}, asks("break"),
			"c1 was told that it has broken the lock by /lock/a, which is still there"},
		{"a lock that is not revoked", "none", checkers.LostRevoke{}, asks("revoke"),
			`c1 was told that it has revoked the lock by /lock/a, which is there, and its data is not "unlock"`},
	} {
		for _, sound := range []bool{false, true} {
			s := lockLike("test/judged", 1, func(p *engine.Process) { x.program(p, p.Register(nil), sound) })
			s.Checkers = []checkers.Checker{x.checker}
			// go-zookeeper waits for a second before it connects again, and no session is to end by that.
			v := strike(t, e, &s, x.plan, 1, 3*time.Second).Verdict
			if v.Level == checkers.Violated == sound || !sound && v.Message != x.want {
				t.Errorf("%s, sound %v: %+v, expected %q", x.name, sound, v, x.want)
			}
		}
	}
}

var anyone = zk.WorldACL(zk.PermAll)

// holdsOn is a holder that goes on while it is disconnected, or hears of that.
func holdsOn(p *engine.Process, o engine.Object, sound bool) {
	p.Conn.Create(p.Path("/lock/a"), nil, zk.FlagEphemeral, anyone)
	o.Acquired(p.Path("/lock/a"), 1)
	p.Conn.Exists(p.Path("/lock"))
	for p.Conn.State() == zk.StateHasSession {
		p.Env.Await(context.Background(), p.Env.SessionEvents())
	}
	if sound {
		o.Lost()
	}
	p.Env.Sleep(context.Background(), 2*time.Second)
	o.Released()
}

// registers is a client whose register fails after a lost answer, and that removes what is left of it, or not.
func registers(p *engine.Process, o engine.Object, sound bool) {
	o.Record(history.Event{Kind: history.Invoke, Op: "register", Path: "a", Value: 10})
	_, err := p.Conn.Create(p.Path("/lock/a"), []byte("10"), 0, anyone)
	o.Record(history.Event{Kind: history.Return, Op: "register", Path: "a", Err: err})
	for sound && p.Conn.Delete(p.Path("/lock/a"), -1) == zk.ErrConnectionClosed {
		// it was asked for before the library had noticed that the connection is lost
	}
}

// takes is a consumer of two items.
func takes(p *engine.Process, o engine.Object, sound bool) {
	paths := []string{p.Path("/lock/a"), p.Path("/lock/b")}
	for i, path := range paths {
		o.Record(history.Event{Kind: history.Invoke, Op: "put", Value: int64(i + 1)})
		p.Conn.Create(path, []byte{byte('1' + i)}, 0, anyone)
		o.Record(history.Event{Kind: history.Return, Op: "put", Value: int64(i + 1)})
	}
	first := 1
	if sound {
		first = 0
	}
	o.Record(history.Event{Kind: history.Invoke, Op: "take"})
	p.Conn.Delete(paths[first], -1)
	o.Record(history.Event{Kind: history.Return, Op: "take", Value: int64(first + 1)})
}

// asks returns a client that asks for a lock, and perhaps says so without having done it.
func asks(op string) func(p *engine.Process, o engine.Object, sound bool) {
	return func(p *engine.Process, o engine.Object, sound bool) {
		path := p.Path("/lock/a")
		p.Conn.Create(path, nil, zk.FlagEphemeral, anyone)
		o.Record(history.Event{Kind: history.Invoke, Op: op, Path: path})
		switch {
		case !sound:
		case op == "break":
			p.Conn.Delete(path, -1)
		default:
			p.Conn.Set(path, []byte("unlock"), -1)
		}
		o.Record(history.Event{Kind: history.Return, Op: op, Path: path})
	}
}
