package ensemble_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"zksim/checkers"
	"zksim/internal/ensemble"
	"zksim/internal/zkserver/zkservertest"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/recipes/live"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

func runLive(t *testing.T, addrs []string, s engine.Scenario, o ensemble.LiveOptions) (*history.History,
	checkers.Verdict, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	o.Servers = addrs
	r, err := ensemble.RunLive(ctx, &s, o)
	if err != nil {
		return nil, checkers.Verdict{}, err
	}
	return r.History, r.Verdict, nil
}

func TestARealClientDialsAgain(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	s := lockLike("test/dials", 2, func(p *engine.Process) {
		for range 2 {
			q, err := p.Dial()
			if err != nil {
				p.Fail(err)
				return
			}
			l := recipes.NewLock(q.Conn, q.Env, q.Path("/lock"), recipes.LockOptions{})
			o := q.Register(nil)
			if held, err := o.Lock(l.Lock); !held {
				p.Fail(err)
				return
			}
			o.Acquired("/lock", l.Token())
			o.Write(l.Token())
			o.Released()
			q.Conn.Close() // with it the lock goes
		}
	})
	h, v, err := runLive(t, addrs, s, ensemble.LiveOptions{})
	if err != nil || v.Level != checkers.OK || len(h.Failed) > 0 {
		t.Errorf("%v, %+v, failed: %v", err, v, h.Failed)
	}
}

