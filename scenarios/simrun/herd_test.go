package simrun

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"zksim/internal/files"
	"zksim/internal/plots"
	"zksim/internal/zkserver/zkservertest"
	"zksim/scenarios/catalog/variants"
	"zksim/scenarios/herd"
)

func TestHerdWritesNumbersPlotsAndPage(t *testing.T) {
	t.Chdir(t.TempDir())
	args := []string{"herd", "-clients", "20,1,80,20,40", "-variants", "^lock|poll-50", "-seed", "7"}
	r := simrun(t, args...)
	if r.code != exitHeld || r.err != "" || !strings.Contains(r.out, "lock/single-node  40") ||
		!strings.HasSuffix(r.out, "\nout/herd/herd.html\n") {
		t.Fatalf("%+v", r)
	}
	var all []herd.Measurement
	text, err := os.ReadFile("out/herd/herd.json")
	if err != nil || json.Unmarshal(text, &all) != nil || len(all) != 12 {
		t.Fatalf("%v, %d measurements", err, len(all))
	}
	if m := all[7]; m.Variant != "lock/single-node" || m.Clients != 80 || m.Notifications != 79 || m.Seed != 7 {
		t.Errorf("%+v", m)
	}
	f, err := os.Open("out/herd/herd.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != 13 || rows[8][slices.Index(rows[0], "notifications")] != "79" {
		t.Errorf("%v, %v", err, rows)
	}
	page, err := os.ReadFile("out/herd/herd.html")
	if err != nil || !strings.Contains(string(page), "lock/single-node, slope 1.0") ||
		strings.Contains(string(page), "queue/all,") {
		t.Errorf("%v, a page of %d bytes", err, len(page))
	}
	drawn, _ := filepath.Glob("out/herd/*.png")
	vectors, _ := filepath.Glob("out/herd/*.svg")
	if len(drawn) != len(vectors) || len(drawn) != strings.Count(string(page), "<figure") || len(drawn) != 8 {
		t.Errorf("%q and %q", drawn, vectors)
	}
	again := simrun(t, append(args, "-o", "again")...)
	other, err := os.ReadFile("again/herd.json")
	if err != nil || string(other) != string(text) {
		t.Errorf("the same seed gives other numbers (%v): %s", err, again.out)
	}
}

// Whoever has variants of their own looks for these on the page, and not only for the memory of watches.
func TestHerdDrawsTheVariantsOfAnotherProgram(t *testing.T) {
	t.Chdir(t.TempDir())
	own := variants.All[1]
	own.Name = "mine/single-node"
	var out, errs strings.Builder
	a := &app{variants: []herd.Variant{own}, out: &out, err: &errs}
	if code := a.main(t.Context(), []string{"herd", "-clients", "20,40,80"}); code != exitHeld || errs.Len() > 0 {
		t.Fatalf("%d: %s", code, &errs)
	}
	page, err := os.ReadFile("out/herd/herd.html")
	if err != nil || !strings.Contains(string(page), "mine/single-node, slope 1.0") {
		t.Errorf("%v, a page of %d bytes", err, len(page))
	}
	for _, f := range ownFigures {
		if _, err := os.Stat("out/herd/" + f.name + ".svg"); err != nil || !strings.Contains(string(page), f.title) {
			t.Errorf("figure %s: %v", f.name, err)
		}
	}
}

