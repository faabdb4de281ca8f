package simrun

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// open opens a connection that has a session.
func open(t *testing.T, connect string) *zk.Conn {
	c, events, err := zk.Connect(strings.Split(connect, ","), 10*time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	for ev := range events {
		if ev.State == zk.StateHasSession {
			break
		}
	}
	return c
}

// post gives an order, with a text as its body.
func post(t *testing.T, url, text string) {
	r, err := http.Post(url, "text/plain", strings.NewReader(text))
	if err != nil || r.StatusCode != http.StatusOK {
		t.Error(r, err)
		return
	}
	r.Body.Close()
}

// lockInVain has two clients take a lock as several libraries had it: the create whose reply was lost is tried again,
// and the first znode locks everyone out. The test that sees that reports it.
func lockInVain(t *testing.T, connect, control string) {
	all := zk.WorldACL(zk.PermAll)
	a := open(t, connect)
	if _, err := a.Create("/lock", nil, 0, all); err != nil {
		t.Error(err)
	}
	b := open(t, connect)
	defer b.Close()
	var mine string
	for {
		var err error
		if mine, err = a.Create("/lock/n-", nil, zk.FlagEphemeralSequential, all); err == nil {
			break
		} else if !errors.Is(err, zk.ErrConnectionClosed) && !errors.Is(err, zk.ErrNoServer) {
			t.Error(err)
			return
		}
	}
	b.Create("/lock/n-", nil, zk.FlagEphemeralSequential, all)
	list, _, ch, err := b.ChildrenW("/lock")
	if err != nil || len(list) != 3 {
		t.Error(list, err)
	}
	if err := a.Delete(mine, -1); err != nil {
		t.Error(err)
	}
	<-ch
	b.Children("/lock")
	post(t, control+"/report", "nobody gets the lock")
}

func TestWhatServeHasRecordedIsReplayedAndShrunk(t *testing.T) {
	t.Chdir(t.TempDir())
	r := serveUntil(t, func(connect, control string) { lockInVain(t, connect, control) }, "-listen", "127.0.0.1:0",
		"-faults", "lose-reply=1@client=c1,op=create,nth=2", "-record", "lock.jsonl", "-o", "page", "-control",
		"127.0.0.1:0")
	if r.code != exitViolation || !strings.Contains(r.out, "FAIL     reported: nobody gets the lock\n") ||
		!strings.Contains(r.out, "report   page/index.html\n") {
		t.Fatalf("%+v", r)
	}
	page, err := os.ReadFile("page/index.html")
	if err != nil || !strings.Contains(string(page), "nobody gets the lock") ||
		!strings.Contains(string(page), "simrun replay lock.jsonl") {
		t.Errorf("%v, %s", err, page)
	}
	const again = "FAIL  finally: each client was answered as in the recording, of which was said: reported: nobody " +
		"gets the lock\n"
	if r = simrun(t, "replay", "lock.jsonl"); r.code != exitViolation || !strings.Contains(r.out, again) {
		t.Fatalf("%+v", r)
	}
	if r = simrun(t, "shrink", "-o", "small.txt", "lock.jsonl"); r.code != exitViolation && r.code != exitHeld {
		t.Fatalf("%+v", r)
	}
	small, err := os.ReadFile("small.txt")
	if err != nil || strings.Count(string(small), "\nlose-reply c1") != 1 {
		t.Errorf("%v, %s", err, small)
	}
	t.Logf("%s", small)
	if r = simrun(t, "replay", "-o", "small", "small.txt"); r.code != exitViolation || !strings.Contains(r.out, again) {
		t.Errorf("%+v", r)
	}
	r = simrun(t, "grep", "lose-reply of c1", "recorded:lock.jsonl", "-seeds", "1-50")
	if r.err != "" || !strings.HasPrefix(r.out, "recorded:lock.jsonl      in ") {
		t.Errorf("%+v", r)
	}
	if r = simrun(t, "check", "recorded:lock.jsonl", "-seeds", "1-1000"); !strings.Contains(r.out, "recorded:lock.jsonl") {
		t.Errorf("%+v", r)
	}
	t.Logf("%+v", r)
}

func TestARecordingThatIsAnsweredOtherwiseIsNotReproduced(t *testing.T) {
	t.Chdir(t.TempDir())
	r := serveUntil(t, func(connect, control string) { lockInVain(t, connect, control) }, "-listen", "127.0.0.1:0",
		"-faults", "lose-reply=1@client=c1,op=create,nth=2", "-record", "lock.jsonl", "-control", "127.0.0.1:0")
	text, err := os.ReadFile("lock.jsonl")
	if err != nil {
		t.Fatalf("%v, %+v", err, r)
	}
	changed := strings.Replace(string(text), `"read":"3 children: `, `"read":"2 children: `, 1)
	if err := os.WriteFile("lock.jsonl", []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	const want = "inconclusive  not reproduced: reported: nobody gets the lock: c2's 2nd request was answered " +
		"childrenW: 3 children: "
	if r = simrun(t, "replay", "lock.jsonl"); r.code != exitInconclusive || !strings.Contains(r.out, want) ||
		strings.Contains(r.out, "everything held") {
		t.Errorf("%+v", r)
	}
}

// A history from there is shown, and a recording that is shown without its verdict looks like a pass.
func TestARecordingFromTheStandardInputIsNoHistory(t *testing.T) {
	t.Chdir(t.TempDir())
	served := serveUntil(t, func(connect, control string) { lockInVain(t, connect, control) }, "-listen", "127.0.0.1:0",
		"-faults", "lose-reply=1@client=c1,op=create,nth=2", "-record", "lock.jsonl", "-control", "127.0.0.1:0")
	text, err := os.ReadFile("lock.jsonl")
	if err != nil {
		t.Fatalf("%v, %+v", err, served)
	}
	const want = ": standard input: a history cannot be run again, and a recording of serve only from a regular file"
	for _, args := range []string{"replay -", "replay -v -", "replay -columns -", "shrink -", "why -"} {
		command, _, _ := strings.Cut(args, " ")
		if r := piped(string(text), strings.Fields(args)...); r.code != exitUsage || r.out != "" ||
			!strings.HasPrefix(r.err, "simrun "+command+want) {
			t.Errorf("%s: %+v", args, r)
		}
	}
	only, _, _ := strings.Cut(string(text), `{"kind":"recording"`)
	if r := piped(only, "replay", "-v", "-"); r.code != exitHeld || !strings.Contains(r.out, "lose-reply c1") {
		t.Errorf("%+v", r)
	}
}

func TestARecordingDoesNotHoldIfThereWasAViolationBeforeAReset(t *testing.T) {
	t.Chdir(t.TempDir())
	served := serveUntil(t, func(connect, control string) {
		post(t, control+"/report", "nobody gets the lock")
		post(t, control+"/reset", "")
		c := open(t, connect)
		defer c.Close()
		if _, _, err := c.Exists("/lock"); err != nil {
			t.Error(err)
		}
	}, "-listen", "127.0.0.1:0", "-record", "lock.jsonl", "-control", "127.0.0.1:0", "-o", "page")
	if served.code != exitViolation || !strings.Contains(served.out, "\nreport   none: ") {
		t.Errorf("%+v", served)
	}
	const want = "inconclusive  not reproduced: before reset 1: reported: nobody gets the lock: the recording begins " +
		"after the last reset\n"
	if r := simrun(t, "replay", "lock.jsonl"); r.code != exitInconclusive || !strings.Contains(r.out, want) {
		t.Errorf("%+v", r)
	}
}
