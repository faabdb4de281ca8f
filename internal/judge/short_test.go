package judge

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
)

func TestLongPathsAndDataAreShortAndDiffer(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for name, short := range map[string]func(string) string{"path": ShortPath, "data": ShortData} {
		a, b := short("/"+long+"a"), short("/"+long+"b")
		if a == b || len(a) > 512 || short("/a") != "/a" {
			t.Errorf("%s: %q, %q, %q", name, a, b, short("/a"))
		}
	}
	if s := ShortPath("/" + strings.Repeat("é", 1000)); !strings.HasPrefix(s, "/é") || strings.ToValidUTF8(s, "") != s {
		t.Errorf("%q, expected no half of a rune", s)
	}
}

func TestTheRecorderCountsBytesAndSaysWhatItDoesNotJudge(t *testing.T) {
	r := NewRecorder()
	r.bytes = limitBytes - 1000
	for _, n := range []int{400, 400, 400, 1} { // the last one would still fit
		r.add(history.Event{Kind: history.Reply, Data: strings.Repeat("x", n)})
	}
	j, _, err := r.Judge(nil)
	if err != nil || len(r.events) != 2 || !strings.Contains(strings.Join(j.Inconclusive, "\n"),
		"only the first 2 events are judged, and not the 2 after them") {
		t.Errorf("%v, %d events, %q", err, len(r.events), j.Inconclusive)
	}
}

// A session's end deletes its ephemerals in one txn; each of them may have somebody who waits for it.
func TestTheHerdIsThatOfAChangeAndNotOfATxn(t *testing.T) {
	const closed, created = 5, 6
	h := &history.History{}
	for _, path := range []string{"/a", "/b", "/c/d"} {
		h.Add(history.Event{Kind: history.Deleted, Path: path, Zxid: closed})
	}
	h.Add(history.Event{Kind: history.Created, Path: "/e", Zxid: created})
	told := func(client int32, op, path string, zxid int64) {
		h.Add(history.Event{Kind: history.Notify, Client: client, Op: op, Path: path, Zxid: zxid})
	}
	told(1, "deleted", "/a", closed)
	told(2, "deleted", "/b", closed)
	told(3, "child", "/c", closed)
	for range 3 {
		told(4, "deleted", "/e", created) // of an earlier one, whose end nobody has heard
	}
	for _, want := range []string{"herd: 6 notifications, at most 1 by one change (deleted /a)",
		"herd: 8 notifications, at most 2 by one change (created /e)"} {
		j := New()
		if j.Herd(h); j.Facts[0] != want {
			t.Errorf("%q, expected %q", j.Facts, want)
		}
		told(1, "created", "/e", created)
		told(2, "child", "/", created)
	}
}

// Znodes with a write of which nobody knows the outcome are judged by themselves. There may be none that can be judged.
func TestNoneJudgedIsSaidOfAllZnodesAlone(t *testing.T) {
	for _, x := range []struct{ certain, doubtful int32 }{{0, 0}, {0, zk.FlagEphemeral}, {zk.FlagEphemeral, 0},
		{zk.FlagEphemeral, zk.FlagEphemeral}} { // flags: an ephemeral is not judged
		r := NewRecorder()
		c := &talk{c: attached(r, 1)}
		c.done(creating("/a", "x", x.certain), model.Response{Path: "/a", Zxid: 3})
		c.ask(creating("/b", "y", x.doubtful))
		c.c.Dropped()
		var want []string
		if x.certain == 0 {
			want = append(want, "1 judged, all linearizable in zxid order")
		}
		if x.doubtful == 0 {
			want = append(want, "1 judged, all linearizable in some order")
		}
		switch len(want) {
		case 0:
			want = []string{"none judged", "2 not judged (2 ephemeral)"}
		case 1:
			want = append(want, "1 not judged (1 ephemeral)")
		}
		j, _, err := r.Judge(nil)
		if fact := "znodes: " + strings.Join(want, "; "); err != nil || !slices.Contains(j.Facts, fact) {
			t.Errorf("%+v: %q, %v, expected %q", x, j.Facts, err, fact)
		}
	}
}
