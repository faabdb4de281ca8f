package checkers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"zksim/model/history"
)

// endOracle is a checker of how runs end, and what its comment says.
type endOracle struct {
	Checker
	said func(h *history.History) bool // it holds
}

var endOracles = []endOracle{
	{Tree{}, everyEphemeralIsKnown},
	{Leftover{Stay: []string{"/a", "/a/*"}}, onlyWhatMayStays},
	{Quiescence{}, func(h *history.History) bool { return h.Outcome != history.Quiet || len(h.Waiting) == 0 }},
	{Steps{}, func(h *history.History) bool { return h.Outcome != history.StepLimit }},
	{Liveness{}, func(h *history.History) bool { return len(h.Failed) == 0 }},
	{Always{}, func(h *history.History) bool {
		return !slices.ContainsFunc(h.Events, func(e history.Event) bool {
			return e.Kind == history.Told && e.Op == ToldBroken
		})
	}},
}

// everyEphemeralIsKnown is Tree.
func everyEphemeralIsKnown(h *history.History) bool {
	for session, client := range h.Sessions {
		for _, n := range h.Tree {
			if n.Owner == session && client != 0 && !h.Known[n.Path] && h.Outcome == history.Quiet {
				return false
			}
		}
	}
	return true
}

// onlyWhatMayStays is Leftover for what is below /a, but for what has three parts.
func onlyWhatMayStays(h *history.History) bool {
	done := h.Outcome == history.Quiet
	for c := 1; c <= h.Clients; c++ {
		done = done && h.Finished[c] && h.Failed[int32(c)] == ""
	}
	for _, e := range h.Events {
		done = done && e.Kind != history.Crashed
	}
	for _, n := range h.Tree {
		parts := strings.Split(n.Path, "/")
		stays := n.Path == "/" || parts[1] == "a" && len(parts) < 4
		if done && n.Owner == 0 && !stays {
			return false
		}
	}
	return true
}

// ended is a history of which little but the end is known.
func ended(r *rand.Rand) *history.History {
	h := &history.History{}
	h.Reset(2)
	h.Outcome = []history.Outcome{history.Quiet, history.Quiet, history.Quiet, history.StepLimit,
		history.Stopped}[r.IntN(5)]
	for _, path := range []string{"/", "/a", "/a/x", "/a/x/y", "/ab", "/b", "/b/x"} {
		if r.IntN(4) == 0 {
			h.Tree = append(h.Tree, history.Node{Path: path, Owner: []int64{0, 0, 11, 12, 13}[r.IntN(5)]})
		}
		if r.IntN(2) == 0 {
			h.Known[path] = true
		}
	}
	for session, client := range []int32{1, 2, 0, 1} {
		if r.IntN(2) == 0 {
			h.Sessions[int64(11+session)] = client
		}
	}
	for c := int32(1); c <= 2; c++ {
		h.Finished[c] = r.IntN(4) > 0
		switch r.IntN(12) {
		case 0:
			h.Failed[c] = "why"
		case 1:
			h.Waiting = append(h.Waiting, history.Waiting{Client: c})
		case 2:
			h.Add(history.Event{Kind: history.Crashed, Client: c})
		case 3:
			h.Add(history.Event{Kind: history.Told, Op: []string{ToldBroken, ToldSometimes}[c-1], Path: "so", Client: c})
		}
	}
	return h
}

func TestCheckersOfTheEndAgreeWithTheirComments(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	for _, o := range endOracles {
		wrong := 0
		for range 3000 {
			h := ended(r)
			want := OK
			if !o.said(h) {
				want = Violated
				wrong++
			}
			if got := o.Check(h); got.Level != want {
				t.Fatalf("%s says %v, its comment %v, of %+v", o.Name(), got, want, h)
			}
		}
		if wrong < 150 || wrong > 2850 {
			t.Errorf("%s: %d of 3000 are wrong: too few of one sort", o.Name(), wrong)
		}
	}
}

// ofOneUpdate is Torn: a set is of one update if the names in it are followed by the number of that and by how many
// there are.
func ofOneUpdate(set []string, names []string) bool {
	for number := range 4 {
		var all []string
		for _, name := range names {
			all = append(all, fmt.Sprintf("%s=%d/%d", name, number, len(names)))
		}
		if slices.Equal(set, all) {
			return true
		}
	}
	return false
}

func TestTornAgreesWithItsComment(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	levels := map[Level]int{}
	for range 5000 {
		names := []string{"a", "b", "c"}[:r.IntN(4)]
		number, count := r.IntN(4), len(names)
		var set []string
		for _, name := range names {
			switch r.IntN(8) {
			case 0:
				number = r.IntN(4)
			case 1:
				count = r.IntN(4)
			}
			value := fmt.Sprintf("%d/%d", number, count)
			if r.IntN(16) == 0 {
				value = []string{"", "x", "x/1", fmt.Sprintf("/%d", len(names)), "1", "1/"}[r.IntN(6)]
			}
			set = append(set, name+"="+value)
		}
		e := []history.Event{{Kind: history.Told, Op: "config"}, {Kind: history.Return, Op: "get"},
			{Kind: history.Return, Op: "get", Err: fmt.Errorf("no")}, {Kind: history.Return, Op: "update"}}[r.IntN(4)]
		e.Client, e.Object, e.Path = 1, 1, strings.Join(set, " ")
		h := &history.History{}
		h.Reset(1)
		h.Add(e)
		want := OK
		if e.Err == nil && e.Op != "update" && !ofOneUpdate(set, names) {
			want = Violated
		}
		if got := (Torn{}).Check(h); got.Level != want {
			t.Fatalf("%v, not %v, of %v", got, want, e)
		}
		levels[want]++
	}
	if levels[OK] < 500 || levels[Violated] < 500 {
		t.Errorf("verdicts %v: too few of one sort", levels)
	}
}
