package reports

import (
	"bytes"
	"testing"

	"zksim/model/history"
)

func TestDataOfAHistoryThatAreNoTextStayWhatTheyAre(t *testing.T) {
	h := &history.History{}
	h.Reset(1)
	for _, data := range []string{"\xff", "\xfe", "a\x00\xc3", "\xc3\xa4", "�", ""} {
		h.Add(history.Event{Kind: history.Changed, Client: 1, Path: "/a", Data: data})
	}
	var b bytes.Buffer
	if err := WriteHistory(&b, h); err != nil {
		t.Fatal(err)
	}
	read, err := ReadHistory(&b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range h.Events {
		if got, want := read.Events[i].Data, h.Events[i].Data; got != want {
			t.Errorf("event %d has the data %q, which were %q", i, got, want)
		}
	}
}
