package judge

import (
	"strings"
	"testing"

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
	r.bytes = LimitBytes - 1000
	for range 3 {
		r.add(history.Event{Kind: history.Reply, Data: strings.Repeat("x", 400)})
	}
	j, _, err := r.Judge(nil)
	if err != nil || len(r.events) != 2 || !strings.Contains(strings.Join(j.Inconclusive, "\n"),
		"only the first 2 events are judged, and not the 1 after them") {
		t.Errorf("%v, %d events, %q", err, len(r.events), j.Inconclusive)
	}
}
