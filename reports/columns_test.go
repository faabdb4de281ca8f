package reports

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"zksim/model/history"
)

func TestColumnsHaveWhatWasSetUpByFolders(t *testing.T) {
	const mine = "/locks/_c_b2263305078bdebb40aaaa879df6d18c-lock-0000000002"
	h := &history.History{Clients: 1, Outcome: history.Quiet, Events: []history.Event{
		{Kind: history.Created, Path: "/locks", Zxid: 1},
		{Kind: history.Created, Path: "/locks/n-0000000000", Zxid: 2},
		{Kind: history.Changed, Path: "/locks/n-0000000000", Zxid: 3},
		{Kind: history.Created, Path: "/locks/n-0000000001", Zxid: 4},
		{Kind: history.Created, Path: mine, Zxid: 5, Step: 1},
	}}
	var b strings.Builder
	f := &Failure{History: h, Trace: &history.Trace{Steps: []history.Step{{Name: "serve c1"}}}}
	if err := WriteColumns(&b, f, 50); err != nil {
		t.Fatal(err)
	}
	want := strings.TrimPrefix(`
-----+----------------------+---------------------
step | ensemble             | c1
-----+----------------------+---------------------
 = set up: / has locks
 = set up: /locks/ has n-0000000000 n-0000000001
     | n#0 has new data,    |
     | zxid 0x3             |
   1 | lock#2 now exists,   |
     | zxid 0x5             |
 = nothing is left to happen
-----+----------------------+---------------------
 = lock#2 is
 = /locks/_c_b2263305078bdebb40aaaa879df6d18c-lock
 = -0000000002
 = n#0 is /locks/n-0000000000
`, "\n")
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
}

func TestAHistoryWithoutEventsIsShown(t *testing.T) {
	h := &history.History{}
	for _, write := range []func(io.Writer, *Failure) error{WriteStory, WriteGist, WritePerfetto, WriteShiviz,
		func(w io.Writer, f *Failure) error { return WriteColumns(w, f, 80) }} {
		if err := write(io.Discard, Recorded(h)); err != nil {
			t.Error(err)
		}
	}
}

func TestARowOfManyClientsIsMadeOnce(t *testing.T) {
	f := Recorded(&history.History{Clients: 2000, Events: []history.Event{{Kind: history.Session, Client: 1}}})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := WriteColumns(io.Discard, f, 80); err != nil {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 20 {
		t.Errorf("%d MB for five lines of 30 kB", n)
	}
}

// TestEveryViewTellsWhatIsChosen: no event of a history does.
func TestEveryViewTellsWhatIsChosen(t *testing.T) {
	f := &Failure{History: &history.History{Clients: 2, Outcome: history.Quiet},
		Trace: &history.Trace{Steps: []history.Step{{Name: "choose c2 1", Did: "c2 chooses 1"}}}}
	for name, write := range map[string]func(io.Writer, *Failure) error{"story": WriteStory,
		"perfetto": WritePerfetto, "shiviz": WriteShiviz,
		"columns": func(w io.Writer, f *Failure) error { return WriteColumns(w, f, 80) }} {
		var b strings.Builder
		if err := write(&b, f); err != nil || !strings.Contains(b.String(), "chooses 1") {
			t.Errorf("%s: %v\n%s", name, err, b.String())
		}
	}
}
