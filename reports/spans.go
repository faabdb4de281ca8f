package reports

import (
	"fmt"
	"strings"

	"zksim/model/history"
)

// span is something that lasts: a bar in the lane of a client.
type span struct {
	client   int32
	from, to int // steps
	open     bool
	text     string // what fits on the bar
	title    string // in full
	class    string
}

// spans are the bars of a picture, by the rows of a lane.
type spans struct {
	sessions, beliefs, operations, calls []span

	losses losses
}

// newSpans finds what lasts in a run.
func newSpans(f *Failure) *spans {
	h := f.History
	s := &spans{losses: newLosses(h)}
	for i := range h.Events {
		e := &h.Events[i]
		switch e.Kind {
		case history.Invoke, history.Return:
			s.operation(e)
		case history.Acquired, history.Lost, history.Released:
			s.belief(e)
		case history.Call, history.Reply:
			s.call(e)
		case history.Session, history.Exceeded:
			s.session(e)
		case history.Crashed:
			s.crash(e)
		}
	}
	s.pauses(f.Trace)
	s.waits(h)
	for _, list := range [][]span{s.sessions, s.beliefs, s.operations, s.calls} {
		for i := range list {
			if list[i].open {
				list[i].to = len(f.Trace.Steps)
			}
		}
	}
	return s
}

// begin opens a span at event e.
func begin(list []span, e *history.Event, class, text, title string) []span {
	return append(list, span{client: e.Client, from: int(e.Step), open: true, text: text, title: title, class: class})
}

// end closes the first open span of e's client that fits, and returns it.
func end(list []span, e *history.Event, fits func(*span) bool) *span {
	for i := range list {
		if s := &list[i]; s.open && s.client == e.Client && fits(s) {
			s.to, s.open = int(e.Step), false
			return s
		}
	}
	return nil
}

// every fits all spans.
func every(*span) bool { return true }

func (s *spans) operation(e *history.Event) {
	if e.Kind == history.Invoke {
		s.operations = begin(s.operations, e, "operation", asked(e), objectTag(e)+asked(e))
		return
	}
	same := func(x *span) bool {
		return strings.HasPrefix(x.title, objectTag(e)) && (x.text == e.Op || strings.HasPrefix(x.text, e.Op+" "))
	}
	if x := end(s.operations, e, same); x != nil {
		x.title += ": " + returned(e)
	}
}

// objectTag begins the titles of the spans of a recipe object.
func objectTag(e *history.Event) string {
	return fmt.Sprintf("%s, object %d: ", client(e.Client), e.Object)
}

func (s *spans) belief(e *history.Event) {
	if e.Kind == history.Acquired {
		s.beliefs = begin(s.beliefs, e, "belief", "holds "+e.Path, objectTag(e)+"believes that it holds "+e.Path+", token "+
			token(e.Value))
		return
	}
	end(s.beliefs, e, func(x *span) bool { return strings.HasPrefix(x.title, objectTag(e)) })
}

func (s *spans) call(e *history.Event) {
	c := client(e.Client) + ": "
	if isPart(e) {
		return
	}
	if e.Kind == history.Call {
		s.calls = begin(s.calls, e, "call", asked(e), c+asked(e))
		return
	}
	same := func(x *span) bool { // the answer to a create may have a longer path
		return x.title == c+asked(e) || strings.HasPrefix(e.Op, "create") && strings.HasPrefix(c+asked(e), x.title)
	}
	x := end(s.calls, e, same)
	switch {
	case x == nil:
	case unknown(e):
		x.class, x.title = "call lost", x.title+": "+reason(e.Err)
	case e.Err != nil:
		x.class, x.title = "call refused", x.title+": "+reason(e.Err)
	}
}

// session ends the state that the client was in.
func (s *spans) session(e *history.Event) {
	class, title := "connected", "connected, session "+token(e.Session)
	switch {
	case e.Kind == history.Exceeded:
		class, title = "deceived", "its session has ended, and it cannot know"
	case e.Op == "StateDisconnected":
		class, title = "disconnected", "disconnected"
	case e.Op == "StateExpired":
		class, title = "disconnected", "its session has expired"
	case e.Op == history.Closed:
		class, title = "disconnected", "it has closed its session"
	}
	end(s.sessions, e, every)
	s.sessions = begin(s.sessions, e, class, "", client(e.Client)+": "+title)
	for s.losses.at(e) {
		x := end(s.calls, e, every)
		if x == nil {
			break
		}
		x.class, x.title = "call lost", x.title+": no answer came"
	}
}

// crash ends everything of a client.
func (s *spans) crash(e *history.Event) {
	for _, list := range [][]span{s.sessions, s.beliefs, s.operations, s.calls} {
		for end(list, e, every) != nil {
		}
	}
	s.sessions = begin(s.sessions, e, "crashed", "", client(e.Client)+": crashed")
}

// pauses adds the times in which processes were stopped. Only the names of the transitions tell them.
func (s *spans) pauses(t *history.Trace) {
	for i := range t.Steps {
		verb, _, _ := strings.Cut(t.Steps[i].Name, " ")
		e := history.Event{Client: clientOf(t.Steps[i].Name), Step: int32(i + 1)}
		stopped := func(x *span) bool { return x.class == "paused" }
		switch verb {
		case "pause":
			s.operations = begin(s.operations, &e, "paused", "paused", client(e.Client)+": paused")
		case "resume", "crash":
			end(s.operations, &e, stopped)
		case "calm":
			for c := range s.operations {
				e.Client = s.operations[c].client
				end(s.operations, &e, stopped)
			}
		}
	}
}

// waits adds the clients that wait forever.
func (s *spans) waits(h *history.History) {
	for _, x := range h.Waiting {
		e := history.Event{Client: x.Client}
		for i := range h.Events {
			if h.Events[i].Client == x.Client && h.Events[i].Kind == history.Reply {
				e.Step = h.Events[i].Step
			}
		}
		text := "waits for " + strings.Join(x.Paths, " and ")
		s.calls = begin(s.calls, &e, "stuck", text, client(x.Client)+": "+text+" forever")
	}
}
