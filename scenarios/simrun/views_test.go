package simrun

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"zksim/internal/pipeline"
	"zksim/reports"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

// traced is what the tests of exports are made of: runs with all kinds of steps, and one that was only recorded.
func traced(t *testing.T) map[string]*reports.Failure {
	t.Helper()
	list := map[string]*reports.Failure{}
	r := engine.NewRunner()
	defer r.Close()
	for _, name := range []string{"lock/lock", "lock/plain-create", "queue/queue", "barrier/double"} {
		s := scenarioNamed(name)
		if s == nil {
			continue
		}
		for seed := uint64(1); seed <= 6; seed++ {
			run := r.Seed(s, seed)
			r.Names(&run)
			f, err := pipeline.Trace(s, run.Schedule)
			if err != nil {
				t.Fatal(err)
			}
			list[fmt.Sprint(name, " ", seed)] = f
			if seed > 3 {
				continue
			}
			var text bytes.Buffer
			if err := reports.WriteHistory(&text, f.History); err != nil {
				t.Fatal(err)
			}
			h, err := reports.ReadHistory(&text)
			if err != nil {
				t.Fatal(err)
			}
			list[fmt.Sprint(name, " ", seed, " recorded")] = reports.Recorded(h)
		}
	}
	return list
}

func scenarioNamed(name string) *engine.Scenario {
	for i := range catalog.All {
		if catalog.All[i].Name == name {
			return &catalog.All[i]
		}
	}
	return nil
}

// traceFile is what the Trace Event Format says that a file consists of.
type traceFile struct {
	TraceEvents []struct {
		Name, Ph, Cat, Bp, S string
		Ts, Dur              *int
		Pid, Tid             *int
		ID                   int
		Args                 map[string]any
	}
	DisplayTimeUnit string
}

// checkTrace holds a trace to the rules of the format: what each phase must have, slices of a track that nest, arrows
// with both ends, each in a slice, and forward in time. It returns how many arrows of each name there are.
func checkTrace(t *testing.T, run string, text []byte) map[string]int {
	t.Helper()
	var file traceFile
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		t.Fatalf("%s: %v", run, err)
	}
	type slice struct{ from, to int }
	type end struct{ track, ts int }
	tracks, named, begun, arrows := map[int][]slice{}, map[int]bool{}, map[int]end{}, map[string]int{}
	ended := map[int]end{}
	for _, e := range file.TraceEvents {
		if e.Name == "" || e.Pid == nil || e.Tid == nil || e.Ts == nil {
			t.Fatalf("%s: an event without name, pid, tid or ts: %+v", run, e)
		}
		track := *e.Pid*1000 + *e.Tid
		switch e.Ph {
		case "M":
			named[track] = named[track] || e.Name == "thread_name" && e.Args["name"] != ""
		case "X":
			if e.Dur == nil || *e.Dur <= 0 {
				t.Fatalf("%s: a slice that does not last: %+v", run, e)
			}
			tracks[track] = append(tracks[track], slice{*e.Ts, *e.Ts + *e.Dur})
		case "s":
			begun[e.ID] = end{track, *e.Ts}
			arrows[e.Name]++
		case "f":
			ended[e.ID] = end{track, *e.Ts}
			if e.Bp != "e" {
				t.Errorf("%s: an arrow that does not end in the slice around it: %+v", run, e)
			}
		case "i":
			if e.S != "g" {
				t.Errorf("%s: %+v", run, e)
			}
		default:
			t.Errorf("%s: phase %q", run, e.Ph)
		}
	}
	for track, list := range tracks {
		if !named[track] {
			t.Errorf("%s: track %d has no name", run, track)
		}
		slices.SortFunc(list, func(a, b slice) int { return a.from - b.from })
		for i := 1; i < len(list); i++ {
			if list[i].from < list[i-1].to {
				t.Fatalf("%s: slices of track %d overlap: %v", run, track, list[i-1:i+1])
			}
		}
	}
	inside := func(x end) bool {
		return slices.ContainsFunc(tracks[x.track], func(s slice) bool { return s.from <= x.ts && x.ts < s.to })
	}
	if len(begun) != len(ended) {
		t.Errorf("%s: %d arrows begin and %d end", run, len(begun), len(ended))
	}
	for id, a := range begun {
		if b, ok := ended[id]; !ok || !inside(a) || !inside(b) || b.ts <= a.ts {
			t.Fatalf("%s: arrow %d from %v to %v", run, id, a, b)
		}
	}
	return arrows
}

