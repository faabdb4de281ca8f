package serve

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
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
		{"/elect", "", ""}, {"/continue", `{"server": 3}`, ""}, {"/kill", "s2", ""}, {"/continue", "s2", ""},
		{"/faults", "disconnect=1@client=c1", ""}, {"/faults", "disconect=1", "no such fault"},
		{"/faults", "pause", "your own"},
		{"/expire", "c9", "c9 has no session"}, {"/expire", "0x9001", "no session 0x9001"},
		{"/expire", `{"session": "x"}`, "as 0x1001"},
		{"/stop", "s9", "no server s9"}, {"/quiet", `{"ms": -1}`, "expected 0 to"},
		{"/reset", `{"what": 1}`, "unknown field"},
		{"/expire", "c1", ""}, {"/report", "", "in one line"}, {"/report", `{"violation": "two"}`, ""},
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
	if _, _, text := orderOf(t, "GET", url+"/judge", ""); !strings.Contains(text, "no client has asked for anything") {
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
	if len(j.Violations)+len(j.Inconclusive) != 0 || !strings.Contains(strings.Join(j.Facts, "\n"), "of 1 the") ||
		!slices.Contains(j.Facts, "herd: 1 notifications, at most 1 by one change (changed /a)") {
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
	if err := e.Kill(1); err != nil {
		t.Fatal(err)
	}
	const left = "left over: /e of c1, which has gone and did not close its session"
	if j := e.Judge(); len(j.Violations) != 2 || j.Violations[1] != left {
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
