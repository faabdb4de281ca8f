package checkers

import "zksim/model/history"

// Entry is the promise of a double barrier to those who enter: when Enter returns,
// n were inside at some moment during the call. An Enter that has begun counts
// until it fails or Leave begins. One that failed while the connection was down
// cannot be sure that its znode is gone and may count for ever, as a client that
// crashed.
//
// The operations are called enter, asked for n participants (Value), and leave.
type Entry struct{}

// Name implements [Checker].
func (Entry) Name() string { return "entry" }

// Doc implements [Checker].
func (Entry) Doc() string { return "who enters the barrier was inside with all others at some moment" }

// entering is an Enter that has not returned.
type entering struct {
	client, object int32
	need           int64
	most           int64 // inside at one time since it began
	offline        bool  // the connection was down at some time
}

// Check implements [Checker].
func (c Entry) Check(h *history.History) Verdict {
	var calls []entering
	inside := int64(0)
	online := make([]bool, h.Clients+1)
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Session:
			online[e.Client] = e.Op == "StateHasSession"
			for k := range calls {
				x := &calls[k]
				x.offline = x.offline || x.client == e.Client && !online[e.Client]
			}
		case e.Kind == history.Invoke && e.Op == "enter":
			inside++
			calls = append(calls, entering{client: e.Client, object: e.Object, need: e.Value, offline: !online[e.Client]})
			for k := range calls {
				calls[k].most = max(calls[k].most, inside)
			}
		case e.Kind == history.Invoke && e.Op == "leave":
			inside--
		case e.Kind == history.Return && e.Op == "enter":
			var x entering
			calls = drop(calls, func(y entering) bool {
				if y.object == e.Object {
					x = y
				}
				return y.object == e.Object
			})
			if e.Err != nil && !x.offline {
				inside--
			}
			if e.Err == nil && x.most < x.need {
				return violated(c, i, "c%d entered by %s for %d, but there were never more than %d inside while it did", e.Client, e.Path, x.need, x.most)
			}
		}
	}
	return Verdict{}
}
