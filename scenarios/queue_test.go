package scenarios_test

import (
	"context"
	"strings"
	"testing"

	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios"
)

// patientQueue is a queue that has no TryTake.
type patientQueue struct{ q *recipes.Queue }

func (x patientQueue) Put(ctx context.Context, data []byte) error { return x.q.Put(ctx, data) }
func (x patientQueue) Take(ctx context.Context) ([]byte, error)   { return x.q.Take(ctx) }
func newPatientQueue(p *scenarios.Process) patientQueue {
	return patientQueue{recipes.NewQueue(p.Conn, p.Env, p.Path("/mine"), recipes.QueueOptions{})}
}

// forgingQueue answers what nobody has put.
type forgingQueue struct{ patientQueue }

func (x forgingQueue) Take(ctx context.Context) ([]byte, error) {
	_, err := x.q.Take(ctx)
	return []byte("foreign"), err
}

func TestAQueueThatCannotTryIsNeverToldToHaveTried(t *testing.T) {
	s := scenarios.Queue("mine/queue", newPatientQueue)
	s.Finally = func(h *history.History) error {
		for _, e := range h.Events {
			if e.Op == "trytake" {
				t.Errorf("step %d: %s", e.Step, e.Op)
			}
		}
		return nil
	}
	if f := check(t, s, "1-20", ""); f.fatal != "" {
		t.Error(f.fatal)
	}
}

func TestAnItemThatNobodyPutIsNamed(t *testing.T) {
	s := scenarios.Queue("mine/queue", func(p *scenarios.Process) forgingQueue { return forgingQueue{newPatientQueue(p)} })
	f := check(t, s, "1-20", "")
	if !strings.Contains(f.fatal, `always: "what a consumer gets is what somebody has put" does not hold`) {
		t.Error(f.fatal)
	}
}
