package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"zksim/checkers"
	"zksim/model/history"
)

// narrate tells event i in a clause, and says what class of news it is.
func narrate(h *history.History, i int) (text, class string) {
	e := &h.Events[i]
	c := client(e.Client)
	switch e.Kind {
	case history.Invoke:
		return fmt.Sprintf("%s begins %s", c, asked(e)), recipeLine
	case history.Return:
		return fmt.Sprintf("%s's %s %s", c, e.Op, returned(e)), recipeLine
	case history.Told:
		if e.Op == checkers.ToldRest {
			return c + "'s program was at rest: nothing but time could pass", recipeLine
		}
		if e.Op == checkers.ToldBroken || e.Op == checkers.ToldSometimes {
			return sentence(e)
		}
		return fmt.Sprintf("%s is told by its recipe: %s", c, asked(e)), recipeLine
	case history.Acquired:
		return fmt.Sprintf("%s now believes that it holds %s, token %s", c, cmp.Or(e.Path, "the lock"), token(e.Value)),
			beliefLine
	case history.Lost:
		return c + " is told that it no longer holds it", beliefLine
	case history.Released:
		return c + " gives it up", beliefLine
	case history.Write:
		verb := "which accepts it"
		if !e.OK {
			verb = "which refuses it"
		}
		return fmt.Sprintf("%s writes to the guarded resource with token %s, %s", c, token(e.Value), verb), recipeLine
	case history.Call:
		return fmt.Sprintf("%s calls %s", c, asked(e)), ""
	case history.Reply:
		if unknown(e) {
			return fmt.Sprintf("%s's %s ends with %q: it cannot know whether it was executed", c, asked(e), reason(e.Err)),
				lostLine
		}
		return fmt.Sprintf("%s's %s %s", c, asked(e), returned(e)), ""
	case history.Notify:
		return notified(h, i)
	case history.Created, history.Changed, history.Deleted:
		return committed(e), txnLine
	case history.Session:
		return session(e), stateLine
	case history.Heard:
		return heard(e), ""
	case history.Exceeded:
		return fmt.Sprintf("the servers end the session of %s before it can know", c), stateLine
	case history.Crashed:
		return c + " crashes", stateLine
	case history.Calm:
		return "no more faults from here on", stateLine
	}
	return e.String(), recipeLine
}

// sentence tells what became of an Always or a Sometimes. That a goal is not reached yet is no news.
func sentence(e *history.Event) (text, class string) {
	who := "the code"
	if e.Client != 0 {
		who = client(e.Client)
	}
	switch {
	case e.Op == checkers.ToldSometimes && e.OK:
		return fmt.Sprintf("%s reaches a goal: %s", who, e.Path), recipeLine
	case e.Op == checkers.ToldSometimes:
		return fmt.Sprintf("%s does not reach a goal here: %s", who, e.Path), ""
	case e.Client == 0:
		return "the code finds: " + e.Path, recipeLine
	}
	text = fmt.Sprintf("%s sees that it does not hold: %s", who, e.Path)
	if e.Err != nil {
		text += fmt.Sprintf("; it ends with %q", reason(e.Err))
	}
	return text, recipeLine
}

// heard is what client code hears of its session.
func heard(e *history.Event) string {
	switch {
	case e.Session == 0:
		return client(e.Client) + "'s code hears that it has no session"
	case e.Op == history.Disconnected:
		return client(e.Client) + "'s code hears that it is disconnected"
	}
	return fmt.Sprintf("%s's code knows that its session is %s", client(e.Client), token(e.Session))
}

// asked is an operation with what it is asked.
func asked(e *history.Event) string {
	words := []string{e.Op}
	if e.Path != "" {
		words = append(words, e.Path)
	}
	if e.Value != 0 {
		words = append(words, fmt.Sprint(e.Value))
	}
	return strings.Join(words, " ")
}

