package pipeline_test

import (
	"strings"
	"testing"

	"zksim/internal/pipeline"
	"zksim/model/history"
)

// TestTheLineOfAWaitNamesTheGoroutine has one that the client has started, whose function is a literal, and the
// program.
func TestTheLineOfAWaitNamesTheGoroutine(t *testing.T) {
	for task, want := range map[string]string{
		"watch": "waits      c1/watch in func, mine/latch.go:120\n",
		"":      "waits      c1 in func, mine/latch.go:120\n",
	} {
		var b strings.Builder
		pipeline.PrintWaits(&b, "", &history.History{Clients: 1,
			Waiting: []history.Waiting{{Client: 1, Where: task, Calls: []string{"func mine/latch.go:120"}}}})
		if b.String() != want {
			t.Errorf("%q: %q, want %q", task, b.String(), want)
		}
	}
}
