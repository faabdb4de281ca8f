package checkers

import (
	"strings"
	"testing"

	"zksim/model/history"
)

// Whatever an object tells while it has two watchers may be told by either.
func TestAnObjectHasOneWatcherAtATime(t *testing.T) {
	v := VocabularyOf([]Checker{Convergence{}}, nil)
	watch := func(k history.Kind, object int32, op string) history.Event {
		return history.Event{Kind: k, Client: 1, Object: object, Op: op, Path: "/w", Step: 3}
	}
	data := watch(history.Invoke, 1, WatchData)
	for name, x := range map[string]struct {
		events []history.Event
		want   string
	}{
		"data and children": {[]history.Event{data, watch(history.Invoke, 1, WatchChildren)},
			`c1 begins the operation "watch-children" on an object on which "watch-data" goes on since step 3; each goroutine`},
		"the same twice": {[]history.Event{data, data},
			`c1 begins the operation "watch-data" on an object on which it goes on since step 3; each goroutine`},
		"two objects": {[]history.Event{data, watch(history.Invoke, 2, WatchChildren)}, ""},
		"one after the other": {[]history.Event{data, watch(history.Return, 1, WatchData),
			watch(history.Invoke, 1, WatchChildren), watch(history.Return, 1, WatchChildren)}, ""},
		"a rest": {[]history.Event{data, watch(history.Invoke, 1, Rest), watch(history.Invoke, 1, Stop)}, ""},
	} {
		got := v.Unfit(&history.History{Clients: 1, Events: x.events})
		if (got == "") != (x.want == "") || !strings.HasPrefix(got, x.want) {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}
