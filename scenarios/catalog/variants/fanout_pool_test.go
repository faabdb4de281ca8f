package variants

import (
	"context"
	"errors"

	"zksim/recipes"
	"zksim/scenarios/herd"
)

// priorities are the variants of a queue for one with priorities.
func priorities(turns bool, claims ...herd.Claim) bound {
	newQueue := func(p *herd.Process) *recipes.PriorityQueue {
		return recipes.NewPriorityQueue(p.Conn, p.Env, p.Path(dir), recipes.QueueOptions{Turns: turns})
	}
	return bound{herd.Variant{Name: "queue/priorities", Events: few, Brisk: turns,
		Program: func(p *herd.Process) {
			q := newQueue(p)
			for ok := true; ok; {
				_, err := q.Take(context.Background())
				ok = p.Went(err)
			}
		},
		Drive: func(p *herd.Process) {
			p.Opening(0)
			q := newQueue(p)
			for priority := uint16(0); ; priority++ {
				if err := q.Put(context.Background(), nil, priority); err != nil {
					p.Fail(err)
					return
				}
				p.Settle()
			}
		}}, claims}
}

// masters end one after the other; one of them leads.
func masters(claims ...herd.Claim) bound {
	return bound{herd.Variant{Name: "master/backups", Events: everybody, Most: 80, Setup: setup,
		Program: func(p *herd.Process) {
			ctx, end := context.WithCancel(context.Background())
			p.Env.Go("end", func() {
				p.Turn()
				end()
			})
			err := recipes.NewMaster(p.Conn, p.Env, p.Path(dir), recipes.PoolOptions{}).Run(ctx)
			if !errors.Is(err, context.Canceled) {
				p.Fail(err)
				return
			}
			p.Conn.Close() // or it would hear of the end of those that it waited for
			p.Went(nil)
		}}, claims}
}

// pool has a master, which is the driver, workers, and a client who submits one task
// after the other.
func pool(claims ...herd.Claim) bound {
	return bound{herd.Variant{Name: "pool/tasks", Events: often, Setup: setup, Most: 80,
		Program: func(p *herd.Process) {
			work := worker
			if p.ID == 1 {
				work = submit
			}
			if err := work(p); err != nil {
				p.Fail(err)
			}
		},
		Drive: func(p *herd.Process) {
			if err := recipes.NewMaster(p.Conn, p.Env, p.Path(dir),
				recipes.PoolOptions{}).Run(context.Background()); err != nil {
				p.Fail(err)
			}
		}}, append(claims, herd.Claim{Doc: "work is told of", Broken: func(all []herd.Measurement) string {
		if all[0].Notifications < 2 {
			return "hardly anybody is notified of a task"
		}
		return ""
	}})}
}

func worker(p *herd.Process) error {
	w := recipes.NewWorker(p.Conn, p.Env, p.Path(dir), recipes.PoolOptions{})
	for {
		a, err := w.Next(context.Background())
		if err == nil {
			err = w.Done(context.Background(), a, nil)
		}
		if err != nil {
			return err
		}
	}
}

func submit(p *herd.Process) error {
	p.Opening(0)
	c := recipes.NewTaskClient(p.Conn, p.Env, p.Path(dir), recipes.PoolOptions{})
	for {
		task, err := c.Submit(context.Background(), nil)
		if err == nil {
			_, err = task.Wait(context.Background())
		}
		if !p.Went(err) {
			return nil
		}
		p.Settle()
	}
}
