package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
	"zksim/model/jute"
)

// order sends a request on the control channel.
func orderOf(t *testing.T, method, url, body string, header ...string) (status int, a Answer, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	json.Unmarshal(b, &a)
	return res.StatusCode, a, string(b)
}

func TestTheControlChannelDoesWhatItIsToldAndSaysWhatHasStruck(t *testing.T) {
	e := start(t, Options{Nodes: 3})
	url, err := e.Control("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	c := client(t, 30*time.Second, e.Addrs()...)
	must[string](t)(c.Create("/a", nil, 0, open))
	for _, x := range []struct {
		path, body, err string
	}{
		{"/quiet", `{"ms": 1}`, ""}, {"/stop", "s3", ""}, {"/stop", `{"server": 3}`, "s3 is down already"},
		{"/elect", "", ""}, {"/continue", `{"server": 3}`, ""}, {"/kill", "s2", ""},
		{"/continue", `{"server": "s2"}`, ""},
		{"/faults", "disconnect=1@client=c1", ""}, {"/faults", "disconect=1", "no such fault"},
		{"/faults", "pause", "your own"},
		{"/expire", "c9", "c9 has no session"}, {"/expire", "0x9001", "no session 0x9001, expected one that is there: "},
		{"/expire", `{"session": "x"}`, `{"session": "0x1001"}, not`},
		{"/stop", "s9", "no server s9"}, {"/quiet", `{"ms": -1}`, "expected 0 to"},
		{"/reset", `{"what": 1}`, "expected nothing"}, {"/elect", "s1", "expected nothing"},
		{"/faults", "", "the plan has no rules"}, {"/faults", "none", "the plan has no rules"},
		{"/faults", "lose-reply=0", "expected 1 or more"},
		{"/faults", `{"violation": "x"}`, `unknown field "violation", expected plan`},
		{"/stop", `{"server": 3, "client": 1}`, `unknown field "client", expected server`},
		{"/stop", `{"server": "3"}`, `expected JSON as {"server": 1}, not {"server": "3"}`},
		{"/stop", `{"server": 3} s2`, "nothing after"},
		{"/quiet", "1", ""}, {"/quiet", "0", ""}, {"/quiet", "2s", "expected milliseconds as 20"},
		{"/quiet", "60001", "expected 0 to 60000"},
		{"/expire", "c-1", `"c-1", expected c1 or 0x1001`}, {"/expire", "c9", "has one: c1"},
		{"/expire", "cat", `"cat", expected c1 or 0x1001`}, {"/stop", "cat", `"cat", expected s1`},
		{"/expire", `{"client": 1, "session": "0x1001"}`, "expected one of client and session"},
		{"/expire", "c1", ""}, {"/report", "", "in one line"}, {"/report", "\xff\xfe", "in one line"},
		{"/report", `{"violation": "two"}`, ""},
		{"/report", "leaders", ""},
	} {
		status, a, text := orderOf(t, "POST", url+x.path, x.body)
		if ok := status == http.StatusOK; ok != (x.err == "") || !strings.Contains(a.Error, x.err) {
			t.Errorf("%s %s: %d %s", x.path, x.body, status, text)
		}
		if x.path == "/faults" && x.err == "" && (len(a.Rules) != 1 || len(a.Struck)+1-a.Rules[0].Times != 1) {
			t.Errorf("%+v", a)
		}
	}
	_, _, text := orderOf(t, "GET", url+"/judge", "")
	if !strings.Contains(text, "\"reported: two\",\n    \"reported: leaders\"") {
		t.Error(text)
	}
	_, _, text = orderOf(t, "GET", url+"/history", "")
	if !strings.Contains(text, `"kind":"created","client":"c1","path":"/a"`) {
		t.Error(text)
	}
	if status, _, _ := orderOf(t, "POST", url+"/reset", ""); status != http.StatusOK {
		t.Error(status)
	}
	_, _, text = orderOf(t, "GET", url+"/state", "")
	if strings.Contains(text, `"/a"`) || !strings.Contains(text, `"s3"`) {
		t.Error(text)
	}
	if _, _, text := orderOf(t, "GET", url+"/judge", ""); !strings.Contains(text, `"inconclusive": []`) {
		t.Error(text)
	}
	if status, _, _ := orderOf(t, "POST", url+"/reset", "", "Origin", "http://a.b"); status != http.StatusForbidden {
		t.Errorf("a page of a browser got %d", status)
	}
}

func TestTheControlChannelNeedsATokenWhereOthersCanReachIt(t *testing.T) {
	e := start(t, Options{})
	for _, addr := range []string{"0.0.0.0:0", ":0", "[::]:0", "example.com:0"} {
		if _, err := e.Control(addr, ""); err == nil || !strings.Contains(err.Error(), "expected a token") {
			t.Errorf("%s: %v", addr, err)
		}
	}
	url, err := e.Control("127.0.0.1:0", "secret")
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]int{"Bearer secret": 200, "Bearer secre": 401, "": 401} {
		if status, _, _ := orderOf(t, "GET", url+"/state", "", "Authorization", token); status != want {
			t.Errorf("%q: %d, expected %d", token, status, want)
		}
	}
	if _, err := e.Control("nowhere", ""); err == nil || !strings.Contains(err.Error(), "expected host:port") {
		t.Error(err)
	}
}

