package grep_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"zksim/faults"
	"zksim/internal/grep"
	"zksim/model/history"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

// run is a history of two clients, and its transitions.
func run() (*history.History, []string) {
	h := &history.History{Events: []history.Event{
		{Kind: history.Created, Path: "/lock", Zxid: 1},
		{Kind: history.Call, Client: 1, Step: 1, Op: "create", Path: "/lock/n-"},
		{Kind: history.Fault, Client: 1, Step: 2, Op: "lose-reply c1"},
		{Kind: history.Created, Client: 1, Step: 2, Path: "/lock/n-1", Zxid: 2},
		{Kind: history.Reply, Client: 1, Step: 3, Op: "create", Path: "/lock/n-", Err: errors.New("closed")},
		{Kind: history.Session, Client: 1, Step: 4, Op: "StateExpired"},
		{Kind: history.Acquired, Client: 2, Step: 5, Path: "/lock/n-2"},
		{Kind: history.Return, Client: 2, Step: 5, Op: "lock"},
		{Kind: history.Fault, Client: 2, Step: 6, Op: "expire c2"},
		{Kind: history.Acquired, Client: 1, Step: 7, Path: "/lock/n-3"},
		{Kind: history.Write, Client: 1, Step: 7, OK: true},
		{Kind: history.Write, Client: 2, Step: 7},
		{Kind: history.Calm, Step: 8},
	}}
	return h, []string{"run c1", "lose-reply c1", "deliver c1", "expire c1", "serve c2", "expire c2", "run c1", "calm"}
}

func TestPatternsAreFoundWhereTheyAre(t *testing.T) {
	for _, x := range []struct{ pattern, want string }{
		{"lose-reply of c1", "2"},
		{"lose-reply of c2", ""},
		{"fault", "2"},
		{"fault expire", "6"},
		{"lose-reply of c1, later c2 acquired", "2 5"},
		{"lose-reply of c1, c2 acquired", "2 5"},
		{"c2 acquired, later lose-reply", ""},
		{"lose-reply of c1, later c2 acquired, before expiry of c1", ""},
		{"lose-reply of c1, later c2 acquired, before expiry of c2", "2 5"},
		{"lose-reply of c1, later c1 acquired, before expiry of c2", ""},
		{"call create, later reply create failed", "1 3"},
		{"reply create /lock/n-", "3"},
		{"reply create /lock/n-1", ""},
		{"created /lock/*", "2"},
		{"created */lock", "0"},
		{"created /l*n*1", "2"},
		{"cA acquired, later cB acquired", "5 7"},
		{"cA acquired, later cA acquired", ""},
		{"cB acquired, later cA acquired, before fault of cB", ""},
		{"cB acquired, later cA acquired, before fault of cA", "5 7"},
		{"cA acquired, later cA write failed", "5 7"},
		{"expire", "4"},
		{"expire, later expire, later expire", ""},
		{"expire, later expire", "4 6"},
		{"expired of c1", "4"},
		{"session expired", "4"},
		{"return lock", "5"},
		{"txn, later txn", "0 2"},
		{"run c1, later run c1", "1 7"},
		{"calm", "8"},
		{"calm, later calm", ""},
	} {
		p, err := grep.Parse(x.pattern, []string{"lock"})
		if err != nil {
			t.Errorf("%s: %v", x.pattern, err)
			continue
		}
		h, names := run()
		var steps []string
		for _, m := range p.Find(grep.Moments(h, names)) {
			steps = append(steps, fmt.Sprint(m.Step))
		}
		if got := strings.Join(steps, " "); got != x.want {
			t.Errorf("%s: found at %q, want %q", x.pattern, got, x.want)
		}
	}
}

