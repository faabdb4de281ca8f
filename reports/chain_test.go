package reports

import (
	"slices"
	"strings"
	"testing"

	"zksim/model/history"
)

// waiting is a run that has come to rest in which c2 to c9 wait for c1, which waits for a znode that is gone.
func waiting() *history.History {
	h := &history.History{}
	h.Reset(9)
	h.Waiting = append(h.Waiting, history.Waiting{Client: 1, Paths: []string{"/gone"}})
	for c := int32(2); c <= 9; c++ {
		h.Waiting = append(h.Waiting, history.Waiting{Client: c, Paths: []string{"/lock"}})
	}
	h.Tree = append(h.Tree, history.Node{Path: "/lock", Owner: 11})
	h.Sessions[11], h.Known["/lock"] = 1, true
	return h
}

func TestTheChainEndsAtTheOneThatHoldsEverybodyUp(t *testing.T) {
	h := waiting()
	c := drawChain(h, newNames(h, &history.Trace{}))
	if len(c.Boxes) != 2 || c.Boxes[0].Client != "c2" || c.Boxes[1].Client != "c1" || c.Boxes[0].Root ||
		!c.Boxes[1].Root || c.Boxes[0].Low != c.Boxes[1].Y || c.Boxes[1].Low != 0 {
		t.Errorf("%+v", c.Boxes)
	}
	if c.More != "7 more clients wait in vain" {
		t.Error(c.More)
	}
	if h.Reset(2); drawChain(h, newNames(h, &history.Trace{})) != nil {
		t.Error("there is a chain although nobody waits")
	}
}

func TestAllOfACircleHoldEverybodyUp(t *testing.T) {
	h := &history.History{}
	h.Reset(3)
	h.Waiting = append(h.Waiting, history.Waiting{Client: 1, Paths: []string{"/b"}},
		history.Waiting{Client: 2, Paths: []string{"/a"}}, history.Waiting{Client: 3, Paths: []string{"/b"}})
	h.Tree = append(h.Tree, history.Node{Path: "/a", Owner: 11}, history.Node{Path: "/b", Owner: 12})
	h.Sessions[11], h.Sessions[12], h.Known["/a"], h.Known["/b"] = 1, 2, true, true
	c := drawChain(h, newNames(h, &history.Trace{}))
	var roots []string
	for _, b := range c.Boxes {
		if b.Root {
			roots = append(roots, b.Client)
		}
	}
	if !slices.Equal(roots, []string{"c1", "c2"}) {
		t.Errorf("%v of %+v", roots, c.Boxes)
	}
}

func TestWordsAreWrapped(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "one two": "one two", "one two three": "one two|three", "twelveletters and": "twelvelett|ers and",
	} {
		if got := strings.Join(fold(text, 10), "|"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
