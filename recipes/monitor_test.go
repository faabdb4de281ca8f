package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
	"zksim/recipes"
	"zksim/sim"
)

const tooLong = time.Minute

// monitor runs a monitor of dir for d, and returns its alarms. From then on time passes
// only when nothing else can happen.
func (a actor) monitor(dir string, d time.Duration) (alarms []recipes.Overdue) {
	a.idle = true
	m := recipes.NewMonitor(a.Conn, a.env, dir, recipes.MonitorOptions{Limit: tooLong, Alarm: func(x recipes.Overdue) {
		alarms = append(alarms, x)
	}})
	soon, end := a.env.WithTimeout(ctx, d)
	defer end()
	a.is("Run", m.Run(soon), context.DeadlineExceeded)
	return alarms
}

// sleep lets virtual time pass.
func (a actor) sleep(d time.Duration) { a.is("Sleep", a.env.Sleep(ctx, d), nil) }

func TestAMonitorTellsWhoHoldsALockForTooLong(t *testing.T) {
	for _, before := range []int32{math.MaxInt32, 2} { // creates before the sequence numbers end
		var znode string
		var held time.Duration
		play(t, func(w *sim.World) {
			create("/lock", openACL)(w)
			w.SetCounter("/lock", math.MaxInt32-before)
		}, func(a actor) {
			alarms := a.monitor("/lock", 10*tooLong)
			if len(alarms) != 1 || alarms[0].Path != znode || string(alarms[0].Data) != "slow" ||
				alarms[0].Held < tooLong || alarms[0].Held > held {
				a.t.Errorf("%+v, want one of %s, at most %v", alarms, znode, held)
			}
		}, func(a actor) {
			l := recipes.NewLock(a.Conn, a.env, "/lock", recipes.LockOptions{Data: []byte("slow")})
			for _, d := range []time.Duration{tooLong / 2, 3 * tooLong, tooLong / 2} {
				begin := a.env.Now()
				a.is("Lock", l.Lock(ctx), nil)
				path := l.Znodes()[0]
				a.sleep(d)
				if d > tooLong {
					znode, held = path, a.env.Now().Sub(begin)
				}
				a.is("Unlock", l.Unlock(ctx), nil)
			}
		})
	}
}

// The lock is never free, and nobody has it for long.
func TestABusyLockIsNoAlarm(t *testing.T) {
	quick := func(a actor) {
		l := recipes.NewLock(a.Conn, a.env, "/lock", recipes.LockOptions{})
		for range 6 {
			a.is("Lock", l.Lock(ctx), nil)
			a.sleep(tooLong * 2 / 3)
			a.is("Unlock", l.Unlock(ctx), nil)
		}
	}
	play(t, nil, func(a actor) {
		if alarms := a.monitor("/lock", 20*tooLong); len(alarms) > 0 {
			a.t.Errorf("%+v", alarms)
		}
	}, quick, quick)
}

// Clients of others may have names without GUIDs, or the same one each time.
func TestTheLocksOfOthersAreMonitoredByTheirNames(t *testing.T) {
	for _, prefix := range []string{"/lock/lock-", "/lock/node1-lock-", "/lock/_c_lock-"} {
		play(t, create("/lock", openACL), func(a actor) {
			if alarms := a.monitor("/lock", 20*tooLong); len(alarms) > 0 {
				a.t.Errorf("%s: %+v", prefix, alarms)
			}
		}, func(a actor) {
			for range 6 {
				own, err := a.Create(prefix, nil, zk.FlagEphemeral|zk.FlagSequence, openACL)
				a.is("Create", err, nil)
				next, err := a.Create(prefix, nil, zk.FlagEphemeral|zk.FlagSequence, openACL)
				a.is("Create", err, nil)
				a.sleep(tooLong * 2 / 3)
				a.is("Delete", a.Delete(own, -1), nil)
				a.sleep(tooLong * 2 / 3)
				a.is("Delete", a.Delete(next, -1), nil)
			}
		})
	}
}

// A writer that waits has a read znode in the queue, which holds nothing.
func TestReadersAreMonitoredOneByOne(t *testing.T) {
	var slow []string
	read := func(a actor) {
		l := a.rwlock()
		a.is("RLock", l.RLock(ctx), nil)
		slow = append(slow, l.Znodes()...)
		a.sleep(2 * tooLong)
		a.is("RUnlock", l.RUnlock(ctx), nil)
	}
	play(t, func(*sim.World) { slow = nil }, func(a actor) {
		var paths []string
		for _, x := range a.monitor("/rw", 20*tooLong) {
			paths = append(paths, x.Path)
		}
		slices.Sort(slow)
		slices.Sort(paths)
		if !slices.Equal(paths, slow) || len(slow) != 3 {
			a.t.Errorf("%v, want %v", paths, slow)
		}
	}, read, read, func(a actor) {
		a.until(func() bool { return len(slow) == 2 })
		l := a.rwlock()
		a.is("Lock", l.Lock(ctx), nil) // waits for too long
		a.sleep(tooLong / 2)
		a.is("Unlock", l.Unlock(ctx), nil)
		a.is("Lock", l.Lock(ctx), nil)
		slow = append(slow, l.Znodes()[0]) // with the downgrade for too long
		a.sleep(tooLong * 2 / 3)
		a.is("Downgrade", l.Downgrade(ctx), nil)
		a.sleep(tooLong * 2 / 3)
		a.is("RUnlock", l.RUnlock(ctx), nil)
	})
}

