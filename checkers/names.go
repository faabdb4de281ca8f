package checkers

import (
	"slices"

	"zksim/model/history"
)

// Names is what a name service is for: a name belongs to one at a time, and as
// long as it does, it resolves to that one. The operations in the history are
// "register" (of the name in Path; its Value is what the name resolves to, as of
// no other registration; the name registered is in Path of the answer),
// "unregister", and "resolve" (the answer is in Value, 0 if there is no such name).
// A name belongs to who registered it from the answer until he begins to
// unregister it; a crash does not end that.
type Names struct{}

// Name implements [Checker].
func (Names) Name() string { return "names" }

// Doc implements [Checker].
func (Names) Doc() string {
	return "a name belongs to one at a time, and resolves to that one as long as it does"
}

// tenure is the time in which a name certainly belongs to somebody.
type tenure struct {
	client, object int32
	name           string
	value          int64
	since          int
}

// Check implements [Checker].
func (n Names) Check(h *history.History) Verdict {
	var owned []tenure
	begun := map[int32]int{} // object -> Invoke of its operation in progress
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Invoke:
			begun[e.Object] = i
			if e.Op == "unregister" {
				owned = slices.DeleteFunc(owned, func(t tenure) bool { return t.name == e.Path && t.object == e.Object })
			}
		case e.Kind != history.Return || e.Err != nil:
		case e.Op == "register":
			for _, t := range owned {
				if t.name == e.Path {
					return violated(n, i, "c%d has registered %s, which c%d has registered and not given up", e.Client, t.name, t.client)
				}
			}
			owned = append(owned, tenure{e.Client, e.Object, e.Path, h.Events[begun[e.Object]].Value, i})
		case e.Op == "resolve":
			for _, t := range owned {
				if t.name == e.Path && t.since < begun[e.Object] && t.value != e.Value {
					return violated(n, i, "c%d was told %d for %s, which c%d has registered as %d and not given up", e.Client, e.Value, t.name, t.client, t.value)
				}
			}
		}
	}
	return Verdict{}
}
