package recipes_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/sim"
)

// A client may begin a new session while the servers keep its old one, and read in it from a server that knows less
// than what it has read in the old one. Here this happens while its code is slow between two reads.

// slowReader is a connection whose code is slow after some reads.
type slowReader struct {
	recipes.Conn
	after func(path string)
}

func (s slowReader) GetW(path string) ([]byte, *zk.Stat, <-chan zk.Event, error) {
	data, stat, event, err := s.Conn.GetW(path)
	s.after(path)
	return data, stat, event, err
}

func (s slowReader) Children(path string) ([]string, *zk.Stat, error) {
	names, stat, err := s.Conn.Children(path)
	s.after(path)
	return names, stat, err
}

func (s slowReader) ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error) {
	names, stat, event, err := s.Conn.ChildrenW(path)
	s.after(path)
	return names, stat, event, err
}

// olderSession has the client c begin a session that reads from the third server, which lags since lag was called.
type olderSession struct {
	client   string
	lagging  bool
	struck   bool
	finished bool // with the old session
}

// avoid says what does not happen.
func (o *olderSession) avoid(name string) bool {
	return o.lagging && name == "replicate s3" || !o.finished && name == "lapse "+o.client ||
		strings.HasPrefix(name, "connect") && strings.HasSuffix(name, " s3") ||
		!o.struck && name == "connect "+o.client+" s1"
}

func (o *olderSession) lag(a actor) {
	a.until(func() bool { return a.world.Behind(2) == 0 })
	o.lagging = true
}

func (o *olderSession) begin(a actor) {
	o.struck = true
	c := o.client
	a.wanted = append(a.wanted, "disconnect "+c, "lost-early "+c, "connect "+c+" s1", "disconnect "+c, "connect "+c+" s3")
	a.until(func() bool { return len(a.wanted) <= 1 })
}

// The listing of a later session may lack those of the round that was read in the earlier one.
func TestARoundIsNotBegunByAListingOfThePast(t *testing.T) {
	o, inside, struck := olderSession{}, false, 0
	enter := func(a actor, conn recipes.Conn) *recipes.DoubleBarrier {
		d := recipes.NewDoubleBarrier(conn, a.env, "/double", 1, recipes.DoubleBarrierOptions{})
		a.is("Enter", d.Enter(ctx), nil)
		return d
	}
	playOn(t, 3, func(name string) bool { return o.avoid(name) }, func(*sim.World) {
		o, inside = olderSession{client: "c2"}, false
	}, func(a actor) {
		a.until(func() bool { return o.lagging })
		d := enter(a, a.Conn)
		inside = true
		for range 3000 {
			a.env.Now()
		}
		inside = false
		a.is("Leave", d.Leave(ctx), nil)
	}, func(a actor) {
		a.is("Leave", enter(a, a.Conn).Leave(ctx), nil)
		o.lag(a)
		a.until(func() bool { return inside })
		d := enter(a, slowReader{a.Conn, func(path string) {
			switch {
			case path == "/double/ready" && !o.struck:
				o.begin(a)
				struck++
			case path == "/double" && o.struck:
				o.lagging = false
			}
		}})
		if inside {
			a.t.Error("a round has begun while that before it goes on")
		}
		o.finished = true
		a.is("Leave", d.Leave(ctx), nil)
	})
	if struck == 0 {
		t.Error("nothing has happened")
	}
}

// A worker that is seen by one session, and not in a list of a later one, need not have ended.
func TestAMasterTakesNoTasksByAListOfThePast(t *testing.T) {
	var o olderSession
	var ready, given bool
	struck := 0
	playOn(t, 3, func(name string) bool { return o.avoid(name) }, func(*sim.World) {
		o, ready, given = olderSession{client: "c1"}, false, false
	}, func(a actor) {
		until, end := context.WithCancel(ctx)
		a.env.Go("end", func() {
			a.until(func() bool { return o.finished })
			end()
		})
		m := recipes.NewMaster(slowReader{a.Conn, func(path string) {
			switch {
			case path == "/pool/assign" && given && !o.struck:
				o.begin(a)
				struck++
			case path == "/pool/workers" && o.struck && o.lagging:
				o.lagging = false
				a.until(func() bool { return a.world.Behind(2) == 0 })
			case path == "/pool/workers":
				ready = true
			}
		}}, a.env, "/pool", recipes.PoolOptions{})
		a.is("Run", m.Run(until), context.Canceled)
	}, func(a actor) {
		a.until(func() bool { return ready })
		o.lag(a)
		client := recipes.NewTaskClient(a.Conn, a.env, "/pool", recipes.PoolOptions{})
		a.submit(client, "x")
		w := recipes.NewWorker(a.Conn, a.env, "/pool", recipes.PoolOptions{})
		x, err := w.Next(ctx)
		a.is("Next", err, nil)
		given = true
		a.submit(client, "y")
		for range 1000 {
			a.env.Now()
		}
		a.is("Done", w.Done(ctx, x, nil), nil)
		o.finished = true
		a.is("Leave", w.Leave(ctx), nil)
	})
	if struck == 0 {
		t.Error("nothing has happened")
	}
}

// A member that a later session does not show may be there yet, and then its proof is needed to leave.
func TestAMemberIsNotTakenForGoneByALookIntoThePast(t *testing.T) {
	var o olderSession
	playOn(t, 3, func(name string) bool { return o.avoid(name) }, func(*sim.World) {
		o = olderSession{client: "c1"}
	}, func(a actor) {
		o.lag(a)
		m := a.join(recipes.GroupOptions{}, "m")
		o.begin(a)
		for range 200 {
			a.env.Now()
		}
		o.lagging = false
		a.is("Leave", m.Leave(ctx), nil)
		if all := a.names(); all != "" {
			a.t.Errorf("%s after Leave", all)
		}
		o.finished = true
	})
}
