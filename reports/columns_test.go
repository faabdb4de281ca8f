package reports

import (
	"io"
	"testing"

	"zksim/model/history"
)

func TestAHistoryWithoutEventsIsShown(t *testing.T) {
	h := &history.History{}
	for _, write := range []func(io.Writer, *Failure) error{WriteStory, WriteGist, WritePerfetto, WriteShiviz,
		func(w io.Writer, f *Failure) error { return WriteColumns(w, f, 80) }} {
		if err := write(io.Discard, Recorded(h)); err != nil {
			t.Error(err)
		}
	}
}
