package reports

import (
	"reflect"
	"testing"

	"zksim/checkers"
	"zksim/model/history"
)

func TestAWordIsMentionedAsAWhole(t *testing.T) {
	for _, x := range []struct {
		text, word string
		want       bool
	}{
		{"c1 waits", "c1", true}, {"c1's lock", "c1", true}, {"c12 waits", "c1", false}, {"xc1 waits", "c1", false},
		{"c12 and c1", "c1", true}, {"(c1)", "c1", true}, {`"/a"`, "/a", true}, {"/a/b", "/a", false}, {"/b/a", "/a", false},
		{"", "c1", false},
		{"of /a.", "/a", true}, {"é/a", "/a", false},
	} {
		if got := mentions(x.text, x.word); got != x.want {
			t.Errorf("%q mentions %q: %v", x.text, x.word, got)
		}
	}
}

func TestAViolationHasItsPlaceAndItsClients(t *testing.T) {
	h := &history.History{Clients: 3, Failed: map[int32]string{3: "why"},
		Events: []history.Event{{Client: 3, Step: 2}, {Client: 3, Step: 4}, {Step: 5}, {Client: 1, Step: 6}}}
	for _, x := range []struct {
		message string
		event   int
		step    int
		clients []int32
	}{
		{"c2 waits for c1", -1, 9, []int32{2}},
		{"c3 gave up: why", -1, 4, []int32{3}},
		{"nobody", -1, 9, nil},
		{"c2 and c1 hold it", 1, 4, []int32{2, 1, 3}},
		{"a change", 2, 5, nil},
		{"c0 and c01 and c4 and c99999999999", 3, 6, []int32{4, 1}},
	} {
		f := &Failure{History: h, Trace: &history.Trace{Steps: make([]history.Step, 9)},
			Verdict: checkers.Verdict{Message: x.message, Event: x.event}}
		if step, clients := f.place(); step != x.step || len(clients)+len(x.clients) > 0 &&
			!reflect.DeepEqual(clients, x.clients) {
			t.Errorf("%s: step %d, clients %v, want %d, %v", x.message, step, clients, x.step, x.clients)
		}
	}
}
