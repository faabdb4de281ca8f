package catalog

import (
	"context"

	"zksim/internal/mutants"
	"zksim/model"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

const queueDir = "/queue"

var queueSetup = []model.Request{engine.Mkdir(queueDir), engine.Mkdir(queueDir + "/items"),
	engine.Mkdir(queueDir + "/claims")}

func newQueue(opt recipes.QueueOptions) func(p *engine.Process) workload.Consumer {
	return func(p *engine.Process) workload.Consumer {
		q := recipes.NewQueue(p.Conn, p.Env, p.Path(queueDir), opt)
		return consumer(q, func(ctx context.Context, data []byte, _ int64) error { return q.Put(ctx, data) })
	}
}

func newPriorityQueue(p *engine.Process) workload.Consumer {
	q := recipes.NewPriorityQueue(p.Conn, p.Env, p.Path(queueDir), recipes.QueueOptions{})
	return consumer(q, func(ctx context.Context, data []byte, priority int64) error {
		return q.Put(ctx, data, uint16(priority))
	})
}

func newBrokenQueue(f mutants.Flaw) func(p *engine.Process) workload.Consumer {
	return func(p *engine.Process) workload.Consumer {
		q := newBrokenPriorityQueue(f)(p)
		put := q.Put
		q.Put = func(ctx context.Context, data []byte, _ int64) error { return put(ctx, data, 0) }
		return q
	}
}

func newBrokenPriorityQueue(f mutants.Flaw) func(p *engine.Process) workload.Consumer {
	return func(p *engine.Process) workload.Consumer {
		q := mutants.NewQueue(p.Conn, p.Env, p.Path(queueDir), f)
		return consumer(q, func(ctx context.Context, data []byte,
			priority int64) error {
			return q.Put(ctx, data, int(priority))
		})
	}
}

// delivering is the consumer's side of a queue.
type delivering[I workload.QueueItem] interface {
	Take(ctx context.Context) ([]byte, error)
	TryTake(ctx context.Context) ([]byte, error)
	Claim(ctx context.Context) (I, error)
	TryClaim(ctx context.Context) (I, error)
	Len(ctx context.Context) (int, error)
}

func consumer[I workload.QueueItem](q delivering[I], put func(context.Context, []byte, int64) error) workload.Consumer {
	return workload.Consumer{Put: put, Len: q.Len,
		Take: func(ctx context.Context, try bool) ([]byte, error) {
			if try {
				return q.TryTake(ctx)
			}
			return q.Take(ctx)
		},
		Claim: func(ctx context.Context, try bool) (workload.QueueItem, error) {
			claim := q.Claim
			if try {
				claim = q.TryClaim
			}
			i, err := claim(ctx)
			if err != nil {
				return nil, err
			}
			return i, nil
		}}
}
