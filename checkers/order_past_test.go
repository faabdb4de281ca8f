package checkers

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

// The monitor itself is the naive statement: TestTheMonitorOfLinearizabilityAgreesWithTheSearch compares it.
func TestTheMonitorOfLinearizabilityRemembersEnough(t *testing.T) {
	long(t)
	naive := func(h *history.History) Level { return follow(h, Linearizability{}.Monitor()).Level }
	family{Linearizability{}, naive, &orderStage{}}.forgets(t)
}

// orderStage is the stage of a lock: what each object does, and who owns the znodes that there are.
type orderStage struct {
	does  [5]string // lock, trylock, hold, end, unlock, or nothing
	owner [2]int32
}

var orderPaths = [2]string{"/l/0", "/l/1"}

func (s *orderStage) clone() stage { x := *s; return &x }

func (s *orderStage) key() string { return fmt.Sprint(*s) }

func (s *orderStage) propose(r *rand.Rand) history.Event {
	o, path := 1+r.Int32N(4), orderPaths[r.IntN(len(orderPaths))]
	e := history.Event{Client: holderOf[o], Object: o}
	switch k := r.IntN(12); {
	case k == 0:
		e.Kind = []history.Kind{history.Lost, history.Exceeded}[r.IntN(2)]
		return e
	case k < 3:
		kind := []history.Kind{history.Created, history.Deleted}[k-1]
		return history.Event{Kind: kind, Client: e.Client, Path: path, Session: int64(e.Client)}
	}
	switch s.does[o] {
	case "":
		e.Kind, e.Op = history.Invoke, []string{"lock", "trylock"}[r.IntN(2)]
	case "lock", "trylock":
		e.Kind, e.Path = history.Acquired, path
		if r.IntN(3) == 0 {
			e.Kind, e.Path, e.Op, e.Err = history.Return, "", s.does[o], zk.ErrNodeExists
			e.OK = s.does[o] == "trylock" && r.IntN(3) > 0
		}
	case "hold":
		e.Kind = history.Released
	case "end":
		e.Kind, e.Op = history.Invoke, "unlock"
	case "unlock":
		e.Kind, e.Op = history.Return, "unlock"
		if r.IntN(3) == 0 {
			e.Err = zk.ErrConnectionClosed
		}
	}
	return e
}

// take has each object do one thing after the other.
func (s *orderStage) take(e *history.Event) bool {
	does := &s.does[e.Object]
	from, to := "", ""
	switch e.Kind {
	case history.Created, history.Deleted:
		owner := &s.owner[0]
		if e.Path == orderPaths[1] {
			owner = &s.owner[1]
		}
		switch {
		case e.Kind == history.Created && *owner == 0:
			*owner = e.Client
		case e.Kind == history.Deleted && *owner == e.Client:
			*owner = 0
		default:
			return false
		}
		return true
	case history.Lost, history.Exceeded:
		return true
	case history.Invoke:
		if to = e.Op; e.Op == "unlock" {
			from = "end"
		}
	case history.Acquired:
		if from, to = *does, "hold"; from != "lock" && from != "trylock" {
			return false
		}
	case history.Released:
		from, to = "hold", "end"
	case history.Return:
		from = e.Op
	}
	if *does != from {
		return false
	}
	*does = to
	return true
}
