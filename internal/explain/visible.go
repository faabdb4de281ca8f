// Package explain looks for a simulated run in which clients see what they saw in a recorded one, for example on a real
// ensemble: the same operations of recipes and of ZooKeeper, with the same errors, created paths and watch events, in
// the same order at each client. Numbers are not compared: nothing says which of them are tokens.
package explain

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"zksim/model/history"
)

// sight is something that a client does or sees, as a text that is the same in both worlds.
type sight struct {
	client int32
	text   string
}

var (
	// base is the folder of the znodes on a real ensemble. Older histories name it.
	base = regexp.MustCompile(`^/zksim-[0-9a-f]+(/|$)`)
	// guid is different in each run: with all of its hyphens, or with none. In the second case digits of the name may come
	// right before it, which are then a part of it, and a sequence number right behind it, which is not.
	guid = regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32,}?(\d{10})?([^0-9a-f]|$)`)
)

// own are the requests that libraries make by themselves.
var own = []string{"setWatches", "setWatches2", "createSession", "closeSession", "ping", "auth", "sasl"}

// notAnswered are the errors with which a library ends a call that no server has answered: on the wire there is
// nothing.
var notAnswered = []string{"zk: connection closed", "zk: session has been expired by the server",
	"zk: could not connect to a server", "zk: buffer too small", "write tcp: broken pipe", "context canceled"}

// unanswered reports whether an event is the end of a call that no server has answered.
func unanswered(e *history.Event) bool {
	return e.Kind == history.Reply && e.Err != nil && slices.Contains(notAnswered, e.Err.Error())
}

// OnWire reports whether a history was heard on the wire. There answers have zxids, and session ids begin with the id
// of a server. A call that is never sent, for example on a closed connection, is in a history of the simulator but not
// in one from the wire.
func OnWire(h *history.History) bool {
	return slices.ContainsFunc(h.Events, func(e history.Event) bool {
		return e.Kind == history.Reply && e.Zxid > 0 || e.Kind == history.Session && uint64(e.Session) > math.MaxUint32
	})
}

// see returns what a client sees in an event; false: nothing.
func see(e *history.Event) (sight, bool) {
	if e.Client == 0 {
		return sight{}, false
	}
	path := guid.ReplaceAllString(base.ReplaceAllString(e.Path, "/"), "*$1$2")
	answer := ""
	if e.Err != nil {
		answer = ": " + e.Err.Error()
	}
	switch e.Kind {
	case history.Invoke, history.Return, history.Told, history.Acquired, history.Lost, history.Released:
	case history.Write:
		answer = fmt.Sprintf(", accepted %v", e.OK)
	case history.Call, history.Reply:
		if slices.Contains(own, e.Op) || unanswered(e) {
			return sight{}, false
		}
	case history.Notify:
	default:
		return sight{}, false
	}
	words := []string{fmt.Sprintf("c%d", e.Client), e.Kind.String()}
	for _, word := range []string{e.Op, path} {
		if word != "" {
			words = append(words, word)
		}
	}
	return sight{e.Client, strings.Join(words, " ") + answer}, true
}

// wanted is what the clients of a history have seen.
type wanted struct {
	h     *history.History
	wire  bool      // see OnWire
	byOne [][]sight // by client
	place [][]int   // of each, in the history
	total int
}

func newWanted(h *history.History) *wanted {
	w := &wanted{h: h, wire: OnWire(h), byOne: make([][]sight, h.Clients+1), place: make([][]int, h.Clients+1)}
	for i := range h.Events {
		if s, ok := see(&h.Events[i]); ok {
			w.byOne[s.client] = append(w.byOne[s.client], s)
			w.place[s.client] = append(w.place[s.client], i)
			w.total++
		}
	}
	return w
}