// returned is how an operation ended.
func returned(e *history.Event) string {
	switch {
	case e.Err == nil && e.Kind == history.Return:
		answer := *e
		answer.Op = "returns"
		return asked(&answer)
	case e.Err == nil:
		return "returns"
	case e.OK:
		return "returns: " + reason(e.Err)
	}
	return "fails: " + reason(e.Err)
}

// unknown reports whether a write ended without the client's knowing its outcome.
func unknown(e *history.Event) bool {
	return e.Err != nil && reason(e.Err) == "connection closed" && slices.Contains(writes, e.Op)
}

var writes = []string{"create", "createContainer", "createTTL", "delete", "set", "setACL", "multi"}

func reason(err error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "zk: "), "recipes: ")
}

func token(n int64) string { return fmt.Sprintf("0x%x", uint64(n)) }

// happened is what a watch event says of a znode.
func happened(e *history.Event) string {
	switch e.Op {
	case "created", "deleted", "changed":
		return fmt.Sprintf("%s was %s", e.Path, e.Op)
	case "child":
		return "the children of " + e.Path + " have changed"
	case "unwatched":
		return "its watch on " + e.Path + " has ended with the session"
	}
	return e.Op + " " + e.Path
}

func notified(h *history.History, i int) (text, class string) {
	e := &h.Events[i]
	text = fmt.Sprintf("%s is told that %s", client(e.Client), happened(e))
	if wasted(h, i) {
		return text + ", in vain: it goes back to waiting", wastedLine
	}
	return text, notifyLine
}

// wasted reports whether a client was notified in vain while it waited for something in an operation, and for no answer
// of ZooKeeper. The change was somebody else's, and all that the client did before the next notification was to leave
// another watch. A consumer that removes an item is told of that before its operation ends.
func wasted(h *history.History, i int) bool {
	c := h.Events[i].Client
	if !checkers.Wasted(h, i) {
		return false
	}
	open, calls, holds := 0, 0, false
	for _, e := range h.Events[:i] {
		if e.Client != c {
			continue
		}
		switch e.Kind {
		case history.Invoke:
			open++
		case history.Return:
			open--
		case history.Call:
			calls++
		case history.Reply:
			calls--
		case history.Acquired, history.Lost, history.Released:
			holds = e.Kind == history.Acquired
		}
	}
	watches := false
	for _, e := range h.Events[i+1:] {
		if e.Client != c {
			continue
		}
		switch {
		case e.Kind == history.Told, e.Kind == history.Return && e.Err == nil, e.Kind.IsChange():
			return false
		case e.Kind == history.Call && strings.HasSuffix(e.Op, "W"):
			watches = true
		}
		if e.Kind == history.Notify {
			break
		}
	}
	return open > 0 && calls == 0 && !holds && watches
}

// committed tells what a txn did to a znode, and which client did it.
func committed(e *history.Event) string {
	what, by := "now exists", "made by "
	switch e.Kind {
	case history.Changed:
		what, by = "has new data", "set by "
	case history.Deleted:
		what, by = "is gone", "deleted by "
	}
	text := fmt.Sprintf("%s %s, zxid %s", e.Path, what, token(e.Zxid))
	switch {
	case e.Kind == history.Created && e.Session != 0:
		return text + fmt.Sprintf(", ephemeral of session %s of %s", token(e.Session), client(e.Client))
	case e.Client > 0:
		return text + ", " + by + client(e.Client)
	case e.Kind == history.Deleted && e.Session != 0:
		return text + ", with its session " + token(e.Session)
	}
	return text
}

func session(e *history.Event) string {
	c := client(e.Client)
	switch e.Op {
	case "StateHasSession":
		return fmt.Sprintf("%s is connected with session %s", c, token(e.Session))
	case "StateDisconnected":
		return c + " notices that it is disconnected"
	case "StateExpired":
		return c + " learns that its session has expired"
	case history.Closed:
		return c + " has closed its session"
	}
	return c + ": " + e.Op
}
