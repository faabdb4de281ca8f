package scenarios

import (
	"errors"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

// lostMulti reports whether a multi was executed within that operation of a
// recipe, any if op is empty, whose client was told that the connection is lost.
func lostMulti(h *history.History, op string) bool {
	doing, executed := map[int32]string{}, map[int32]bool{}
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Kind == history.Invoke:
			doing[e.Client] = e.Op
		case e.Kind == history.Call && e.Op == "multi":
			executed[e.Client] = false
		case e.Kind == history.Created, e.Kind == history.Changed, e.Kind == history.Deleted:
			executed[e.Client] = true
		case e.Kind == history.Reply && e.Op == "multi" && e.Err == zk.ErrConnectionClosed && executed[e.Client]:
			if op == "" || doing[e.Client] == op {
				return true
			}
		}
	}
	return false
}

// returned makes a goal: an operation that ended with that error.
func returned(op string, want error) func(h *history.History) bool {
	return func(h *history.History) bool {
		for i := range h.Events {
			if e := &h.Events[i]; e.Kind == history.Return && e.Op == op && errors.Is(e.Err, want) {
				return true
			}
		}
		return false
	}
}
