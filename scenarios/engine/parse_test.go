package engine_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"zksim/faults"
	"zksim/model"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

// anySchedule draws a schedule that Write must be able to write: one line is one
// name, and blanks in it do not count.
func anySchedule() *rapid.Generator[engine.Schedule] {
	word := rapid.StringMatching(`[a-z/0-9._-]{1,8}(#[a-z]{1,3})?`)
	phrase := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 1, 3).Draw(t, "words"), " ")
	})
	rule := rapid.Custom(func(t *rapid.T) faults.Rule {
		r := faults.Rule{Fault: rapid.SampledFrom([]string{"lose-reply", "late-commit", "lose-request"}).Draw(t, "fault"),
			Budget: rapid.IntRange(0, 9).Draw(t, "budget")}
		if rapid.Bool().Draw(t, "aimed") {
			r.Aim = faults.Aim{Client: rapid.IntRange(0, 3).Draw(t, "client"), Nth: rapid.IntRange(0, 3).Draw(t, "nth"),
				Path: rapid.StringMatching(`(/[a-z#]{1,4}){0,2}`).Draw(t, "path")}
		}
		return r
	})
	return rapid.Custom(func(t *rapid.T) engine.Schedule {
		s := engine.Schedule{
			Scenario: phrase.Draw(t, "scenario"), Servers: rapid.IntRange(1, 9).Draw(t, "servers"),
			Order: rapid.Uint64().Draw(t, "order"), Seed: rapid.Uint64().Draw(t, "seed"),
			Names: rapid.SliceOfN(phrase, 0, 6).Draw(t, "names"),
			Notes: rapid.SliceOfN(rapid.StringMatching(`[ -~]{0,12}`), 0, 6).Draw(t, "notes"),
		}
		if len(s.Names) == 0 {
			s.Names = nil
		}
		if rules := rapid.SliceOfN(rule, 0, 3).Draw(t, "faults"); len(rules) > 0 {
			s.Faults = rules
		}
		if rapid.Bool().Draw(t, "sized") {
			s.Clients, s.Rounds = rapid.IntRange(2, 64).Draw(t, "clients"), rapid.IntRange(1, 1000).Draw(t, "rounds")
		}
		if rapid.Bool().Draw(t, "like") {
			s.Like = model.Keeper
		}
		if rapid.Bool().Draw(t, "lasting") {
			s.Safety = rapid.IntRange(1, 1<<20).Draw(t, "safety")
		}
		if rapid.Bool().Draw(t, "checked") {
			s.Checker = word.Draw(t, "checker")
		}
		return s
	})
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anySchedule().Draw(t, "schedule")
		var b strings.Builder
		if err := s.Write(&b); err != nil {
			t.Fatal(err)
		}
		got, err := engine.ParseSchedule(strings.NewReader(b.String()))
		if len(got.Lines) != len(got.Names) {
			t.Fatalf("%d names of %d lines", len(got.Names), len(got.Lines))
		}
		s.Notes, got.Lines = nil, nil
		if err != nil || !reflect.DeepEqual(got, s) {
			t.Fatalf("%v\n%+v\nwant\n%+v\ntext\n%s", err, got, s, &b)
		}
	})
}

