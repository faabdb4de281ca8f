package serve

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/jute"
)

// Of them a seed draws when an election strikes.
func TestRequestsAreCountedAnewAfterAReset(t *testing.T) {
	e := start(t, Options{})
	sock := dial(t, e)
	hello(t, sock, 0, make([]byte, jute.PasswordLen))
	ask(t, sock, model.Request{Op: model.OpSync, Path: "/"})
	if n := e.State().Requests; n != 1 {
		t.Errorf("%d requests, expected one", n)
	}
	if _, err := e.Reset(); err != nil {
		t.Fatal(err)
	}
	if n := e.State().Requests; n != 0 {
		t.Errorf("%d requests after a reset", n)
	}
}

func TestAnElectionOfAPlanWaitsForAClientThatItStrikes(t *testing.T) {
	for _, plan := range []string{"elect=1", "depose=1"} {
		e := start(t, Options{Nodes: 3, Faults: mustPlan(t, plan)})
		if _, err := e.Reset(); err != nil { // after which the world looks at what may happen, as at each tick
			t.Fatal(err)
		}
		if struck, _ := e.Strikes(); len(struck) > 0 {
			t.Errorf("%v, and nobody was connected", struck)
		}
		sock := dial(t, e)
		hello(t, sock, 0, make([]byte, jute.PasswordLen))
		if _, err := receive(sock); err == nil {
			t.Errorf("%s did not end the connection", plan)
		}
		if struck, _ := e.Strikes(); len(struck) != 1 {
			t.Errorf("%v, expected %s", struck, plan)
		}
		if _, err := e.Reset(); err != nil {
			t.Fatal(err)
		}
		if err := e.Strike("elect=1"); err != nil {
			t.Fatal(err)
		}
		if struck, _ := e.Strikes(); len(struck) == 0 {
			t.Error("what was ordered has waited")
		}
	}
}

// echo wchp | nc has a newline behind the word.
func TestAnAnswerToAWordIsWholeWhateverFollowsTheWord(t *testing.T) {
	e := start(t, Options{})
	sock := dial(t, e)
	hello(t, sock, 0, make([]byte, jute.PasswordLen))
	lists := model.WatchLists{RelativeZxid: 1 << 40, Exist: make([]string, 8000)}
	for i := range lists.Exist {
		lists.Exist[i] = fmt.Sprintf("/%s%d", strings.Repeat("p", 100), i)
	}
	ask(t, sock, model.Request{Op: model.OpSetWatches, Watches: &lists})
	for _, word := range []string{"wchp", "wchp\n", "wchp" + strings.Repeat("x", 10_000)} {
		sock := dial(t, e)
		if _, err := io.WriteString(sock, word); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(sock)
		if n := bytes.Count(got, []byte("\t0x1001\n")); err != nil || n != len(lists.Exist) {
			t.Errorf("%.8q: %d of %d watches, %v", word, n, len(lists.Exist), err)
		}
	}
}

func TestAConnectionThatEndsInOrderIsNotResetForRequestsBehindThat(t *testing.T) {
	e := start(t, Options{})
	sock := dial(t, e)
	hello(t, sock, 0, make([]byte, jute.PasswordLen))
	b := jute.AppendRequest(jute.StartFrame(nil), jute.XidAuth, &model.Request{Op: model.OpAuth, Path: "nonsense"})
	b = jute.EndFrame(b, 0)
	for range 1000 {
		at := len(b)
		b = jute.AppendRequest(jute.StartFrame(b), jute.XidPing, &model.Request{Op: model.OpPing})
		b = jute.EndFrame(b, at)
	}
	if _, err := sock.Write(b); err != nil {
		t.Fatal(err)
	}
	packet, err := receive(sock)
	if a, e := jute.ParseReply(packet); err != nil || e != nil || a.Err != model.AuthFailed {
		t.Fatalf("%+v, %v, %v, expected that the identity is refused", a, e, err)
	}
	if _, err := receive(sock); err != io.EOF {
		t.Errorf("%v, expected the end", err)
	}
}

// A client that does not wait for answers has sent much that nobody reads any more when its connection ends.
func TestAnswersBeforeTheEndOfAConnectionArrive(t *testing.T) {
	const sent, answered = 300, 150
	plan, err := ParsePlan(fmt.Sprintf("deliver-close=1@op=set,nth=%d,end=fin", answered))
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		e := start(t, Options{Faults: plan})
		sock := dial(t, e)
		hello(t, sock, 0, make([]byte, jute.PasswordLen))
		var b []byte
		for n := range sent {
			at, q := len(b), model.Request{Op: model.OpSetData, Path: "/", Version: -1}
			b = jute.EndFrame(jute.AppendRequest(jute.StartFrame(b), int32(n+1), &q), at)
		}
		if _, err := sock.Write(b); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := receive(sock); err == nil; _, err = receive(sock) {
			n++
		}
		if n != answered {
			t.Fatalf("%d answers have arrived, expected %d", n, answered)
		}
	}
}

// The C client closes its connection behind the request that ends its session. With answers unread, that is a reset.
func TestAClientThatResetsTheConnectionBehindTheEndOfItsSessionLeavesNothingOver(t *testing.T) {
	e := start(t, Options{})
	sock := dial(t, e)
	hello(t, sock, 0, make([]byte, jute.PasswordLen))
	ask(t, sock, model.Request{Op: model.OpCreate, Path: "/e", ACL: open, Flags: zk.FlagEphemeral})
	var b []byte
	for n := range 300 { // more than is read at a time
		at, q := len(b), model.Request{Op: model.OpGetData, Path: "/e"}
		if n == 299 {
			q = model.Request{Op: model.OpCloseSession}
		}
		b = jute.EndFrame(jute.AppendRequest(jute.StartFrame(b), int32(n+1), &q), at)
	}
	e.mu.Lock() // so that no answer can be written before the reset
	if _, err := sock.Write(b); err != nil {
		t.Error(err)
	}
	sock.(*net.TCPConn).SetLinger(0)
	sock.Close()
	e.mu.Unlock()
	for gone := false; !gone; {
		e.mu.Lock()
		gone = len(e.conns) == 0
		e.mu.Unlock()
	}
	const fact = "ephemerals: 1 are there at the end"
	if j := e.Judge(); len(j.Violations)+len(j.Inconclusive) > 0 || !slices.Contains(j.Facts, fact) {
		t.Errorf("%+v", j)
	}
}

// A client that keeps its connection open after the answer is not waited for.
func TestAnEnsembleEndsWhileAClientKeepsTheConnectionOfAWord(t *testing.T) {
	var took []time.Duration
	for range 5 { // since a busy machine may take that long for nothing
		e := start(t, Options{})
		sock := dial(t, e)
		if _, err := io.WriteString(sock, "ruok"); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(sock); string(got) != "imok" || err != nil {
			t.Fatalf("%q, %v", got, err)
		}
		begun := time.Now()
		e.Close()
		if took = append(took, time.Since(begun)); took[len(took)-1] < lastWordTimeout/2 {
			return
		}
	}
	t.Errorf("they have ended after %v", took)
}