// TestAPatternAsksForServersAndNumbers finds the steps of a run.
func TestAPatternAsksForServersAndNumbers(t *testing.T) {
	names := []string{"connect c1 s1", "connect c2 s2", "choose c1 1", "run c1/s2", "choose c2 2", "depose s1",
		"depose s2", "stepdown s1"}
	h := &history.History{Events: []history.Event{
		{Kind: history.Fault, Step: 6, Op: "depose s1"}, {Kind: history.Fault, Step: 7, Op: "depose s2"}}}
	for _, x := range []struct {
		pattern string
		step    int
		text    string
	}{
		{"connect", 1, "step 1: connect c1 s1"},
		{"connect s2", 2, "step 2: connect c2 s2"},
		{"c2 connect s1", 0, ""},
		{"choose 2", 5, "step 5: choose c2 2"},
		{"choose c1 2", 0, ""},
		{"choose of c1 1", 3, "step 3: choose c1 1"},
		{"run", 4, "step 4: run c1/s2"},
		{"depose s2", 7, ""},
		{"fault s2", 7, ""},
		{"fault depose s1", 6, ""},
		{"fault depose s3", 0, ""},
		{"stepdown s1", 8, "step 8: stepdown s1"},
	} {
		p, err := grep.Parse(x.pattern, nil)
		if err != nil {
			t.Fatal(err)
		}
		found := p.Find(grep.Moments(h, names))
		if len(found) == 0 && x.step > 0 || len(found) > 0 && (found[0].Step != x.step || x.text != "" &&
			found[0].String() != x.text) {
			t.Errorf("%q: %v, expected step %d", x.pattern, found, x.step)
		}
	}
}

func TestThePageOfPatternsKnowsWhatHasAServer(t *testing.T) {
	page, err := os.ReadFile("../../docs/explore.md")
	if err != nil {
		t.Fatal(err)
	}
	_, row, _ := strings.Cut(string(page), "\n| `s1` | ")
	row, _, found := strings.Cut(row, " |\n")
	for line := range strings.Lines(grep.Words()) {
		_, words, _ := strings.Cut(strings.TrimSpace(line), ": ")
		for word := range strings.SplitSeq(words, ", ") {
			if _, err := grep.Parse(word+" s1", nil); (err == nil) != strings.Contains(row, "`"+word+"`") || !found {
				t.Errorf("%s s1: %v, but the page has %q", word, err, row)
			}
		}
	}
}

func TestAHistoryWithoutTransitionsIsSearchedToo(t *testing.T) {
	p, err := grep.Parse("lose-reply, later c2 acquired", nil)
	if err != nil {
		t.Fatal(err)
	}
	h, _ := run()
	found := p.Find(grep.Moments(h, nil))
	if len(found) != 2 || found[0].String() != "step 2: c1 fault lose-reply c1" {
		t.Error(found)
	}
}

func TestAPatternThatIsNoneIsAnErrorThatSaysWhatThereIs(t *testing.T) {
	for _, x := range []struct{ pattern, want string }{
		{"", "a clause is empty, expected one as"},
		{"calm,,calm", "a clause is empty"},
		{"c1", `in "c1": nothing happens, expected one of invoke, return, `},
		{"losereply", `in "losereply": nothing is called "losereply", expected one of invoke, `},
		{"before calm", `the first clause is what to look for at first, not "before calm"`},
		{"calm, before released of cZ", "cZ is in no clause that is found, expected one without before in which it stands "},
		{"c1 acquired c2", `in "c1 acquired c2": c2 is the second client, expected one at most`},
		{"c0 acquired", "clients are c1, c2 and so on, not \"c0\""},
		{"call crate", `call has no "crate", expected one of `},
		{"invoke locks", `invoke has no "locks", expected one of lock, unlock; did you mean lock?`},
		{"notify gone", `notify has no "gone", expected one of created, deleted, changed, child, unwatched`},
		{"session gone", `session has no "gone", expected one of disconnected, hassession, expired, closed`},
		{"fault loss", `fault has no "loss", expected one of lose-request, `},
		{"acquired lock", `acquired takes a client and a path, and no word, not "lock"`},
		{"lose-reply lock", `lose-reply takes a client and no word, not "lock"`},
		{"acquired /a /b", `"/b" is the second path, expected one at most`},
		{"serve /lock/*", "serve has no path, expected none behind it"},
		{"calm, before expired failed", "expired cannot fail, only return, told, reply and write do"},
		{"fault expire /lock", "fault has no path"},
		{"call create failed", `in "call create failed": call cannot fail, only return, told, reply and write do`},
		{"acquired failed", "acquired cannot fail"},
		{"txn failed", "created cannot fail"},
		{"c1 released /lock/*", "released has no path"},
		{"write failed /lock", "write has no path"},
		{"serve s1", `in "serve s1": serve has no server, expected none behind it`},
		{"connect 2", "connect has no number, expected none behind it"},
		{"lose-reply s1", "lose-reply has no server"},
		{"acquired 7", "acquired has no number"},
		{"connect s1 s2", `"s2" is one too many behind s1, expected one server or number at most`},
		{"call create set", `"set" is one word too many behind call and create`},
	} {
		_, err := grep.Parse(x.pattern, []string{"lock", "unlock"})
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%q: %v, want %s", x.pattern, err, x.want)
		}
	}
	_, err := grep.Parse("losereply", nil)
	if err == nil || !strings.HasSuffix(err.Error(), "; did you mean lose-reply?") {
		t.Error(err)
	}
}