func TestHerdLeavesNoFigureOfAnEarlierRun(t *testing.T) {
	t.Chdir(t.TempDir())
	earlier := []string{"wasted.png", "wasted.svg", "compare.json", "compare.csv"} // of a herd, on a real server
	for _, name := range append(earlier, "mine.png") {
		if err := files.Save("plots", name, text("earlier")); err != nil {
			t.Fatal(err)
		}
	}
	r := simrun(t, "herd", "-variants", "^lock/sequential$", "-clients", "1,5", "-o", "plots")
	if r.code != exitHeld || r.err != "" {
		t.Fatalf("%+v", r)
	}
	for _, name := range earlier {
		if _, err := os.Stat(filepath.Join("plots", name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", name, err)
		}
	}
	for _, name := range []string{"mine.png", "herd.html", "fanout-locks.png"} {
		if _, err := os.Stat(filepath.Join("plots", name)); err != nil {
			t.Error(err)
		}
	}
}

func TestAVariantIsDescribedByWhatItSays(t *testing.T) {
	for want, v := range map[string]herd.Variant{
		"":                           {},
		"Élus.":                      {Doc: "élus"},
		"Counted by: one is served.": {Goes: "one is served"},
		"A queue. Counted by: a client is next. Promised: no waste. Measured with up to 1 client; with more it would " +
			"take too long.": {Doc: "a queue", Goes: "a client is next", Claims: []herd.Claim{{Doc: "no waste"}}, Most: 1},
	} {
		if got := describeVariant(&v); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

func TestHerdRefusesBadFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	os.WriteFile("file", nil, 0o666)
	for want, args := range map[string][]string{
		`-clients are numbers from 1 to 100000, as 1,10,100, not "0"`:      {"-clients", "0"},
		`-clients are numbers from 1 to 100000, as 1,10,100, not "1,,2"`:   {"-clients", "1,,2"},
		`-clients are numbers from 1 to 100000, as 1,10,100, not "100001"`: {"-clients", "100001"},
		`-clients are numbers from 1 to 1000, as 1,10,100, not "1001"`: {"-clients", "1001", "-backend",
			"zookeeper"},
		`-backend is sim or zookeeper, not "real"`:            {"-backend", "real"},
		`-servers and -nodes go with -backend zookeeper only`: {"-nodes", "1"},
		`-servers and -nodes exclude each other`: {"-backend", "zookeeper",
			"-nodes", "1", "-servers", "a:1"},
		`-nodes is 1 or 3, not 2`: {"-backend", "zookeeper",
			"-nodes", "2"},
		`-servers is host:port,..., not "host"`: {"-backend", "zookeeper",
			"-servers", "host"},
		`-clients: so many are too many for the variants chosen, which go up to`: {"-clients", "9000", "-variants",
			"naive"},
		`-variants: error parsing regexp`:                                                  {"-variants", "("},
		`-variants: nothing matches "^none$"; there are lock/sequential, lock/single-node`: {"-variants", "^none$"},
		`unexpected argument "x"`:                                                          {"x"},
		`-o: mkdir file`:                                                                   {"-o", "file", "-clients", "1"},
	} {
		r := simrun(t, append([]string{"herd"}, args...)...)
		if r.code != exitUsage || !strings.HasPrefix(r.err, "simrun herd: "+want) || strings.Count(r.err, "\n") != 1 ||
			r.out != "" {
			t.Errorf("%q: %+v", args, r)
		}
	}
	if _, err := os.Stat("out"); err == nil {
		t.Error("it left a folder")
	}
}

func TestHerdKeepsWhatIsDoneWhenInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, stop := context.WithCancel(context.Background())
	stop()
	r := simrunUntil(ctx, "herd")
	if r.code != exitInconclusive || !strings.Contains(r.err, "interrupted after 0 of") ||
		!regexp.MustCompile(`; not done: ([^,]+, ){3}and \d+ more\n$`).MatchString(r.err) {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat("out/herd/herd.html"); err == nil {
		t.Error("a page of nothing")
	}
}

// Every figure has a text and is about variants that there are, and every variant is
// in a figure.
func TestHerdFiguresAreAboutTheVariants(t *testing.T) {
	var names []string
	for i := range variants.All {
		names = append(names, variants.All[i].Name)
	}
	shown := map[string]bool{}
	for _, f := range herdFigures {
		if len(f.text) < 100 || f.title == "" || f.y == "" {
			t.Errorf("figure %s says too little", f.name)
		}
		for _, v := range f.variants {
			shown[v] = true
			if !slices.Contains(names, v) {
				t.Errorf("figure %s: there is no variant %s", f.name, v)
			}
		}
	}
	for _, name := range names {
		if !shown[name] {
			t.Errorf("%s is in no figure", name)
		}
	}
}

func TestTheHerdDocumentShowsWhatTheToolPrints(t *testing.T) {
	doc, err := os.ReadFile("../../docs/herd.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, ok := strings.Cut(string(doc), "$ go run ./cmd/simrun herd -clients 100\n")
	shown, _, closed := strings.Cut(shown, "```\n")
	if !ok || !closed {
		t.Fatal("docs/herd.md does not show the command")
	}
	t.Chdir(t.TempDir())
	if r := simrun(t, "herd", "-clients", "100"); r.out != shown {
		t.Errorf("docs/herd.md shows\n%s\nthe tool prints\n%s", shown, r.out)
	}
}

func TestHerdComparesWithARealEnsemble(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).ConnectString()
	t.Chdir(t.TempDir())
	args := []string{"herd", "-backend", "zookeeper", "-servers", addrs, "-clients", "1,6", "-variants",
		"^lock/single|leave/lowest|rearm/8"}
	r := simrun(t, args...)
	if r.code != exitHeld || r.err != "" || !strings.Contains(r.out, " counts are equal, simulated and real") ||
		strings.Contains(r.out, "WRONG") {
		t.Fatalf("%+v", r)
	}
	f, err := os.Open("out/herd/compare.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != 1+3*2*11 {
		t.Errorf("%v, %d rows", err, len(rows))
	}
	fired := 0
	for _, row := range rows[1:] {
		if row[2] == "notifications to clients / watches fired by mntr" && row[3] != "0" && row[5] == "equal" {
			fired++
		}
	}
	if fired != 6 {
		t.Errorf("in %d of 6 measurements the server counted what the clients did", fired)
	}
	page, err := os.ReadFile("out/herd/herd.html")
	if err != nil || !strings.Contains(string(page), ">on ZooKeeper<") ||
		!strings.Contains(string(page), "<h2>Simulated and real</h2>") {
		t.Errorf("%v: the page shows nothing real", err)
	}
	var counts []string // more than there is time for
	for n := range 100 {
		counts = append(counts, strconv.Itoa(n+1))
	}
	ctx, stop := context.WithTimeout(context.Background(), 12*time.Second)
	defer stop()
	r = simrunUntil(ctx, append(args, "-o", "stopped", "-clients", strings.Join(counts, ","), "-variants",
		"lock/single")...)
	var all []herd.Measurement
	text, err := os.ReadFile("stopped/herd.json")
	if r.code != exitInconclusive || !strings.Contains(r.err, "interrupted after ") || err != nil ||
		json.Unmarshal(text, &all) != nil || len(all) < 1 {
		t.Errorf("%+v, %v, %d measurements", r, err, len(all))
	}
}

func TestHerdSaysThatAnEnsembleDoesNotAnswer(t *testing.T) {
	t.Chdir(t.TempDir())
	r := simrun(t, "herd", "-backend", "zookeeper", "-servers", "127.0.0.1:1", "-clients", "1", "-variants", "rwlock")
	const want = "simrun herd: -servers: dial tcp 127.0.0.1:1: connect: connection refused\n"
	if r.code != exitUsage || r.err != want {
		t.Errorf("%+v", r)
	}
}

// A count that differs although it must not is a violation, and is said.
func TestHerdComplainsOfADifferenceThatMustNotBe(t *testing.T) {
	v := &variants.All[0]
	simulated := herd.Measurement{Variant: v.Name, Clients: 5, Notifications: 1}
	live := herd.Measurement{Variant: v.Name, Clients: 5, Notifications: 1.5,
		Server: &herd.Server{Fired: 7, Notifications: 7}}
	s := sweep{real: true, variants: []*herd.Variant{v}, jobs: []job{{v, 5, &simulated, &live}}}
	all, code := s.differences()
	var out strings.Builder
	s.explain(&app{out: &out}, all)
	const want = "\nWRONG lock/sequential with 5 clients: notifications: 1 and 1.5, although the protocol determines it\n"
	if code != exitViolation || !strings.Contains(out.String(), want) {
		t.Errorf("%d: %s", code, out.String())
	}
}

// A reader who knows a variant in one figure finds it in the others.
func TestAVariantLooksTheSameInAllFiguresAndLikeNoOther(t *testing.T) {
	shared := 0
	for _, f := range herdFigures {
		seen := map[plots.Look]string{}
		colors := map[int]bool{}
		for _, variant := range f.variants {
			look, known := looks[variant]
			if f.intervals {
				continue // its lines are numbers of clients
			}
			if !known || look.Color < 1 || look.Color > plots.Colors || look.Marker < 1 || look.Marker > plots.Markers {
				t.Errorf("%s: %s looks like %+v", f.name, variant, look)
			}
			if other := seen[look]; other != "" {
				t.Errorf("%s: %s looks like %s", f.name, variant, other)
			}
			if colors[look.Color] {
				shared++
			}
			seen[look], colors[look.Color] = variant, true
		}
		for _, l := range f.byVariant(nil) {
			if !f.intervals && l.Look != looks[l.Name] {
				t.Errorf("%s: %+v", f.name, l)
			}
		}
	}
	if shared > 1 {
		t.Errorf("%d times two variants of a figure share their colour, expected once", shared)
	}
}
