package recording

import (
	"bytes"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model"
	"zksim/scenarios/engine"
	"zksim/scenarios/serve"
)

var open = zk.WorldACL(zk.PermAll)

type silent struct{}

func (silent) Printf(string, ...any) {}

func connect(t *testing.T, e *serve.Ensemble) *zk.Conn { return connectBy(t, e, net.DialTimeout) }

func connectBy(t *testing.T, e *serve.Ensemble, dial zk.Dialer) *zk.Conn {
	t.Helper()
	c, events, err := zk.Connect(e.Addrs(), 10*time.Second, zk.WithLogInfo(false), zk.WithLogger(silent{}),
		zk.WithDialer(dial))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	for ev := range events {
		if ev.State == zk.StateHasSession {
			break
		}
	}
	return c
}

// record serves f and returns the recording of it as it is written.
func record(t *testing.T, o serve.Options, f func(e *serve.Ensemble)) []byte {
	t.Helper()
	o.Record = true
	e, err := serve.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	f(e)
	var text bytes.Buffer
	if err := e.WriteRecording(&text); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// replayed returns what a recording comes to.
func replayed(t *testing.T, text []byte) engine.Result {
	t.Helper()
	r, err := serve.ReadRecording(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Scenario("recorded:x", r)
	if err != nil {
		t.Fatal(err)
	}
	schedule, err := Schedule(s, r)
	if err != nil {
		t.Fatal(err)
	}
	runner := engine.NewRunner()
	t.Cleanup(runner.Close)
	res, err := runner.Replay(s, schedule)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// playedAgain returns the recording of f, which ends with a finding, and the run that it is replayed as.
func playedAgain(
	t *testing.T, o serve.Options, f func(t *testing.T, e *serve.Ensemble),
) (*serve.Recording, engine.Result) {
	t.Helper()
	text := record(t, o, func(e *serve.Ensemble) {
		f(t, e)
		if err := e.Report("no such thing"); err != nil {
			t.Fatal(err)
		}
	})
	r, err := serve.ReadRecording(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	res := replayed(t, text)
	return r, res
}

// everything makes a request of each kind that a program can make, with answers of both sorts.
func everything(t *testing.T, e *serve.Ensemble) {
	a, b := connect(t, e), connect(t, e)
	a.AddAuth("digest", []byte("user:secret"))
	a.Create("/a", []byte("x"), 0, open)
	a.Create("/a/s-", nil, zk.FlagSequence, open)
	a.CreateContainer("/c", nil, zk.FlagContainer, open)
	a.CreateTTL("/t", nil, zk.FlagTTL, open, time.Hour)
	b.Sync("/")
	b.GetW("/a")
	b.ChildrenW("/a")
	b.ExistsW("/none")
	a.Set("/a", []byte("y"), 7)
	a.Set("/a", []byte("y"), 0)
	a.Delete("/a/s-0000000000", -1)
	a.Delete("/a/s-0000000000", -1)
	a.Multi(&zk.CreateRequest{Path: "/m", Acl: open}, &zk.SetDataRequest{Path: "/m", Version: -1},
		&zk.CheckVersionRequest{Path: "/m", Version: 1}, &zk.DeleteRequest{Path: "/m", Version: -1})
	a.SetACL("/a", zk.DigestACL(zk.PermAll, "user", "secret"), -1)
	b.Sync("/")
	b.Get("/a")
	b.GetACL("/a")
	b.Exists("/none")
	b.Children("/")
	b.Create("/e", nil, zk.FlagEphemeral, open)
	b.Close()
	a.Sync("/")
	a.Exists("/e")
}

// A client of a test may ask for more than a scenario has rounds, or a run usually has steps.
func TestALongRecordingIsStruckAtItsEndAgain(t *testing.T) {
	t.Parallel()
	const requests = 7001
	_, res := playedAgain(t, serve.Options{}, func(t *testing.T, e *serve.Ensemble) {
		a := connect(t, e)
		for range requests / 2 {
			a.Exists("/none")
			a.Exists("/a")
		}
		if err := e.Strike("lose-reply=1@op=create"); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Create("/a", nil, 0, open); err != zk.ErrConnectionClosed {
			t.Fatal(err)
		}
	})
	if !strings.Contains(res.Verdict.Message, "no such thing") ||
		!slices.Contains(res.Schedule.Names, "lose-reply c1") {
		t.Errorf("%v, %d steps", res.Verdict, len(res.Schedule.Names))
	}
}

// The last clients to come have asked for nothing.
func TestClientsThatHaveAskedForNothingAreNotPlayed(t *testing.T) {
	t.Parallel()
	rec, res := playedAgain(t, serve.Options{}, func(t *testing.T, e *serve.Ensemble) {
		connect(t, e).Create("/a", nil, 0, open)
		connect(t, e)
		if err := e.Strike("disconnect=1@client=c2"); err != nil {
			t.Fatal(err)
		}
	})
	if s, err := Scenario("recorded:x", rec); err != nil || s.Doc != "what clients have asked 1 served server for" {
		t.Errorf("%v, %v", s, err)
	}
	if !strings.Contains(res.Verdict.Message, "no such thing") {
		t.Error(res.Verdict)
	}
}

func TestStepsOfClientsThatARecordingDoesNotHaveAreLeftOut(t *testing.T) {
	t.Parallel()
	rec, _ := playedAgain(t, serve.Options{}, func(t *testing.T, e *serve.Ensemble) {
		connect(t, e).Create("/a", nil, 0, open)
	})
	s, err := Scenario("recorded:x", rec)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Schedule(s, rec)
	if err != nil {
		t.Fatal(err)
	}
	for _, who := range []string{"", "c", "c0", "c-1", "c99999999999999999999", "cnull"} {
		other := *rec
		other.Steps = append([]string{"ask " + who}, rec.Steps...)
		if got, err := Schedule(s, &other); err != nil || !slices.Equal(got.Names, want.Names) {
			t.Errorf("ask %s: %v, %q, expected %q", who, err, got.Names, want.Names)
		}
	}
}

func TestMoreClientsThanARecordingHasAskForNothing(t *testing.T) {
	t.Parallel()
	rec, _ := playedAgain(t, serve.Options{}, func(t *testing.T, e *serve.Ensemble) {
		connect(t, e).Create("/a", nil, 0, open)
	})
	s, err := Scenario("recorded:x", rec)
	if err != nil {
		t.Fatal(err)
	}
	larger, err := s.Sized(3, 0)
	if err != nil {
		t.Fatal(err)
	}
	runner := engine.NewRunner()
	t.Cleanup(runner.Close)
	for seed := range uint64(5) {
		res := runner.Seed(&larger, seed)
		if v := res.Verdict; v.Checker != "finally" || !strings.Contains(v.Message, "no such thing") {
			t.Errorf("seed %d: %+v", seed, v)
		}
	}
}

func TestEveryOperationOfARecordingIsAnsweredAsItWas(t *testing.T) {
	t.Parallel()
	for _, plan := range []string{"", "lose-reply=1@client=c1,op=set,nth=2", "learn-late=1@client=c2", "elect"} {
		for _, nodes := range []int{1, 3} {
			if plan == "elect" && nodes == 1 {
				continue
			}
			p, err := faults.Parse(plan)
			if err != nil {
				t.Fatal(err)
			}
			r, res := playedAgain(t, serve.Options{Nodes: nodes, Faults: p, Lag: time.Millisecond}, everything)
			got, want := answered(res.History), asRecorded(r)
			if plan == "" && !slices.EqualFunc(got, want, slices.Equal) || len(want) < 2 || len(want[0]) < 10 {
				t.Errorf("%s with %d: %v\n%q\n%q\n%q", plan, nodes, res.Verdict, r.Steps, got, want)
			}
			v := res.Verdict
			if plan == "" && (v.Level != checkers.Violated || !strings.HasSuffix(v.Message, "no such thing")) {
				t.Errorf("%+v", v)
			}
		}
	}
}

// interrupted has a client lose its connection between two requests, write after another client has, and be idle for so
// long that its library makes sure that the connection is there, while the other one works. It ends early, and says so,
// when the first session expired, as it does on a machine that stood still.
func interrupted(t *testing.T, e *serve.Ensemble) (expired bool) {
	var sock net.Conn
	a, events, err := zk.Connect(e.Addrs(), 2*time.Second, zk.WithLogInfo(false), zk.WithLogger(silent{}),
		zk.WithDialer(func(network, addr string, d time.Duration) (_ net.Conn, err error) {
			sock, err = net.DialTimeout(network, addr, d)
			return sock, err
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	session := func() {
		for ev := range events {
			if ev.State == zk.StateHasSession {
				return
			}
		}
	}
	session()
	own := a.SessionID()
	b := connect(t, e)
	for range 3 {
		a.ExistsW("/x")
		a.Create("/a-", nil, zk.FlagSequence, open)
		sock.Close()
		session()
		for !watches(e, "c1") { // the library sets them again in a goroutine of its own, and simulated ones do at once
			if a.SessionID() != own {
				return true
			}
			time.Sleep(time.Millisecond)
		}
		b.Create("/x", nil, 0, open)
		a.Delete("/x", 0)
		a.Create("/a-", nil, zk.FlagSequence, open)
		time.Sleep(time.Second)
		b.Create("/x", nil, 0, open)
		a.Sync("/")
		a.Exists("/x")
		b.Delete("/x", 0)
	}
	return a.SessionID() != own
}

// watches reports whether a client has watches.
func watches(e *serve.Ensemble, client string) bool {
	return slices.ContainsFunc(e.State().Sessions, func(s serve.SessionState) bool {
		return s.Client == client && len(s.Watches) > 0
	})
}

func TestClientsThatAreInterruptedOrIdleAreAnsweredAsTheyWere(t *testing.T) {
	t.Parallel()
	for _, nodes := range []int{1, 3} {
		var r *serve.Recording
		var res engine.Result
		for try, expired := 0, true; expired; try++ {
			if try == 3 {
				t.Fatal("the session expired three times")
			}
			r, res = playedAgain(t, serve.Options{Nodes: nodes, TickTime: 100 * time.Millisecond},
				func(t *testing.T, e *serve.Ensemble) { expired = interrupted(t, e) })
		}
		got, want := answered(res.History), asRecorded(r)
		if !slices.EqualFunc(got, want, slices.Equal) || len(want) != 2 || len(want[0]) < 15 {
			t.Errorf("with %d: %v\n%q\n%q\n%q", nodes, res.Verdict, r.Steps, got, want)
		}
	}
}

func TestWhatIsLeftOverIsLeftOverAgain(t *testing.T) {
	t.Parallel()
	text := record(t, serve.Options{}, func(e *serve.Ensemble) {
		var sock net.Conn
		c := connectBy(t, e, func(network, addr string, d time.Duration) (_ net.Conn, err error) {
			if sock != nil {
				return nil, errors.New("the client has gone")
			}
			sock, err = net.DialTimeout(network, addr, d)
			return sock, err
		})
		c.Create("/e-", nil, zk.FlagEphemeralSequential, open)
		sock.Close()
		for len(e.Judge().Violations) == 0 { // until the server knows
			time.Sleep(time.Millisecond)
		}
	})
	file := filepath.Join(t.TempDir(), "left.jsonl")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	s, schedule, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	runner := engine.NewRunner()
	defer runner.Close()
	res, err := runner.Replay(s, schedule)
	if err != nil || !strings.HasPrefix(res.Verdict.Message, "left over: /e-0000000000 of c1") {
		t.Errorf("%v, %+v", err, res.Verdict)
	}
	// What is no recording is one clear error.
	for _, x := range []struct{ text, want string }{
		{"", "no recording"},
		{`{"kind":"call"}`, "no recording"},
		{"x", "line 1: "},
		{`{"kind":"recording","format":"zksim recording 5","servers":2}`, "of 2 servers, expected 1 or 3"},
		{`{"kind":"recording","format":"zksim recording 5","servers":1,"incomplete":"more than 3 clients"}`,
			"ended with more than 3 clients"},
		{`{"kind":"recording","format":"zksim recording 5","servers":1}` + "\n" + `{"kind":"end","lines":1}`,
			"no client has asked for anything"},
		{`{"kind":"recording","format":"zksim recording 5","servers":1}` + "\n" + `{"kind":"request","packet":"AA=="}`,
			"line 2: packet"},
		{`{"kind":"recording","format":"zksim recording 5","servers":1}` + "\n" +
			`{"kind":"request","number":99999,"packet":"AAAAAQAAAAs="}`, "expected 1 to 1000"},
	} {
		if err := os.WriteFile(file, []byte(x.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Load(file); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, expected %q", x.text, err, x.want)
		}
	}
}

func TestWhatWasReadIsComparedWithTheRecording(t *testing.T) {
	t.Parallel()
	text := string(record(t, serve.Options{}, func(e *serve.Ensemble) {
		a, b := connect(t, e), connect(t, e)
		a.Create("/flag", []byte("old"), 0, open)
		a.Set("/flag", []byte("new"), -1)
		b.Get("/flag")
		b.Children("/")
		e.Report("what was read is wrong")
	}))
	const held = "each client was answered as in the recording"
	if res := replayed(t, []byte(text)); !strings.HasPrefix(res.Verdict.Message, held) {
		t.Fatalf("%+v", res.Verdict)
	}
	for _, x := range []struct{ recorded, other, why string }{
		{`\"new\" of version 1`, `\"old\" of version 0`,
			`c2's 1st request was answered get: "new" of version 1, in the recording get: "old" of version 0`},
		{`2 children: flag zookeeper`, `1 children: zookeeper`,
			`c2's 2nd request was answered children: 2 children: flag zookeeper, in the recording children: 1 children: ` +
				`zookeeper`},
	} {
		changed := strings.Replace(text, x.recorded, x.other, 1)
		if changed == text {
			t.Fatalf("%s is not in %s", x.recorded, text)
		}
		res := replayed(t, []byte(changed))
		file := filepath.Join(t.TempDir(), "changed.jsonl")
		if err := os.WriteFile(file, []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
		why, err := NotReproduced(file, res.History)
		if want := "not reproduced: reported: what was read is wrong: " + x.why; err != nil || why != want ||
			res.Verdict.Level != checkers.OK {
			t.Errorf("%+v\n%q, expected\n%q: %v", res.Verdict, why, want, err)
		}
	}
}

func TestTheTimeOfATTLZnodeGoesByAgain(t *testing.T) {
	t.Parallel()
	text := record(t, serve.Options{ContainerCheck: 10 * time.Millisecond}, func(e *serve.Ensemble) {
		a := connect(t, e)
		a.CreateTTL("/t", nil, zk.FlagTTL, open, 50*time.Millisecond)
		for there := true; there; there, _, _ = a.Exists("/t") {
			time.Sleep(5 * time.Millisecond)
		}
		e.Report("it is gone")
	})
	if res := replayed(t, text); !strings.HasSuffix(res.Verdict.Message, "it is gone") {
		t.Errorf("%+v\n%q", res.Verdict, answered(res.History))
	}
}

func TestPartsOfAMultiThatCannotBeAskedForAreNamed(t *testing.T) {
	t.Parallel()
	q := model.Request{Op: model.OpMulti, Ops: []model.Request{{Op: model.OpCreate, Path: "/a", ACL: open},
		{Op: model.OpCreateContainer, Path: "/c", ACL: open, Flags: zk.FlagContainer}}}
	r := &serve.Recording{Servers: 1, Requests: []serve.Asked{{Client: 1, Request: q},
		{Client: 1, Request: model.Request{Op: model.OpExists, Path: "/"}}}}
	s, err := Scenario("recorded:x", r)
	if err != nil || !strings.HasSuffix(s.Notes().Source, ": 1 multi with createContainer") || len(byClient(r)[0]) != 1 {
		t.Errorf("%v, %q", err, s.Notes().Source)
	}
}

func TestOrdinalsAreEnglish(t *testing.T) {
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th",
		21: "21st", 112: "112th", 122: "122nd"} {
		if got := ordinal(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
