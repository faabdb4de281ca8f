package catalog

import (
	"fmt"

	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// rewatching has one after another of what can wait do so, and then has it happen by another connection while
// bystanders read on the first. The library sets its watches again behind these reads, and only for what comes after
// their answers.
func rewatching(p *engine.Process) {
	a, by, ok := onTwo(p)
	if !ok {
		return
	}
	for round := range 4 {
		a.after = fmt.Sprint("-", round)
		w := waits{alone: a, by: by}
		parts := []func() func(){w.config, w.vote, w.item, w.task, w.group, w.leader}
		end, ended := parts[a.draw(len(parts))](), false
		workload.Steps(p, 10)
		for range 3 {
			p.Env.Go("bystander", func() {
				for n := 0; n < 40 && !ended; n++ {
					p.Conn.Exists(a.dir)
				}
			})
		}
		end()
		ended = true
	}
	by.p.Conn.Close()
}

// item has a consumer wait for an item in an empty queue.
func (a waits) item() func() {
	told, _ := a.background("consumer", answer(fifo(a.p, a.path("item")).Take))
	return func() {
		a.fine(fifo(a.by.p, a.path("item")).Put(background, nil), "Queue.Put")
		a.fine(told(), "Queue.Take that has waited")
	}
}

// leader has a client wait for a leader where one has been before.
func (a waits) leader() func() {
	e := candidate(a.by.p, a.path("leader"))
	acknowledge := func() {
		for {
			a.fine(e.Campaign(background), "Election.Campaign")
			if e.Acknowledge(background) == nil {
				return
			}
			a.fine(e.Resign(background), "Election.Resign of who could not acknowledge")
		}
	}
	acknowledge()
	a.fine(e.Resign(background), "Election.Resign")
	told, _ := a.background("client", answer(candidate(a.p, a.path("leader")).AwaitLeader))
	return func() {
		acknowledge()
		a.fine(told(), "Election.AwaitLeader that has waited")
		a.fine(e.Resign(background), "Election.Resign of the second leader")
	}
}
