package workload

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
	"zksim/scenarios/engine"
)

// WorkDir is the znode in which a keeper writes the number of its work. Its data and its version begin at 0.
const WorkDir = "/work"

// Saw is what a client records when it looks behind the barrier, with the number that it finds there. It does so only
// if its session has not changed since it began to wait: a new session may begin in the past.
const Saw = "saw"

// BarrierAtWork makes a program in which the first client works while it holds the barrier, and the others look at its
// work after they have passed.
func BarrierAtWork(newBarrier func(p *engine.Process) Barrier) func(p *engine.Process) {
	return func(p *engine.Process) {
		g := NewGate(p, newBarrier(p), Unlimited, Unlimited)
		turn := g.passAndLook
		if p.ID == 1 {
			done := int32(0)
			turn = func() error {
				done++
				return g.keepAtWork(done)
			}
		}
		g.Rounds(p.Rounds, turn)
	}
}

// keepAtWork holds the barrier while it does the work of that number.
func (g gate) keepAtWork(number int32) error {
	if err := g.Shut(); err != nil {
		return err
	}
	Steps(g.p, Repeat(g.p, longWork))
	for {
		_, err := g.p.Conn.Set(g.p.Path(WorkDir), []byte(strconv.Itoa(int(number))), number-1)
		if !Interrupted(err) {
			if errors.Is(err, zk.ErrBadVersion) { // an earlier try has done it
				err = nil
			}
			return errors.Join(err, g.Open())
		}
		g.p.Env.Sleep(context.Background(), nap)
	}
}

// passAndLook passes the barrier and looks at the work behind it.
func (g gate) passAndLook() error {
	session := g.p.Conn.SessionID()
	if err := g.Pass(); err != nil {
		return err
	}
	data, _, err := g.p.Conn.Get(g.p.Path(WorkDir))
	if number, wrong := strconv.Atoi(string(data)); err == nil && wrong == nil && g.p.Conn.SessionID() == session {
		g.o.Record(history.Event{Kind: history.Told, Op: Saw, Value: int64(number)})
	}
	return nil
}

// SeenWork are the operations that SeesWork heeds.
var SeenWork = []string{"hold", "wait", Saw}

// SeesWork is the judge of these programs. A client that waits for a held barrier, and passes it, sees what the keeper
// did before it opened the barrier.
func SeesWork(h *history.History) error {
	held, least := int64(0), map[int32]int64{} // by object
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.Kind == history.Return && e.Op == "hold" && e.Err == nil:
			held++
		case e.Kind == history.Invoke && e.Op == "wait":
			least[e.Object] = held
		case e.Kind == history.Told && e.Op == Saw && e.Value < least[e.Object]:
			return fmt.Errorf("c%d passed the barrier that was held the %d. time when it came, and does not see what was done "+
				"before it was opened: the work is that of the %d. time", e.Client, least[e.Object], e.Value)
		}
	}
	return nil
}