func TestTheJudgesSeeAReadThatIsNotTheLastWrite(t *testing.T) {
	e := start(t, Options{})
	c := client(t, 30*time.Second, e.Addrs()...)
	must[string](t)(c.Create("/a", []byte("1"), 0, open))
	must[string](t)(c.Create("/twice", []byte("1"), 0, open))
	must[string](t)(c.Create("/e", nil, zk.FlagEphemeral, open))
	must[*zk.Stat](t)(c.Set("/", []byte("root"), -1))
	if _, err := c.Create("/b/c", []byte("1"), 0, open); err != zk.ErrNoNode {
		t.Error(err)
	}
	if _, err := c.Set("/zookeeper/b", nil, -1); err != zk.ErrNoNode {
		t.Error(err)
	}
	for _, data := range []string{"2", "3"} {
		must[*zk.Stat](t)(c.Set("/a", []byte(data), -1))
		must[*zk.Stat](t)(c.Set("/twice", nil, -1))
	}
	must[string](t)(c.Sync("/a"))
	_, _, watch, err := c.GetW("/a")
	if err != nil {
		t.Fatal(err)
	}
	must[*zk.Stat](t)(c.Set("/a", []byte("4"), -1))
	<-watch
	j := e.Judge()
	if len(j.Violations)+len(j.Inconclusive) != 0 || !strings.Contains(strings.Join(j.Facts, "\n"),
		"znodes: 1 judged, all linearizable in zxid order; "+
			"4 not judged (1 ephemeral, 2 there before or written by others, 1 written twice with the same data)") ||
		!slices.Contains(j.Facts, "herd: 1 notification, at most 1 by one change (changed /a)") {
		t.Errorf("%+v", j)
	}
	e.mu.Lock()
	for _, chunk := range e.record.events.list {
		for i := range chunk {
			if x := &chunk[i]; x.Kind == history.Return && x.Op == "get" {
				x.Data = "2"
			}
		}
	}
	e.mu.Unlock()
	if j := e.Judge(); len(j.Violations) != 1 || !strings.HasPrefix(j.Violations[0], "znodes: ") {
		t.Errorf("%+v", j)
	}
}

// hangsUp creates an ephemeral on a connection that it ends, without closing the session.
func hangsUp(t *testing.T, e *Ensemble, path string) {
	t.Helper()
	sock := dial(t, e)
	hello(t, sock, 0, make([]byte, jute.PasswordLen))
	ask(t, sock, model.Request{Op: model.OpCreate, Path: path, ACL: open, Flags: zk.FlagEphemeral})
	sock.Close()
	eventually(t, "the connection has gone", func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return len(e.conns) == 0
	})
}