// Nothing is asked while nothing changes, whether the lock is held, free or not there.
func TestAMonitorDoesNotPoll(t *testing.T) {
	for _, held := range []bool{true, false} {
		h := play(t, nil, func(a actor) {
			if alarms := a.monitor("/lock", 1000*tooLong); len(alarms) > 0 != held {
				a.t.Errorf("%+v", alarms)
			}
		}, func(a actor) {
			if held {
				l := a.lock(func(c recipes.Conn, e recipes.Env, dir string, o recipes.LockOptions) locker {
					return recipes.NewLock(c, e, dir, o)
				})
				a.sleep(900 * tooLong)
				a.is("Unlock", l.Unlock(ctx), nil)
			}
		})
		calls := 0
		for _, e := range h.Events {
			if e.Client == 1 && e.Kind == history.Call {
				calls++
			}
		}
		if calls > 12 {
			t.Errorf("held %t: %d calls", held, calls)
		}
	}
}

func TestAMonitorSurvivesItsSession(t *testing.T) {
	play(t, nil, func(a actor) {
		if alarms := a.monitor("/lock", 10*tooLong); len(alarms) != 1 {
			a.t.Errorf("%+v", alarms)
		}
	}, func(a actor) {
		l := recipes.NewLock(a.Conn, a.env, "/lock", recipes.LockOptions{})
		a.is("Lock", l.Lock(ctx), nil)
		a.sleep(tooLong / 3)
		a.happen("learn-late c1")
		a.sleep(tooLong / 3)
		a.happen("disconnect c1")
		a.sleep(3 * tooLong)
		a.is("Unlock", l.Unlock(ctx), nil)
	})
}

func TestAMonitorEndsWithItsContextConnectionAndRights(t *testing.T) {
	run := func(a actor) error {
		return recipes.NewMonitor(a.Conn, a.env, "/lock", recipes.MonitorOptions{Limit: tooLong}).Run(ctx)
	}
	play(t, create("/lock", zk.WorldACL(zk.PermCreate)), func(a actor) { a.is("Run", run(a), zk.ErrNoAuth) })
	play(t, nil, func(a actor) {
		a.env.Go("closer", func() {
			a.until(func() bool { return a.random.IntN(20) == 0 })
			a.Close()
		})
		if err := run(a); !errors.Is(err, zk.ErrClosing) && !errors.Is(err, zk.ErrConnectionClosed) {
			a.t.Errorf("Run: %v", err)
		}
	})
	play(t, nil, func(a actor) {
		done, stop := context.WithCancel(ctx)
		a.env.Go("stopper", func() {
			a.until(func() bool { return a.random.IntN(20) == 0 })
			stop()
		})
		m := recipes.NewMonitor(a.Conn, a.env, "/lock", recipes.MonitorOptions{Limit: tooLong})
		a.is("Run", m.Run(done), context.Canceled)
	})
}

// ExampleMonitor tells of a job that hangs.
func ExampleMonitor() {
	world := sim.NewWorld()
	defer world.Close()
	world.Reset(sim.Config{Clients: 2}, nil, func(c *sim.Client) {
		ctx := context.Background()
		if c.Name() == "c1" {
			lock := recipes.NewLock(c.Conn(), c.Env(), "/job", recipes.LockOptions{Data: []byte("host 7")})
			lock.Lock(ctx)
			c.Env().Sleep(ctx, time.Hour) // virtual time
			lock.Unlock(ctx)
			return
		}
		day, end := c.Env().WithTimeout(ctx, 24*time.Hour)
		defer end()
		m := recipes.NewMonitor(c.Conn(), c.Env(), "/job", recipes.MonitorOptions{
			Limit: 5 * time.Minute,
			Alarm: func(x recipes.Overdue) { fmt.Printf("%s has held the lock for %v\n", x.Data, x.Held) },
		})
		fmt.Println(m.Run(day))
	})
	if err := world.Run(&sim.Replay{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// host 7 has held the lock for 5m0s
	// context deadline exceeded
}

// past is a connection on which the lock is unlocked just before the write that comes before a look at its
// holder's znode, and whose session ends before that is read, which a server that
// lags answers.
type past struct {
	recipes.Conn
	unlock func(context.Context) error
	listed bool
	moved  bool
}

func (p *past) Multi(ops ...interface{}) ([]zk.MultiResponse, error) {
	if p.listed {
		p.unlock(ctx)
	}
	p.listed = true
	return p.Conn.Multi(ops...)
}

func (p *past) Get(path string) ([]byte, *zk.Stat, error) {
	if p.moved {
		return p.Conn.Get(path)
	}
	p.moved = true
	return nil, &zk.Stat{}, nil
}

func (p *past) SessionID() int64 {
	if p.moved {
		return p.Conn.SessionID() + 1
	}
	return p.Conn.SessionID()
}

func TestAMonitorBelievesNoServerThatLagsInANewSession(t *testing.T) {
	play(t, nil, func(a actor) {
		a.idle = true
		l := recipes.NewLock(a.Conn, a.env, "/lock", recipes.LockOptions{})
		a.is("Lock", l.Lock(ctx), nil)
		conn := &past{Conn: a.Conn, unlock: l.Unlock}
		limited, end := a.env.WithTimeout(ctx, 2*tooLong)
		defer end()
		m := recipes.NewMonitor(conn, a.env, "/lock", recipes.MonitorOptions{Limit: tooLong, Alarm: func(x recipes.Overdue) {
			a.t.Errorf("%+v", x)
		}})
		a.is("Run", m.Run(limited), context.DeadlineExceeded)
		if !conn.moved {
			a.t.Error("the holder was not looked at")
		}
	})
}
