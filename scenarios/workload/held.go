package workload

import (
	"github.com/go-zookeeper/zk"

	"zksim/scenarios/engine"
)

// What a recipe may tell of what it holds. A preset finds out by itself whether yours does.
type (
	// Losing is a recipe that tells its holder that it is lost: a channel that yields an event or is closed
	// then. Of another one the holder takes any change of its session's state for the loss, which is what
	// every holder has to do.
	Losing interface{ Lost() <-chan zk.Event }
	// Tokened is a recipe whose holder has a fencing token: a number greater than 0 that is greater for
	// every later holder, as the zxid that made its znode. Without one the guarded resource is not
	// accessed, and the checker fenced has nothing to judge.
	Tokened interface{ Token() int64 }
	// Placed is a recipe that knows its znodes: those by which it holds or waits, the first one first. They
	// are ephemeral, the oldest of a folder holds, and when it is idle it has none. Without this the checker
	// ownership has nothing to judge, and whatever is left behind when all is released is nobody's.
	Placed interface{ Znodes() []string }
)

// held is what a holder may know of what it holds, whatever of it the recipe tells.
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

// Lost returns the channel of the recipe, or one that hears of the next change of the session. It is asked
// for when something was got.
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

// Znodes returns the znodes that the recipe knows of.
func (h held) Znodes() []string {
	if h.znodes == nil {
		return nil
	}
	return h.znodes()
}

// partial is a recipe that may lack something.
type partial interface {
	tokens() bool // a token, without which it makes no sense to access the resource
	tries() bool  // operations that can be refused
}

func (h held) tokens() bool { return h.token != nil }

// tokens and tries report what a recipe does not lack.
func tokens(l any) bool {
	x, ok := l.(partial)
	return !ok || x.tokens()
}

func tries(l any) bool {
	x, ok := l.(partial)
	return !ok || x.tries()
}

// first and last return a znode of l; "" if it tells of none.
func first(l interface{ Znodes() []string }) string {
	if all := l.Znodes(); len(all) > 0 {
		return all[0]
	}
	return ""
}

func last(l interface{ Znodes() []string }) string {
	if all := l.Znodes(); len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// withoutUntold are the checkers that have nothing to judge of a recipe of type T, which does not tell what
// they need.
func withoutUntold[T any]() []string {
	return unless(has[T, Tokened](), unless(has[T, Placed](), nil, "ownership"), "fenced")
}
