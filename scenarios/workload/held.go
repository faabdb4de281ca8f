package workload

import (
	"github.com/go-zookeeper/zk"

	"zksim/scenarios/engine"
)

// What a recipe may tell about what it holds. A preset finds out by itself whether yours does.
type (
	// Losing is a recipe that tells its holder of a loss, by a channel that then yields an event or is closed. For a
	// recipe without it the holder takes any change of its session's state for the loss, as every holder then has to.
	Losing interface{ Lost() <-chan zk.Event }
	// Tokened is a recipe whose holder has a fencing token: a number above 0 that is greater for every later holder, such
	// as the zxid that made its znode. Without it the guarded resource is not accessed, and the checker fenced has nothing
	// to judge.
	Tokened interface{ Token() int64 }
	// Placed is a recipe that knows the znodes by which it holds or waits, the first one first. They are ephemeral, the
	// oldest in a folder holds, and an idle object has none. Without it the checker ownership has nothing to judge, and
	// whatever is left behind when all is released belongs to nobody.
	Placed interface{ Znodes() []string }
)

// held is what a holder can know about what it holds, whether or not the recipe tells it.
type held struct {
	p      *engine.Process
	lost   func() <-chan zk.Event
	token  func() int64
	znodes func() []string
}

func heldBy(p *engine.Process, x any) held {
	h := held{p: p}
	if y, ok := x.(Losing); ok {
		h.lost = y.Lost
	}
	if y, ok := x.(Tokened); ok {
		h.token = y.Token
	}
	if y, ok := x.(Placed); ok {
		h.znodes = y.Znodes
	}
	return h
}

// Lost returns the channel of the recipe, or one that receives the next change of the session. It is called after
// something was acquired.
func (h held) Lost() <-chan zk.Event {
	if h.lost != nil {
		return h.lost()
	}
	change := h.p.Env.SessionEvents()
	if h.p.Conn.State() != zk.StateHasSession {
		gone := make(chan zk.Event, 1)
		gone <- zk.Event{Type: zk.EventSession, State: h.p.Conn.State()}
		return gone
	}
	return change
}

// Token returns the fencing token; 0 if there is none.
func (h held) Token() int64 {
	if h.token == nil {
		return 0
	}
	return h.token()
}

// Znodes returns the znodes that the recipe tells; nil if it tells none.
func (h held) Znodes() []string {
	if h.znodes == nil {
		return nil
	}
	return h.znodes()
}

func (h held) tokens() bool { return h.token != nil }

// tokens reports whether a recipe has a token; without one it makes no sense to access the resource.
func tokens(l any) bool {
	x, partial := l.(interface{ tokens() bool })
	return !partial || x.tokens()
}

// tries reports whether a recipe has operations that can be refused.
func tries(l any) bool {
	x, partial := l.(interface{ tries() bool })
	return !partial || x.tries()
}

// first and last return the first and the last znode of l; "" if it tells none.
func first(l Placed) string {
	if all := l.Znodes(); len(all) > 0 {
		return all[0]
	}
	return ""
}

func last(l Placed) string {
	if all := l.Znodes(); len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// withoutUntold are the checkers that have nothing to judge for a recipe of type T, because it does not tell what they
// need.
func withoutUntold[T any]() []string {
	return unless(has[T, Tokened](), unless(has[T, Placed](), nil, "ownership"), "fenced")
}