func TestATraceKeepsTheRulesOfItsFormat(t *testing.T) {
	all := map[string]int{}
	for run, f := range traced(t) {
		var text, again bytes.Buffer
		if err := reports.WritePerfetto(&text, f); err != nil {
			t.Fatal(err)
		}
		reports.WritePerfetto(&again, f)
		if !bytes.Equal(text.Bytes(), again.Bytes()) {
			t.Errorf("%s: two traces of one run differ", run)
		}
		recorded := strings.HasSuffix(run, "recorded")
		for name, n := range checkTrace(t, run, text.Bytes()) {
			all[fmt.Sprint(name, recorded)] += n
		}
	}
	for _, want := range []string{"request", "reply", "txn", "watch event", "fault"} {
		if all[want+"false"] == 0 || all[want+"true"] == 0 && want != "txn" && want != "fault" {
			t.Errorf("no arrow is a %s: %v", want, all)
		}
	}
}

// checkShiviz holds a text to what ShiViz asks for: its pattern takes all of it, each host counts its own events from
// 1, a clock knows of no event that does not come earlier, and is nowhere behind the one before it. It returns how many
// events have news of another host.
func checkShiviz(t *testing.T, run, text string) (news int) {
	t.Helper()
	pattern := regexp.MustCompile(strings.ReplaceAll(reports.ShivizPattern, "(?<", "(?P<"))
	if rest := strings.Trim(pattern.ReplaceAllString(text, ""), "\n"); rest != "" {
		t.Fatalf("%s: not read: %q", run, rest)
	}
	last := map[string]map[string]int{}
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		host, event := m[1], m[3]
		clock := map[string]int{}
		if err := json.Unmarshal([]byte(m[2]), &clock); err != nil || event == "" {
			t.Fatalf("%s: %v, %q", run, err, m[0])
		}
		if clock[host] != last[host][host]+1 {
			t.Fatalf("%s: %s counts %d after %d", run, host, clock[host], last[host][host])
		}
		for h, n := range clock {
			if n < last[host][h] || h != host && n > last[h][h] {
				t.Fatalf("%s: %q knows event %d of %s, which has %d", run, m[0], n, h, last[h][h])
			}
			if h != host && n > last[host][h] {
				news++
			}
		}
		for h := range last[host] {
			if clock[h] < last[host][h] {
				t.Fatalf("%s: %q forgets %s", run, m[0], h)
			}
		}
		last[host] = maps.Clone(clock)
	}
	if len(last) < 2 {
		t.Errorf("%s: %d hosts", run, len(last))
	}
	return news
}

func TestShivizTextsHaveVectorClocks(t *testing.T) {
	for run, f := range traced(t) {
		var text strings.Builder
		if err := reports.WriteShiviz(&text, f); err != nil {
			t.Fatal(err)
		}
		if checkShiviz(t, run, text.String()) == 0 {
			t.Errorf("%s: no host hears of another", run)
		}
	}
}

