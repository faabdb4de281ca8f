package checkers

import (
	"strings"
	"testing"

	"zksim/model/history"
)

// Two puts of one number cannot be told apart, unless nobody judges puts.
func TestANumberIsPutOnce(t *testing.T) {
	h := &history.History{Clients: 2, Events: []history.Event{
		{Kind: history.Invoke, Op: "put", Client: 1, Object: 1, Value: 7},
		{Kind: history.Return, Op: "put", Client: 1, Object: 1, Value: 7},
		{Kind: history.Invoke, Op: "put", Client: 2, Object: 2, Value: 7},
	}}
	for _, x := range []struct {
		all  []Checker
		free []string
		want string
	}{
		{all: []Checker{DoubledItem{}}, want: "c2 puts the item 7, which c1 has put before"},
		{all: []Checker{Steps{}, LostItem{}}, want: "c2 puts the item 7, which c1 has put before"},
		{all: []Checker{undeclared{}, LostItem{}}, want: "c2 puts the item 7, which c1 has put before"},
		{all: []Checker{Belief{}}, free: []string{"put"}},
		{all: []Checker{Steps{}}},
	} {
		v := VocabularyOf(x.all, x.free)
		if got := v.Unfit(h); (got == "") != (x.want == "") || !strings.HasPrefix(got, x.want) {
			t.Errorf("%v: %q, want %q", x.all, got, x.want)
		}
	}
}

// undeclared is a checker that does not say what it judges.
type undeclared struct{ Checker }
