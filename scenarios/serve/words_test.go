package serve

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/jute"
)

// The words in which a leader and a follower differ, from a real ensemble: a follower tells no time at which a session
// expires, and the sizes of proposals are the leader's.
func TestAFollowerAnswersWordsAsAFollower(t *testing.T) {
	e := start(t, Options{Nodes: 3})
	client(t, 10*time.Second, e.Addrs()[0])
	addrs := e.Addrs()
	members := "membership: \nserver.1=127.0.0.1:2888:3888:participant;" + addrs[0] + "\nserver.2="
	for _, x := range []struct {
		server      int
		word, begin string
		with, not   string
	}{
		{0, "dump", "SessionTracker dump:\nSession Sets (1)/(1):\n1 expire at ", ":\n\t0x1001\n", "Global Sessions"},
		{1, "dump", "SessionTracker dump:\nGlobal Sessions(1):\n0x1001\t10000ms\nephemeral nodes dump:\n",
			"Connections dump:\n", "Session Sets"},
		{0, "srvr", "Zookeeper version: ", "Node count: 5\nProposal sizes last/min/max: -1/-1/-1\n", "Clients"},
		{1, "srvr", "Zookeeper version: ", "Mode: follower\nNode count: 5\n", "Proposal"},
		{0, "stat", "Zookeeper version: ", "Node count: 5\nProposal sizes last/min/max: -1/-1/-1\n", "follower"},
		{2, "conf", "clientPort=", "serverId=3\ninitLimit=10\nsyncLimit=5\nelectionAlg=3\nelectionPort=3888\n" +
			"quorumPort=2888\npeerType=0\n" + members, "serverId=0"},
	} {
		got := word(t, addrs[x.server], x.word)
		if !strings.HasPrefix(got, x.begin) || !strings.Contains(got, x.with) || strings.Contains(got, x.not) {
			t.Errorf("%s of s%d: %q", x.word, x.server+1, got)
		}
	}
	for k := range addrs {
		if got := e.command(k, "dump")["expiry_time_to_session_ids"].(map[int64][]int64); (len(got) == 1) != (k == 0) {
			t.Errorf("admin server of s%d: %v", k+1, got)
		}
	}
	if got := word(t, start(t, Options{}).Addrs()[0], "conf"); !strings.HasSuffix(got, "serverId=0\n") {
		t.Errorf("a server by itself: %q", got)
	}
}

// As a real server does, which keeps the connection, or the session, with an empty set.
func TestWhatHasFiredOrIsDeletedIsStillListedWithoutPaths(t *testing.T) {
	e := start(t, Options{})
	c, d := client(t, 30*time.Second, e.Addrs()...), client(t, 30*time.Second, e.Addrs()...)
	must[string](t)(c.Create("/e", nil, zk.FlagEphemeral, open))
	for _, x := range []*zk.Conn{c, d} {
		if _, _, _, err := x.GetW("/e"); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, _, err := client(t, 30*time.Second, e.Addrs()...).ChildrenW("/"); err != nil { // which does not count
		t.Fatal(err)
	}
	if err := d.Delete("/e", -1); err != nil {
		t.Fatal(err)
	}
	wants := map[string]string{"wchs": "2 connections watching 0 paths\nTotal watches:0\n", "wchp": "\n",
		"wchc": hex(c.SessionID()) + "\n" + hex(d.SessionID()) + "\n\n"}
	for text, want := range wants {
		if got := word(t, e.Addrs()[0], text); got != want {
			t.Errorf("%s: %q, expected %q", text, got, want)
		}
	}
	owner := hex(c.SessionID())
	if got := word(t, e.Addrs()[0], "dump"); !strings.Contains(got, "Ephemerals (1):\n"+owner+":\nConnections dump:") {
		t.Errorf("dump: %q", got)
	}
	for name, want := range map[string]string{"dump": fmt.Sprintf(`"session_id_to_ephemeral_paths":{"%d":[]}`,
		c.SessionID()), "watches": fmt.Sprintf(`{"%d":[],"%d":[]}`, c.SessionID(), d.SessionID())} {
		if got, err := json.Marshal(e.command(0, name)); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s: %s, %v, expected %s", name, got, err, want)
		}
	}
}