func TestCommentsAndBlanksInASchedulesTextDoNotCount(t *testing.T) {
	text := "zksim schedule 1 # a schedule\r\n" +
		"# in the header\n" +
		"scenario lock/lock\t# the lock\n" +
		"# a comment does not end the header\n" +
		"\t# nor does an indented one\n" +
		"servers   3\n" +
		"faults lose-reply=1@path=/a#b\n" +
		"\n\n" +
		"  serve   c1  # served\n" +
		"\n" +
		"# between the names\n" +
		"deliver c1"
	got, err := engine.ParseSchedule(strings.NewReader(text))
	want := engine.Schedule{Scenario: "lock/lock", Servers: 3, Names: []string{"serve c1", "deliver c1"},
		Lines:  []int{10, 13},
		Faults: faults.Plan{{Fault: "lose-reply", Budget: 1, Aim: faults.Aim{Path: "/a#b"}}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestMalformedSchedulesAreRefusedWithWhatWasExpected(t *testing.T) {
	const head = "zksim schedule 1\nscenario lock/lock\n"
	long := strings.Repeat("x", 100)
	for _, x := range []struct{ text, want string }{
		{"", `line 1: a schedule begins with "zksim schedule 1"; the file is empty`},
		{"\n" + head, `line 1: a schedule begins with "zksim schedule 1", not ""`},
		{"zksim schedule 2\n", `line 1: a schedule begins with "zksim schedule 1", not "zksim schedule 2"`},
		{"\x00\xff\x1b[31m", `line 1: a schedule begins with "zksim schedule 1", not "\x00\xff\x1b[31m"`},
		{long, `line 1: a schedule begins with "zksim schedule 1", not "` + long[:60] + `..."`},
		{"zksim schedule 1\n", `line 1: the header has no scenario`},
		{"zksim schedule 1\nscenario\n\nserve c1\n", `line 4: the header has scenario, servers, like, order, faults, ` +
			`clients, rounds, safety, seed, checker and again, then an empty line; not "serve"`},
		{"zksim schedule 1\n\nserve c1\n", `line 3: the header has scenario, servers, like, order, faults, clients, ` +
			`rounds, safety, seed, checker and again, then an empty line; not "serve"`},
		{head + "serve c1\n", `line 3: the header has scenario, servers, like, order, faults, clients, rounds, safety, ` +
			`seed, checker and again, then an empty line; not "serve"`},
		{head + "again 3\n", `line 3: again is how many replays failed of how many, up to 1000, as 9/10, not "3"`},
		{head + "again 3/2\n", `line 3: again is how many replays failed of how many, up to 1000, as 9/10, not "3/2"`},
		{head + "servers 0\n", `line 3: servers is a number from 1 to 9, not "0"`},
		{head + "servers 10\n", `line 3: servers is a number from 1 to 9, not "10"`},
		{head + "servers -1\n", `line 3: servers is a number from 1 to 9, not "-1"`},
		{head + "servers\n", `line 3: servers is a number from 1 to 9, not ""`},
		{head + "like\n", `line 3: the server is zookeeper, keeper, zookeeper-3.9 or zookeeper-3.6, not ""`},
		{head + "like " + long + "\n", `line 3: the server is zookeeper, keeper, zookeeper-3.9 or zookeeper-3.6, not "` +
			long[:60] + `"`},
		{head + "like keeper\nlike keeper\n", `line 4: the header has like twice`},
		{head + "clients 1\n", `line 3: clients is a number from 2 to 64, not "1"`},
		{head + "clients 2\nclients 2\n", `line 4: the header has clients twice`},
		{head + "rounds 0\n", `line 3: rounds is a number from 1 to 1000, not "0"`},
		{head + "rounds 1001\n", `line 3: rounds is a number from 1 to 1000, not "1001"`},
		{head + "order x\n", `line 3: order is a number of 64 bits, not "x"`},
		{head + "order 0x10000000000000000\n", `line 3: order is a number of 64 bits, not "0x10000000000000000"`},
		{head + "seed -1\n", `line 3: seed is a number of 64 bits, not "-1"`},
		{head + "seed 0x1\n", `line 3: seed is a number of 64 bits, not "0x1"`},
		{head + "faults lose-replies=1\n", `line 3: fault plan: "lose-replies=1": no such fault; there are `},
		{head + "faults lose-reply=-1\n", `line 3: fault plan: "lose-reply=-1": the budget must be a number from 0 to ` +
			`2147483647, not "-1"`},
		{head + "faults sequence=1\n", `line 3: fault plan: "sequence=1": sequence needs exactly one aim, path=ZNODE`},
		{head + "\n" + strings.Repeat("x", engine.MaxLine+1), `line 4: no line of a schedule is longer than 65536 bytes`},
	} {
		_, err := engine.ParseSchedule(strings.NewReader(x.text))
		got := fmt.Sprint(err)
		if exact := !strings.HasSuffix(x.want, " "); exact && got != x.want || !strings.HasPrefix(got, x.want) {
			t.Errorf("%.80q:\n got %s\nwant %s", x.text, got, x.want)
		}
	}
}

func TestALineOfAScheduleHasUpToThatManyBytes(t *testing.T) {
	line := "tick # " + strings.Repeat("x", engine.MaxLine-len("tick # "))
	for _, end := range []string{"", "\n", "\ntick\n"} {
		_, err := engine.ParseSchedule(strings.NewReader("zksim schedule 1\nscenario lock/lock\n\n" + line + end))
		if err != nil {
			t.Errorf("%d bytes and %q: %v", len(line), end, err)
		}
	}
}

func TestASchedulesTextMayBeAnything(t *testing.T) {
	survives(t, "zksim schedule 1\nscenario lock/lock\n\n\u00a0# a blank that is no space")
	rapid.Check(t, func(t *rapid.T) {
		survives(t, rapid.String().Draw(t, "text"))
		survives(t, "zksim schedule 1\nscenario lock/lock\n"+rapid.String().Draw(t, "rest"))
	})
}

// survives parses a text, and if it is a schedule of a known scenario, runs it:
// whatever a file says, it is an answer or an error.
func survives(t interface{ Errorf(string, ...any) }, text string) {
	p, err := engine.ParseSchedule(strings.NewReader(text))
	if err != nil {
		if strings.ContainsAny(err.Error(), "\n\r\x1b") {
			t.Errorf("an error of several lines: %q", err)
		}
		return
	}
	var b strings.Builder
	p.Write(&b)
	q, err := engine.ParseSchedule(strings.NewReader(b.String()))
	if q.Lines = p.Lines; err != nil || !reflect.DeepEqual(p, q) {
		t.Errorf("%+v is read again as %+v, %v", p, q, err)
	}
	for i := range catalog.All {
		if catalog.All[i].Name != p.Scenario {
			continue
		}
		r := engine.NewRunner()
		defer r.Close()
		if res, err := r.Replay(&catalog.All[i], p); err == nil && res.Steps == 0 {
			t.Errorf("a run without steps")
		}
	}
}

func FuzzParseSchedule(f *testing.F) {
	f.Add("zksim schedule 1\nscenario lock/lock\nservers 9\norder 0x1f\nfaults lose-reply=1 sequence=3@path=/lock\nseed " +
		"17\n\nconnect c1 s2\n")
	f.Add("zksim schedule 1\nscenario lock/lock\nfaults sequence=3@path=/nowhere\n\n")
	f.Add("zksim schedule 1\nscenario lock/workers\nfaults crash=1@client=c60000\n\ncalm\ncalm\n")
	f.Fuzz(func(t *testing.T, text string) { survives(t, text) })
}