func TestWhatWasWrongBeforeAResetIsRemembered(t *testing.T) {
	e := start(t, Options{})
	url, err := e.Control("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	hangsUp(t, e, "/e")
	if err := e.Report("two hold the lock"); err != nil {
		t.Fatal(err)
	}
	_, a, text := orderOf(t, "POST", url+"/reset", "")
	want := []string{"left over: /e of c1, which has gone and did not close its session", "reported: two hold the lock"}
	if a.Judged == nil || !slices.Equal(a.Judged.Violations, want) {
		t.Fatal(text)
	}
	if _, a, _ := orderOf(t, "POST", url+"/reset", ""); len(a.Judged.Violations) > 0 {
		t.Errorf("%+v", a.Judged)
	}
	hangsUp(t, e, "/f")
	j, err := e.Reset()
	if err != nil || len(j.Violations) != 1 {
		t.Errorf("%+v, %v", j, err)
	}
	before := []string{"before reset 1: " + want[0], "before reset 1: " + want[1],
		"before reset 3: left over: /f of c1, which has gone and did not close its session"}
	if j := e.Judge(); len(j.Violations) > 0 || !slices.Equal(j.Before, before) {
		t.Errorf("%+v", j)
	}
	for range 2 * maxReports {
		if err := e.Report("again"); err != nil {
			t.Fatal(err)
		}
	}
	if j, err = e.Reset(); err != nil || len(j.Before) != maxReports {
		t.Errorf("%d, %v", len(j.Before), err)
	}
}

// A client whose connection a fault or an order has ended lives, for what the judge knows, and comes back.
func TestAClientThatWasCutOffHasNotGone(t *testing.T) {
	for name, strike := range map[string]func(e *Ensemble) error{
		"elect": (*Ensemble).Elect,
		"kill":  func(e *Ensemble) error { return e.Kill(1) },
		"fault": func(e *Ensemble) error { return e.Strike("disconnect=1@client=c1") },
		"stop":  func(e *Ensemble) error { return e.Stop(1) },
	} {
		t.Run(name, func(t *testing.T) {
			e := start(t, Options{Nodes: 3})
			sock := dial(t, e)
			hello(t, sock, 0, make([]byte, jute.PasswordLen))
			ask(t, sock, model.Request{Op: model.OpCreate, Path: "/e", ACL: open, Flags: zk.FlagEphemeral})
			if j := e.Judge(); len(j.Violations)+len(j.Inconclusive) > 0 {
				t.Errorf("%+v", j)
			}
			if err := strike(e); err != nil {
				t.Fatal(err)
			}
			if name == "stop" { // a client of such a server gives up, and looks for another one
				sock.Close()
			}
			const want = "left over: /e of c1, which has lost its connection and may come back"
			var j Judgement
			eventually(t, "the ensemble knows: "+want, func() bool {
				j = e.Judge()
				return len(j.Violations) > 0 || slices.Contains(j.Inconclusive, want)
			})
			if len(j.Violations) > 0 {
				t.Errorf("%+v", j)
			}
			e.mu.Lock()
			for _, s := range e.sessions {
				s.lost = s.lost.Add(-usualReturn) // as if that long had gone by
			}
			e.mu.Unlock()
			if j := e.Judge(); len(j.Violations) != 1 {
				t.Errorf("%+v", j)
			}
		})
	}
}

// A fixture reads the error of every answer that is not 200.
func TestAnOrderThatThereIsNotIsAnsweredWithWhatThereIs(t *testing.T) {
	e := start(t, Options{})
	url, err := e.Control("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	const all = "expected GET /state /judge /history, POST /report /faults /expire /stop /kill /continue /elect " +
		"/reset /quiet"
	for _, x := range []struct{ method, path, want string }{
		{"POST", "/fault", `POST "/fault", ` + all},
		{"GET", "/", `GET "/", ` + all},
		{"GET", "/reset", `GET "/reset", expected POST`},
		{"POST", "/state", `POST "/state", expected GET`},
	} {
		if status, a, text := orderOf(t, x.method, url+x.path, ""); status < 404 || a.Error != x.want {
			t.Errorf("%s %s: %d %s", x.method, x.path, status, text)
		}
	}
}

// Kazoo and Curator ask for the end of a session once: when a fault loses that, they have ended all the same.
func TestAClientWhoseLastRequestAFaultHasLostHasClosedItsSession(t *testing.T) {
	e := start(t, Options{Faults: mustPlan(t, "lose-request=1@op=closeSession")})
	sock := dial(t, e)
	hello(t, sock, 0, make([]byte, jute.PasswordLen))
	ask(t, sock, model.Request{Op: model.OpCreate, Path: "/e", ACL: open, Flags: zk.FlagEphemeral})
	send(t, sock, jute.AppendRequest(nil, 8, &model.Request{Op: model.OpCloseSession}))
	if _, err := receive(sock); err != io.EOF {
		t.Fatalf("%v, expected that the fault ends the connection", err)
	}
	e.mu.Lock()
	for _, s := range e.sessions {
		s.lost = s.lost.Add(-usualReturn) // as if that long had gone by
	}
	e.mu.Unlock()
	const fact = "ephemerals: 1 are there at the end"
	if j := e.Judge(); len(j.Violations)+len(j.Inconclusive) > 0 || !slices.Contains(j.Facts, fact) {
		t.Errorf("%+v", j)
	}
}

// A client that goes on over a reset has seen higher zxids than there are then, for which a server refuses others.
func TestAClientThatGoesOnAfterAResetIsToldThatItsSessionHasExpired(t *testing.T) {
	e := start(t, Options{})
	sock := dial(t, e)
	w := hello(t, sock, 0, make([]byte, jute.PasswordLen))
	for _, seen := range []int64{0, 99} {
		if _, err := e.Reset(); err != nil {
			t.Fatal(err)
		}
		again := dial(t, e)
		q := jute.ConnectRequest{Timeout: 30_000, Session: w.Session, Password: w.Password, LastZxid: seen}
		send(t, again, q.Append(nil))
		packet, err := receive(again)
		if err != nil {
			t.Errorf("zxid %d: %v", seen, err)
			continue
		}
		if w, err := jute.ParseConnectResponse(packet); err != nil || w.Session != 0 {
			t.Errorf("zxid %d: %+v, %v", seen, w, err)
		}
	}
	w = hello(t, dial(t, e), 0, make([]byte, jute.PasswordLen)) // one of now is refused, as by a server that lags
	again := dial(t, e)
	q := jute.ConnectRequest{Timeout: 30_000, Session: w.Session, Password: w.Password, LastZxid: 99}
	send(t, again, q.Append(nil))
	if _, err := receive(again); err != io.EOF {
		t.Errorf("%v, expected that the connection ends", err)
	}
}

func TestWhereNothingWasJudgedNothingPasses(t *testing.T) {
	e := start(t, Options{})
	c := client(t, 30*time.Second, e.Addrs()...)
	for range 3 {
		if _, _, err := c.Exists("/a"); err != nil {
			t.Error(err)
		}
		must[*zk.Stat](t)(c.Set("/", nil, -1))
	}
	const fact = "znodes: none judged; 1 not judged (1 there before or written by others)"
	want := []string{"there was nothing to judge: expected an ephemeral, or a znode with a create or set that can be " +
		"judged"}
	if j := e.Judge(); !slices.Equal(j.Inconclusive, want) || !slices.Contains(j.Facts, fact) {
		t.Errorf("%+v", j)
	}
}

func TestTheHistoryForgetsItsBeginning(t *testing.T) {
	e := start(t, Options{Events: 100, Faults: mustPlan(t, "lose-reply=1@op=delete")})
	c := client(t, 30*time.Second, e.Addrs()...)
	for range 100 {
		must[string](t)(c.Sync("/"))
	}
	h, forgotten := e.History()
	if len(h.Events) > 100 || forgotten == 0 {
		t.Errorf("%d events, %d forgotten", len(h.Events), forgotten)
	}
	if j := e.Judge(); len(j.Inconclusive) != 2 {
		t.Errorf("%+v", j)
	}
}

// TestAResetAtTheEndTakesNothingBack has tests of which each ends with one: what they have asked, and what has struck
// them, need not happen again after the last.
func TestAResetAtTheEndTakesNothingBack(t *testing.T) {
	t.Parallel()
	plan, err := ParsePlan("lose-reply=1@op=set lose-reply=1@op=delete")
	if err != nil {
		t.Fatal(err)
	}
	e := start(t, Options{Faults: plan, Record: true})
	c := client(t, 30*time.Second, e.Addrs()[0])
	c.Create("/a", nil, 0, open)
	for {
		if _, err := c.Set("/a", nil, -1); err != zk.ErrNoServer {
			break
		}
	}
	c.Close()
	never := "the rule lose-reply=1@op=delete has never struck"
	for range 2 {
		if j, err := e.Reset(); err != nil || !slices.Contains(j.Inconclusive, never) {
			t.Errorf("%+v, %v", j, err)
		}
	}
	if j := e.Judge(); !slices.Equal(j.Inconclusive, []string{never}) {
		t.Errorf("%q", j.Inconclusive)
	}
	if r := e.State().Rules; r[0].Times != 0 || r[0].Earlier != 1 || r[1].Earlier != 0 {
		t.Errorf("%+v", r)
	}
	e.Close()
	if j, _ := judgedAgain(t, e); !slices.Equal(j.Inconclusive, []string{never}) {
		t.Errorf("%q", j.Inconclusive)
	}
}

// TestAClientThatOutlivesAResetNeedNotBeJudged has one that only reads, in a new session, and closes that. What it
// changes must be judged.
func TestAClientThatOutlivesAResetNeedNotBeJudged(t *testing.T) {
	t.Parallel()
	const nothing = "there was nothing to judge: expected an ephemeral, or a znode with a create or set that can be judged"
	for changes, want := range map[bool][]string{false: {}, true: {nothing}} { // order-free: each by itself
		e := start(t, Options{})
		c := client(t, 30*time.Second, e.Addrs()[0])
		if _, err := c.Create("/a", nil, 0, open); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Reset(); err != nil {
			t.Fatal(err)
		}
		for there := true; there; {
			var err error
			there, _, err = c.Exists("/a")
			there = there || err != nil // until it has connected again
		}
		if changes {
			if _, err := c.Create("/n-", nil, zk.FlagSequence, open); err != nil {
				t.Fatal(err)
			}
		}
		c.Close()
		if j := e.Judge(); !slices.Equal(j.Inconclusive, want) {
			t.Errorf("%q, want %q", j.Inconclusive, want)
		}
	}
}

func TestQuietForNoTimeWaitsForNothingThatMayCome(t *testing.T) {
	e := start(t, Options{})
	hello(t, dial(t, e), 0, make([]byte, jute.PasswordLen))
	if err := e.Quiet(t.Context(), 0); err != nil { // the server may not know yet that the greeting is written
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	e.mu.Lock()
	e.last = time.Now() // a request has just come
	e.mu.Unlock()
	for _, order := range orders {
		if order.name != "quiet" {
			continue
		}
		for _, body := range []string{"0", `{"ms": 0}`} {
			if _, err := order.obey(gone, e, body); err != nil {
				t.Errorf("%s: %v", body, err)
			}
		}
		if _, err := order.obey(gone, e, "60000"); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, expected that it waits", err)
		}
	}
}