func TestRealRunsAreJudgedAsSimulatedOnes(t *testing.T) {
	servers := zkservertest.ForTest(t, 1)
	addrs := servers.Addrs()
	h, v, err := runLive(t, addrs, *catalog.Named("lock/lock"), ensemble.LiveOptions{Clients: 5, Ours: servers})
	if err != nil || v.Level != checkers.OK || len(h.Events) == 0 || !h.Txns {
		t.Fatalf("%v, %+v", err, v)
	}

	// The herd shows without any fault, unless the clients come one by one.
	for range 5 {
		if _, v, err = runLive(t, addrs, *catalog.Named("lock/single-node-herd"),
			ensemble.LiveOptions{Clients: 10, Ours: servers}); v.Level != checkers.OK {
			break
		}
	}
	if err != nil || v.Checker != "herd" {
		t.Errorf("%v, %+v", err, v)
	}

	stays := lockLike("test/stays", 3, func(p *engine.Process) {
		l := recipes.NewLock(p.Conn, p.Env, p.Path("/lock"), recipes.LockOptions{})
		p.Register(nil)
		if p.ID == 1 {
			l.Lock(context.Background())
		}
	})
	if _, v, err = runLive(t, addrs, stays, ensemble.LiveOptions{}); err != nil || v.Checker != "tree" ||
		!strings.Contains(v.Message, "the live session of c1 owns it") {
		t.Errorf("%v, %+v", err, v)
	}

	gives := lockLike("test/gives", 3, func(p *engine.Process) {
		if p.ID == 2 {
			p.Fail(errors.New("no more"))
		}
	})
	if _, v, err = runLive(t, addrs, gives, ensemble.LiveOptions{}); err != nil || v.Checker != "liveness" ||
		v.Message != "c2 gave up: no more" {
		t.Errorf("%v, %+v", err, v)
	}

	admin, err := live.Dial(t.Context(), addrs, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	if names, _, err := admin.Children("/"); err != nil || len(names) != 1 {
		t.Errorf("left on the server: %v, %v", names, err)
	}
}

func TestOfServersOfOthersIsJudgedWhatNeedsNoTxns(t *testing.T) {
	s := *catalog.Named("lock/lock")
	r, err := ensemble.RunLive(t.Context(), &s, ensemble.LiveOptions{Servers: zkservertest.ForTest(t, 1).Addrs()})
	want := "ownership, claim, belief, linearizability: they need txns, and nobody has the logs of these servers"
	if err != nil || r.Verdict.Level != checkers.OK || r.History.Txns || r.Blind != want {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestARealRunInWhichACheckerHadNothingToJudgeIsUnknown(t *testing.T) {
	servers := zkservertest.ForTest(t, 1)
	addrs := servers.Addrs()
	silent := func(word string) engine.Scenario {
		return lockLike("test/silent", 2, func(p *engine.Process) {
			o := p.Register(nil)
			o.Invoke(word)
			o.Return(word, nil)
		})
	}
	const want = "judged nothing: it needs Acquired events; record them with Object.Acquired"
	if _, v, err := runLive(t, addrs, silent("lock"), ensemble.LiveOptions{Ours: servers}); err != nil ||
		v.Level != checkers.Unknown || v.Checker != "ownership" || v.Message != want {
		t.Errorf("%v, %+v", err, v)
	}
	_, _, err := runLive(t, addrs, silent("snatch"), ensemble.LiveOptions{})
	if err == nil || !strings.HasPrefix(err.Error(), `no checker knows the operation "snatch"; they `+
		`know `) {
		t.Error(err)
	}
}

func TestARealProgramThatDoesNotEndHasGivenUp(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	// The waiting program goes on when its connection is closed, and records
	// what it sees while the history is judged: -race watches.
	s := lockLike("test/waits", 3, func(p *engine.Process) {
		l := recipes.NewLock(p.Conn, p.Env, p.Path("/lock"), recipes.LockOptions{})
		o := p.Register(l.Znodes)
		o.Invoke("lock")
		err := l.Lock(context.Background())
		o.Return("lock", err)
		if err == nil {
			return // and hold it
		}
		for range 100 {
			o.Invoke("lock")
		}
		p.Fail(errors.New("this is heard by nobody"))
	})
	h, v, err := runLive(t, addrs, s, ensemble.LiveOptions{Timeout: 300 * time.Millisecond})
	if err != nil || v.Checker != "liveness" ||
		!strings.HasSuffix(v.Message, "did not end, and nothing has returned for 300ms") || h.Outcome != history.Stopped {
		t.Errorf("%v, %+v", err, v)
	}
}

// The others may go on for as long as they like.
func TestAPanicIsTheVerdictWhicheverGoroutinePanics(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	oh := func() { panic("oh") }
	for name, panics := range map[string]func(p *engine.Process){
		"the program": func(*engine.Process) { oh() },
		"Go":          func(p *engine.Process) { p.Env.Go("own", oh) },
		"Within": func(p *engine.Process) {
			ctx, cancel := p.Env.WithTimeout(context.Background(), time.Hour)
			defer cancel()
			p.Env.Within(ctx, oh)
		},
	} {
		s := lockLike("test/panics", 2, func(p *engine.Process) {
			if p.ID == 1 {
				panics(p)
				return
			}
			for err := error(nil); err == nil; _, _, err = p.Conn.Get(p.Path("/")) {
			}
		})
		h, v, err := runLive(t, addrs, s, ensemble.LiveOptions{Timeout: 300 * time.Millisecond})
		if err != nil || v.Checker != "panic" || v.Message != "oh" || !strings.Contains(h.Panic, "live_test.go") {
			t.Errorf("%s: %v, %+v, %s", name, err, v, h.Panic)
		}
	}
}

func TestARealRunMayTakeLongAsLongAsOperationsReturn(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	s := lockLike("test/long", 2, func(p *engine.Process) {
		l := recipes.NewLock(p.Conn, p.Env, p.Path("/lock"), recipes.LockOptions{})
		o := p.Register(l.Znodes)
		for range 4 {
			if err := workload.LockOnce(p, o, l, 1, false); err != nil {
				p.Fail(err)
			}
			p.Env.Sleep(context.Background(), 2*time.Second)
		}
	})
	h, v, err := runLive(t, addrs, s, ensemble.LiveOptions{Timeout: 6 * time.Second})
	if err != nil || v.Level != checkers.OK || h.Outcome != history.Quiet {
		t.Errorf("%v, %+v, %v", err, v, h.Outcome)
	}
}

func TestWhatCannotBePreparedOnARealServerIsAnError(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	s := *catalog.Named("lock/lock")
	s.Setup = []model.Request{{Op: model.OpDelete, Path: "/lock"}}
	if _, _, err := runLive(t, addrs, s, ensemble.LiveOptions{}); err == nil ||
		!strings.Contains(err.Error(), "a setup with delete cannot be made on a real server") {
		t.Error(err)
	}
	s.Setup = []model.Request{{Op: model.OpCreate, Path: "/a/b", ACL: catalog.Named("lock/lock").Setup[0].ACL}}
	if _, _, err := runLive(t, addrs, s, ensemble.LiveOptions{}); err == nil ||
		!strings.Contains(err.Error(), "node does not exist") {
		t.Error(err)
	}
}

// lockLike is the scenario of the lock with another program.
func lockLike(name string, clients int, program func(p *engine.Process)) engine.Scenario {
	s := *catalog.Named("lock/lock")
	s.Name, s.Clients, s.Program = name, clients, program
	return s
}
