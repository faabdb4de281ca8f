package conform

import (
	"fmt"
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
)

// observer collects what happens to the clients of one side, besides the results of calls, and names sessions.
type observer struct {
	bell                      // for states; its lock guards everything except watches
	names    map[int64]string // of sessions, by id
	sessions map[int]int      // number of sessions of each client
	events   map[int][]string
	states   map[int][]string
	watches  []*watch // that have not fired
}

func newObserver() *observer {
	return &observer{
		names: map[int64]string{0: ""}, sessions: map[int]int{}, events: map[int][]string{}, states: map[int][]string{},
		bell: newBell(),
	}
}

// owner names the session with that id.
func (o *observer) owner(id int64) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if name, ok := o.names[id]; ok {
		return name
	}
	return "a session of nobody"
}

// session names the session that the client has now.
func (o *observer) session(client int, id int64) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.names[id]; !ok {
		o.sessions[client]++
		o.names[id] = sessionName(client, o.sessions[client])
	}
	return o.names[id]
}

func (o *observer) heard(client int, t zk.EventType, path string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events[client] = append(o.events[client], history.EventName(t)+" "+path)
}

func (o *observer) entered(client int, state zk.State) {
	o.update(func() { o.states[client] = append(o.states[client], state.String()) })
}

// watching reports whether the client has a watch that has not fired.
func (o *observer) watching(client int) bool {
	return slices.ContainsFunc(o.watches, func(w *watch) bool { return w.client == client })
}

// take adds to an outcome what has happened since the last call.
func (o *observer) take(out *Outcome) {
	var waiting []*watch
	for _, w := range o.watches {
		select {
		case ev := <-w.channel:
			_, more := <-w.channel // go-zookeeper closes it behind the event
			if more {
				ev.Err = fmt.Errorf("a second event on one channel, after %v", ev)
			}
			out.fired = append(out.fired, firing{w, ev})
			out.Fired = append(out.Fired, fmt.Sprintf("%s watch of step %d: %s %q state %d%s", w.kind, w.step,
				history.EventName(ev.Type), ev.Path, ev.State, suffix(ev.Err)))
		default:
			waiting = append(waiting, w)
		}
	}
	o.watches = waiting
	o.mu.Lock()
	defer o.mu.Unlock()
	out.Events, out.States = named(o.events), named(o.states)
	clear(o.events)
	clear(o.states)
}

func suffix(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

// named returns the lists by client name.
func named(lists map[int][]string) map[string][]string {
	if len(lists) == 0 {
		return nil
	}
	out := map[string][]string{}
	for client, list := range lists {
		out[sessionName(client, 1)] = list
	}
	return out
}
