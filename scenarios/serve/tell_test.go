package serve

import (
	"slices"
	"testing"

	"zksim/model/history"
)

// All connections end when another server leads: the page has to say why.
func TestTheHistoryTellsWhatServersWereMadeToDo(t *testing.T) {
	e := start(t, Options{Nodes: 3})
	for _, err := range []error{e.Elect(), e.Kill(3), e.Continue(3), e.Continue(3), e.Stop(3), e.Continue(3)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	h, _ := e.History()
	var got []string
	for i := range h.Events {
		if h.Events[i].Kind == history.Fault {
			got = append(got, h.Events[i].Op)
		}
	}
	if want := []string{"elect s2", "kill s3", "continue s3", "stop s3", "continue s3"}; !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
}