func TestExportsOfAScheduleAndOfItsHistory(t *testing.T) {
	inShortRun(t)
	if r := simrun(t, "replay", "-o", "page", "schedule.txt"); r.code != exitViolation {
		t.Fatalf("%+v", r)
	}
	s := scenarioNamed("lock/plain-create")
	p, err := engine.ParseSchedule(strings.NewReader(shortRun))
	if err != nil {
		t.Fatal(err)
	}
	told, err := pipeline.Trace(s, p)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := reports.WriteHistory(&text, told.History); err != nil {
		t.Fatal(err)
	}
	write(t, "history.jsonl", text.String())
	for _, file := range []string{"schedule.txt", "history.jsonl"} {
		r := simrun(t, "replay", "-perfetto", "trace.json", "-shiviz", "shiviz.txt", file)
		if r.err != "" {
			t.Errorf("%+v", r)
		}
		for name, check := range map[string]func(string){
			"trace.json": func(s string) { checkTrace(t, file, []byte(s)) },
			"shiviz.txt": func(s string) { checkShiviz(t, file, s) },
		} {
			body, err := os.ReadFile(filepath.Join(".", name))
			if err != nil {
				t.Fatal(err)
			}
			check(string(body))
		}
		if r := simrun(t, "replay", "-shiviz", "-", file); checkShiviz(t, file, r.out) == 0 {
			t.Errorf("%+v", r)
		}
	}
	if r := simrun(t, "replay", "-columns", "history.jsonl"); r.code != exitHeld ||
		!strings.Contains(r.out, "step | ensemble ") {
		t.Errorf("%+v", r)
	}
	write(t, "bad.jsonl", `{"kind":"cal"}`+"\n")
	write(t, "worse.jsonl", `{"kind":"call","client":"x1"}`+"\n")
	for _, x := range []struct{ args, want string }{
		{"history.jsonl", "history.jsonl: a history cannot be run again, expected -v, -columns, -perfetto or " +
			"-shiviz to show it"},
		{"-v -o page history.jsonl", "history.jsonl: a history cannot be run again, expected -v, "},
		{"-v bad.jsonl", `bad.jsonl: line 1: no kind of event is called "cal", expected one of invoke, return, `},
		{"-v worse.jsonl", `worse.jsonl: line 1: a client is c1 to c1048576, not "x1"`},
		{"-perfetto - -shiviz - schedule.txt", "-perfetto - and -shiviz - both write to the standard output"},
		{"-perfetto - -v schedule.txt", "-v and -columns write to the standard output, and so does a file -"},
		{"-perfetto x -shiviz ./x schedule.txt", "-perfetto and -shiviz are both ./x, expected a file for each"},
		{"-shiviz ./schedule.txt schedule.txt", "-shiviz: ./schedule.txt is the file to read, expected another one"},
		{"-debug 1 -columns schedule.txt", "-debug runs Delve and shows nothing else, expected none of -v, -columns, "},
		{"-perfetto ./ schedule.txt", "-perfetto: ./ is a folder, not a file"},
	} {
		if r := simrun(t, append([]string{"replay"}, strings.Fields(x.args)...)...); r.code != exitUsage ||
			!strings.HasPrefix(r.err, "simrun replay: "+x.want) {
			t.Errorf("%s: %+v", x.args, r)
		}
	}
}

func TestAFileThatIsReadFromAFolderIsNotWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	if r := simrun(t, "check", "-v", "-seeds", "2", "lock/plain-create"); r.code != exitHeld {
		t.Fatalf("%+v", r)
	}
	dir := filepath.Join("out", "lock.plain-create", "2")
	for _, x := range []struct{ command, flag, file, arg string }{
		{"replay", "-perfetto", pipeline.ScheduleFile, ""},
		{"replay", "-shiviz", pipeline.ScheduleFile, ""},
		{"explain", "-o", pipeline.HistoryFile, ""},
		{"explain", "-o", "report.json", ""},
		{"explain", "-o", "report.json", pipeline.HistoryFile},
	} {
		file := filepath.Join(dir, x.file)
		r := simrun(t, x.command, x.flag, file, filepath.Join(dir, x.arg))
		want := "simrun " + x.command + ": " + x.flag + ": " + file + " is the file to read, expected another one\n"
		if r.code != exitUsage || r.err != want {
			t.Errorf("%v: %+v", x, r)
		}
	}
}
