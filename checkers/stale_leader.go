package checkers

import (
	"strings"

	"zksim/model/history"
)

// StaleLeader is the fence of a master: a task is assigned only by who leads at
// the moment when the assignment is committed, whatever the assigning client
// believes. The leader is the author of the first of the candidates, the
// ephemeral znodes in a folder "candidates", that are there; assignments are the
// znodes below assign/WORKER.
//
// It can tell only where txns were recorded.
type StaleLeader struct{}

// Name implements [Checker].
func (StaleLeader) Name() string { return "stale-leader" }

// Doc implements [Checker].
func (StaleLeader) Doc() string { return "nobody assigns a task after it was deposed" }

// Check implements [Checker].
func (c StaleLeader) Check(h *history.History) Verdict {
	var candidates []claim // in the order of their creation
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind != history.Created && e.Kind != history.Deleted {
			continue
		}
		if strings.HasSuffix(parent(e.Path), "/candidates") {
			if e.Kind == history.Created {
				candidates = append(candidates, claim{client: e.Client, path: e.Path})
			} else {
				candidates = drop(candidates, func(x claim) bool { return x.path == e.Path })
			}
			continue
		}
		folder, worker, task := place(e.Path)
		if e.Kind != history.Created || folder != "assign" {
			continue
		}
		if len(candidates) == 0 {
			return violated(c, i, "c%d assigned %s to %s while nobody led", e.Client, task, worker)
		}
		if leader := candidates[0]; leader.client != e.Client {
			return violated(c, i, "c%d assigned %s to %s while c%d led by %s", e.Client, task, worker, leader.client, leader.path)
		}
	}
	return Verdict{}
}
