package faults

import (
	"testing"

	"zksim/model/history"
)

func TestEveryFaultSaysWhatItNeeds(t *testing.T) {
	for _, f := range Table {
		if f.Needs == "" {
			t.Errorf("%s does not say what it needs", f.Name)
		}
		if f.Add != "" {
			if p, err := Parse(f.Add); err != nil || len(p) != 1 || p[0].Fault == f.Name {
				t.Errorf("%s: adding %q would not help: %v", f.Name, f.Add, err)
			}
		}
	}
}

func TestARuleThatCannotStrikeSaysWhy(t *testing.T) {
	for text, want := range map[string]string{
		"expire=1": "expire needs a client without a connection, which waits for one; add " +
			"disconnect=1",
		"expire=1 disconnect=2": "expire needs a client without a connection, which waits for one",
		"pause=1@client=c3":     "there is no client c3, only 2",
		"pause=1@client=c2":     "pause needs a client that has not ended, and its aim must fit before the faults are over",
		"sequence=9@path=/a": "sequence needs so many sequential znodes below its path that their " +
			"numbers end",
		"lose-reply=1@op=set disconnect": "lose-reply needs a request on its way, and its aim must fit " +
			"before the faults are over",
	} {
		p, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := p[0].Lacks(p, 2); got != want {
			t.Errorf("%s: %s; want %s", text, got, want)
		}
	}
}

func TestExceptLeavesOutTheRulesOfFaults(t *testing.T) {
	p, _ := Parse("pause=1 crash=1 pause=2@client=c1 cancel=1")
	if got := p.Except("pause", "cancel").String(); got != "crash=1" || len(p) != 4 {
		t.Errorf("%s, and %s is left", got, p)
	}
	if got := p.Except().String(); got != p.String() {
		t.Error(got)
	}
}

func TestTheEndOfASequenceIsSeenInTheHistory(t *testing.T) {
	p, _ := Parse("sequence=2@path=/a pause=3")
	var in Injector
	in.Reset(p)
	in.rules[0].left, in.rules[0].open = 1, true
	var h history.History
	for _, path := range []string{"/a/x-2147483646", "/a/x-2147483647", "/b/x-2147483647", "/a/b/x-2147483647",
		"/a/y-2147483647"} {
		h.Add(history.Event{Kind: history.Created, Path: path})
	}
	h.Add(history.Event{Kind: history.Deleted, Path: "/a/x-2147483647"})
	got := in.Struck(nil, p, &h)
	if len(got) != 2 || got[0] != (Strike{2, true}) || got[1] != (Strike{2, true}) {
		t.Errorf("%+v", got)
	}
	p[0].Aim.Path = "/"
	h.Events[0].Path = "/x-2147483647"
	if got := in.Struck(nil, p, &h); got[0] != (Strike{1, true}) {
		t.Errorf("%+v", got)
	}
	for _, rule := range []struct {
		name string
		want int
	}{{"pause", 100}, {"late-request", 2000}} {
		if r := (Rule{Fault: rule.name}); r.Enough() != rule.want {
			t.Errorf("%s: %d", rule.name, r.Enough())
		}
	}
}