// What a real server says of a connection with a new session, after requests and an auth, after crst, and of one that
// has only taken the session again.
func TestConsTellsOfTheLastAnswerAsARealServer(t *testing.T) {
	e := start(t, Options{})
	said := func(want, answered string) {
		t.Helper()
		got := word(t, e.Addrs()[0], "cons")
		_, last, _ := strings.Cut(got, ",lresp=")
		_, got, _ = strings.Cut(got, "sid=0x1001,")
		before, after, _ := strings.Cut(got, "est=")
		_, after, _ = strings.Cut(after, ",to=30000,")
		after, _, _ = strings.Cut(after, "lresp=")
		last, _, _ = strings.Cut(last, ",")
		if before+after != want || answered != "" && last != answered {
			t.Errorf("%q, the last at %q, expected %q, %q", before+after, last, want, answered)
		}
		if x := e.command(0, "connections")["connections"].([]fields)[0]; fmt.Sprint(x["last_response_time"]) != last {
			t.Errorf("admin server: %v, expected %s", x, last)
		}
	}
	sock := dial(t, e)
	w := hello(t, sock, 0, make([]byte, jute.PasswordLen))
	said("lop=SESS,lcxid=0x0,lzxid=0x1,", "")
	time.Sleep(5 * time.Millisecond)
	ask(t, sock, model.Request{Op: model.OpSetData, Path: "/", Version: -1})
	_, text, _ := strings.Cut(word(t, e.Addrs()[0], "cons"), ",lresp=")
	at, _, _ := strings.Cut(text, ",")
	time.Sleep(5 * time.Millisecond)
	send(t, sock, jute.AppendRequest(nil, jute.XidAuth, &model.Request{Op: model.OpAuth, Path: "digest",
		Data: []byte("a:b")}))
	if _, err := receive(sock); err != nil {
		t.Fatal(err)
	}
	said("lop=SETD,lcxid=0x7,lzxid=0x2,", at) // of auth it does not tell
	word(t, e.Addrs()[0], "crst")
	said("lop=NA,lzxid=0xffffffffffffffff,", "0")
	if x := e.command(0, "connections")["connections"].([]fields)[0]; fmt.Sprint(x["last_cxid"]) != "-1" {
		t.Errorf("admin server: %v", x)
	}
	sock.Close()
	for len(e.command(0, "connections")["connections"].([]fields)) > 0 {
		time.Sleep(time.Millisecond) // until the ensemble has read the end
	}
	hello(t, dial(t, e), w.Session, w.Password)
	said("lop=null,lcxid=0x0,lzxid=0x0,", "0")
	if x := e.command(0, "connections")["connections"].([]fields)[0]; x["last_operation"] != nil {
		t.Errorf("admin server: %v", x)
	}
}

// What a real server answers when the other two of three are down. It gives an error the name that was asked for.
func TestAServerWithoutAQuorumAnswersAFewWords(t *testing.T) {
	t.Parallel()
	e := start(t, Options{Nodes: 3})
	for k := 1; k <= 2; k++ {
		if err := e.Kill(k); err != nil {
			t.Fatal(err)
		}
	}
	for name := range words {
		want := notServing
		switch name {
		case "ruok":
			want = "imok"
		case "isro":
			want = "null"
		case "envi":
			want = "Environment:\n"
		}
		if got := word(t, e.Addrs()[2], name); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, expected %q", name, got, want)
		}
	}
	for name, want := range map[string]string{"ruok": notServing, "stats": notServing, "stat": notServing, "env": ""} {
		answer := e.command(2, name)
		if failed, _ := answer["error"].(string); failed != strings.TrimSpace(want) {
			t.Errorf("%s: %v, expected %q", name, answer, want)
		}
		if want != "" && answer["command"] != name {
			t.Errorf("%s: %v", name, answer)
		}
	}
}