// Without what is known of where the search has been before, this takes years.
func TestManyClausesThatFitEverywhereAreSearchedInAMoment(t *testing.T) {
	h := &history.History{}
	for range 60 {
		h.Events = append(h.Events, history.Event{Kind: history.Call, Client: 1, Op: "get"})
	}
	for _, pattern := range []string{"call", "call of cA", "before calm, call"} {
		text := "call of c1" + strings.Repeat(", "+pattern, 10) + ", expired"
		p, err := grep.Parse(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if p.Find(grep.Moments(h, nil)) != nil {
			t.Errorf("%q is found", text)
		}
	}
}

func TestAPatternKnowsWhatAHistoryDoesNotHave(t *testing.T) {
	for text, want := range map[string]string{"serve of c1": "serve", "calm, before resume": "resume", "expire": "",
		"calm": "", "lose-reply": ""} {
		if p, err := grep.Parse(text, nil); err != nil || p.Transition() != want {
			t.Errorf("%q: %+v, %v, expected %q", text, p, err, want)
		}
	}
}

func TestAPatternKnowsHowManyClientsItNeeds(t *testing.T) {
	for text, want := range map[string]int{"calm": 0, "acquired of c3": 3, "acquired of cA, lost of cB": 2} {
		if p, err := grep.Parse(text, nil); err != nil || p.Clients() != want {
			t.Errorf("%q: %+v, %v, expected %d", text, p, err, want)
		}
	}
}

// Whatever happens in runs has a word: the tables that words are made of miss nothing.
func TestEverythingThatHappensHasAWord(t *testing.T) {
	r := engine.NewRunner()
	defer r.Close()
	unknown := map[string]bool{}
	seen := 0
	for i := range catalog.All[:12] {
		for seed := range uint64(20) {
			res := r.Seed(&catalog.All[i], seed)
			r.Names(&res)
			for _, m := range grep.Moments(res.History, res.Schedule.Names) {
				word := m.Verb
				if m.Event != nil && m.Event.Kind != history.Fault {
					word = m.Event.Kind.String()
				}
				if _, err := grep.Parse(word, nil); err != nil {
					unknown[word] = true
				}
				seen++
			}
		}
	}
	if len(unknown) > 0 || seen < 1000 {
		t.Errorf("of %d moments no word is known for %v", seen, unknown)
	}
	words := grep.Words()
	for i := range faults.Table {
		if f := &faults.Table[i]; strings.Contains(words, f.Name) != f.Strikes() {
			t.Errorf("%s, which happens in runs: %v, is among the words: %v", f.Name, f.Strikes(), !f.Strikes())
		}
	}
}

// What has a path, and what can fail, is what does so in runs.
func TestAPatternKnowsWhatHasAPathAndWhatFails(t *testing.T) {
	r := engine.NewRunner()
	defer r.Close()
	has := map[string]bool{} // patterns
	broken := engine.Scenario{Name: "test/broken", Clients: 1, Program: func(p *engine.Process) {
		p.Ends("all", errors.New("it is not well"), nil)
	}}
	for _, s := range append(slices.Clip(catalog.All), broken) {
		for seed := range uint64(4) {
			res := r.Seed(&s, seed)
			for k := range res.History.Events {
				e := &res.History.Events[k]
				if e.Path != "" {
					has[e.Kind.String()+" /x"] = true
				}
				if e.Err != nil || e.Kind == history.Write && !e.OK {
					has[e.Kind.String()+" failed"] = true
				}
			}
		}
	}
	for _, kind := range history.KindNames() {
		for _, pattern := range []string{kind + " /x", kind + " failed"} {
			if _, err := grep.Parse(pattern, nil); (err == nil) != has[pattern] {
				t.Errorf("%q happens: %t, %v", pattern, has[pattern], err)
			}
		}
	}
}
