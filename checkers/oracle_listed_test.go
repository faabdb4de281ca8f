package checkers

import (
	"math/rand/v2"
	"strings"
	"testing"

	"zksim/model/history"
)

// barriersListed returns a history of two double barriers: members come and go, mark their znodes, and begin rounds.
func barriersListed(r *rand.Rand) *history.History {
	h := &history.History{}
	h.Reset(2)
	h.Txns = true
	paths := []string{"/b/x", "/b/y", "/b/ready", "/d/x", "/d/y"}
	there := map[string]int64{}
	for i := range 4 + r.IntN(16) {
		e := history.Event{Client: 1 + r.Int32N(2), Path: paths[r.IntN(len(paths))], Zxid: int64(i + 1)}
		session, exists := there[e.Path]
		switch {
		case !exists:
			e.Kind = history.Created
			if e.Path != "/b/ready" && r.IntN(8) > 0 {
				e.Session = int64(10 + e.Client)
			}
			there[e.Path] = e.Session
		case e.Path != "/b/ready" && r.IntN(2) == 0:
			e.Kind, e.Session, e.Client = history.Deleted, session, e.Client*r.Int32N(2)
			delete(there, e.Path)
		case e.Path == "/b/ready":
			e.Kind, e.Data = history.Changed, []string{"", "x", "x", "y", "x y", "z"}[r.IntN(6)]
		default:
			e.Kind, e.Data = history.Changed, []string{"leaving", "x y"}[r.IntN(2)]
			if session == 0 {
				e.Data = ""
			}
		}
		h.Add(e)
	}
	return h
}

// begunByAll is what Rounds says of rounds that are listed: whoever is listed in a znode that is no member's has an
// ephemeral one beside it.
func begunByAll(h *history.History) Level {
	for i, e := range h.Events {
		if e.Kind != history.Changed || e.Path != "/b/ready" {
			continue
		}
		for _, name := range strings.Fields(e.Data) {
			made := before(h, i, func(x *history.Event) bool { return x.Kind == history.Created && x.Path == "/b/"+name })
			if made < 0 || h.Events[made].Session == 0 || deletion(h, "/b/"+name, made, i) < i {
				return Violated
			}
		}
	}
	return OK
}

func TestRoundsThatAreListedAgreeWithTheirComment(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	levels := map[Level]int{}
	for range 5000 {
		h := barriersListed(r)
		want := begunByAll(h)
		if got := (Rounds{Listed: true}).Check(h); got.Level != want {
			t.Fatalf("%v, not %v, of\n%s", got, want, listed(h))
		}
		if v := (Rounds{}).Check(h); v.Level != OK {
			t.Fatalf("%v of rounds that are not listed", v)
		}
		levels[want]++
	}
	if levels[OK] < 500 || levels[Violated] < 500 {
		t.Errorf("verdicts %v: too few of one sort", levels)
	}
}
