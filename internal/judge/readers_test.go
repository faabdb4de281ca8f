package judge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"zksim/internal/judge"
	"zksim/model/history"
)

// TestAReaderMayWaitBehindAWriterOfItsClient has the znodes of Kazoo's read/write lock. c1 has two threads.
func TestAReaderMayWaitBehindAWriterOfItsClient(t *testing.T) {
	reader := func(kind history.Kind, number int) history.Event {
		return history.Event{Kind: kind, Client: 1, Path: fmt.Sprintf("/l/__rlock__%010d", number), Zxid: int64(number),
			Session: 1}
	}
	waits2 := call(1, "getW", waits(2))
	blame := "order: c1 waits for " + waits(2) + " of c2, which comes behind its own " + waits(0)
	for _, x := range []struct {
		name   string
		events []history.Event
		want   string // "": nothing
	}{
		{"it reads behind the writer", []history.Event{reader(history.Created, 3), waits2}, ""},
		{"only a listing shows where it reads", []history.Event{call(1, "create", "/l/__rlock__"), {Kind: history.Reply,
			Client: 2, Op: "children", Path: "/l", Data: "__rlock__0000000003", Zxid: 3}, waits2}, ""},
		{"it reads in front of the writer", []history.Event{reader(history.Created, 1), waits2}, blame},
		{"it reads no more", []history.Event{reader(history.Created, 3), reader(history.Deleted, 3), waits2}, blame},
	} {
		writers := []history.Event{made(1, 0, 1), made(2, 2, 2)}
		j := judge.Judge(&history.History{Events: slices.Concat(writers, x.events)}, nil)
		if got := strings.Join(j.Violations, "; "); got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

// A holder that watches its own znode wants to be told of its loss. A second thread of its client may wait for it.
func TestNobodyWaitsForItsOwnOnlyZnode(t *testing.T) {
	begin := []history.Event{call(1, "exists", ""), made(1, 1, 1), made(2, 2, 2), call(1, "existsW", waits(1)),
		call(2, "existsW", waits(2)), call(2, "existsW", waits(1))}
	for most, more := range map[int][]history.Event{1: nil, 2: {made(1, 3, 3), call(1, "existsW", waits(1))}} {
		j := judge.Judge(&history.History{Events: slices.Concat(begin, more)}, nil)
		facts, want := strings.Join(j.Facts, "\n"), fmt.Sprintf("at most %d waited for one znode", most)
		if !strings.Contains(facts, want) {
			t.Errorf("%s, want %s", facts, want)
		}
	}
}
