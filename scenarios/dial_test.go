package scenarios_test

import (
	"context"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/scenarios"
)

// hangingUp is a lock for which its holder dials each time, and closes that connection afterwards.
type hangingUp struct {
	p, turn *scenarios.Process
	lock    *recipes.Lock // of that connection
	early   bool          // a broken one: it closes first, and the lock is another's while the holder goes on
}

func (l *hangingUp) Lock(ctx context.Context) (err error) {
	if l.turn == nil {
		if l.turn, err = l.p.Dial(); err != nil {
			return err
		}
		l.lock = recipes.NewLock(l.turn.Conn, l.turn.Env, l.turn.Path("/lock"), recipes.LockOptions{})
	}
	err = l.lock.Lock(ctx)
	if err == nil && l.early {
		l.turn.Conn.Close()
	}
	return err
}

func (l *hangingUp) Unlock(ctx context.Context) error {
	if !l.early {
		if err := l.lock.Unlock(ctx); err != nil {
			return err
		}
		l.turn.Conn.Close()
	}
	l.turn = nil
	return nil
}

func (l *hangingUp) Lost() <-chan zk.Event { return l.lock.Lost() }
func (l *hangingUp) Token() int64          { return l.lock.Token() }
func (l *hangingUp) Znodes() []string {
	if l.turn == nil {
		return nil
	}
	return l.lock.Znodes()
}

func dialsEachTurn(early bool) scenarios.Scenario {
	s := scenarios.Lock("test/dials", func(p *scenarios.Process) *hangingUp { return &hangingUp{p: p, early: early} })
	s.Dials = s.Rounds
	return s
}

func TestACorrectLockHoldsWhereClientsDialAgain(t *testing.T) {
	if f := check(t, dialsEachTurn(false), "1-3000", ""); f.fatal != "" {
		t.Error(f.fatal)
	}
	if testing.Short() {
		return // the proof takes long with -race
	}
	f := prove(t, "20m", dialsEachTurn(false), scenarios.Bounds{Rounds: 1, Faults: "lose-reply=1"})
	if f.fatal != "" || !strings.HasPrefix(f.logs, "holds: test/dials with 2 clients") {
		t.Errorf("%+v", f)
	}
}

func TestALockIsLostWithTheConnectionThatItWasTakenBy(t *testing.T) {
	f := check(t, dialsEachTurn(true).Without("belief", "linearizability"), "1-3000", "")
	if !strings.Contains(f.fatal, "claim") || !strings.Contains(f.fatal, "c2.2") {
		t.Error(f.fatal)
	}
}
