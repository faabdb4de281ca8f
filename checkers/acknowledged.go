package checkers

import "zksim/model/history"

// Acknowledged is what followers of a leader rely on: whom they are told to
// follow leads and has completed the leader procedure, and once a leader has,
// nobody is told that there is none as long as it leads.
//
// A leader is known by its token. It records the invocation "acknowledge" with
// Path, its candidate, and Value, the token, and the return with the same; a
// follower records the invocation "leader" and the return with Value, the token
// that it was told, or with an error.
type Acknowledged struct{}

// Name implements [Checker].
func (Acknowledged) Name() string { return "acknowledged" }

// Doc implements [Checker].
func (Acknowledged) Doc() string {
	return "who asks for the leader is told of the one that leads and has acknowledged it"
}

// reign is an acknowledged leadership. The positions are -1 until they are known.
type reign struct {
	client, object int32
	path           string
	token          int64
	done, end      int
}

// Check implements [Checker].
func (c Acknowledged) Check(h *history.History) Verdict {
	var reigns []reign
	asked := map[int32]int{} // when the pending question of an object began
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Invoke && e.Op == "acknowledge":
			r := reign{e.Client, e.Object, e.Path, e.Value, -1, -1}
			for k := begin(h, e.Path, i); k < i; k++ {
				r.hear(h, k)
			}
			reigns = append(reigns, r)
		case e.Kind == history.Return && e.Op == "acknowledge" && e.Err == nil:
			for k := range reigns {
				if reigns[k].token == e.Value {
					reigns[k].done = i
				}
			}
		case e.Kind == history.Invoke && e.Op == "leader":
			asked[e.Object] = i
		case e.Kind == history.Return && e.Op == "leader":
			if why := answer(h, reigns, asked[e.Object], e); why != "" {
				return violated(c, i, "c%d was told that %s", e.Client, why)
			}
		default:
			for k := range reigns {
				reigns[k].hear(h, i)
			}
		}
	}
	return Verdict{}
}

// begin returns where the leadership by that znode, acknowledged at event i, began.
func begin(h *history.History, path string, i int) int {
	for i--; i > 0; i-- {
		e := &h.Events[i]
		if e.Path == path && (e.Kind == history.Created || e.Kind == history.Acquired && !h.Txns) {
			return i
		}
	}
	return 0
}

// hear notes whether event i ends the reign: the candidate is deleted or, where
// that was not recorded, may be from now on.
func (r *reign) hear(h *history.History, i int) {
	e := &h.Events[i]
	ends := e.Kind == history.Deleted && e.Path == r.path
	if !h.Txns {
		ends = e.Kind == history.Crashed && e.Client == r.client ||
			(e.Kind == history.Lost || e.Kind == history.Released) && e.Object == r.object
	}
	if ends && r.end < 0 {
		r.end = i
	}
}

// answer says what is wrong with the answer e to a question asked at that
// position; nothing if it was right at some moment since.
func answer(h *history.History, reigns []reign, asked int, e *history.Event) string {
	var told *reign
	for k := range reigns {
		if reigns[k].token == e.Value {
			told = &reigns[k]
		}
	}
	switch {
	case e.Err != nil && !e.OK:
		return "" // no answer
	case e.Err != nil:
		for _, r := range reigns {
			if r.done >= 0 && r.done < asked && r.end < 0 {
				return "nobody leads, although c" + digits(r.client) + " does and had acknowledged it by " + r.path
			}
		}
		return ""
	case told == nil:
		return "somebody leads who had not acknowledged it"
	case h.Txns && told.end >= 0 && told.end < asked: // elsewhere the end is not certain
		return "c" + digits(told.client) + " leads by " + told.path + ", which had been deleted before"
	}
	for _, r := range reigns {
		if r.token > told.token && r.done >= 0 && r.done < asked {
			return "c" + digits(told.client) + " leads, although c" + digits(r.client) + ", a later leader, had acknowledged it before"
		}
	}
	return ""
}
