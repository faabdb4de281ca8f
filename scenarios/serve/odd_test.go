package serve

import (
	base16 "encoding/hex"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"zksim/internal/zkserver/zkservertest"
	"zksim/model"
	"zksim/model/jute"
)

// oddly sends a packet on a connection of its own and tells what comes of it: all answers in hexadecimal without their
// zxids, whether the connection has ended, and how many txns there were.
func oddly(t *testing.T, addr string, counter net.Conn, packet []byte) string {
	t.Helper()
	const ping = "fffffffe00000000"
	count := func() int64 {
		a, _ := ask(t, counter, model.Request{Op: model.OpSync, Path: "/"})
		return a.Zxid
	}
	sock := dialTo(t, addr)
	defer sock.Close()
	session := hello(t, sock, 0, make([]byte, jute.PasswordLen))
	before, text := count(), ""
	send(t, sock, packet)
	put(sock, &model.Request{Op: model.OpPing})
	for {
		answer, err := receive(sock)
		if err != nil {
			text += " end"
			break
		}
		if w, err := jute.ParseConnectResponse(answer); err == nil && w.Session == session.Session {
			text += fmt.Sprint(" handshake of ", w.Timeout)
			continue
		}
		said := base16.EncodeToString(append(answer[:4:4], answer[12:]...))
		if said == ping {
			break
		}
		text += " " + said
	}
	text = fmt.Sprintf("%s, %d txns", strings.TrimSpace(text), count()-before)
	quits(t, addr, sock, session)
	return text
}

// quits ends a session, on its connection or, if that has ended, on another one: one that is left to expire makes a txn
// while those of another packet are counted, unless the machine is quick.
func quits(t *testing.T, addr string, sock net.Conn, session jute.ConnectResponse) {
	t.Helper()
	quit := func(sock net.Conn) { // some connections of a real server stay, so the answer is what is waited for
		put(sock, &model.Request{Op: model.OpCloseSession})
		for packet, err := receive(sock); err == nil; packet, err = receive(sock) {
			if a, err := jute.ParseReply(packet); err == nil && a.Xid == 8 {
				return
			}
		}
	}
	quit(sock)
	again := dialTo(t, addr)
	defer again.Close()
	if hello(t, again, session.Session, session.Password).Session != 0 {
		quit(again)
	}
}

// oddities sends all packets of a list, and returns the list with the answers.
func oddities(t *testing.T, addr string, list []string) (answered []string) {
	t.Helper()
	counter := dialTo(t, addr)
	hello(t, counter, 0, make([]byte, jute.PasswordLen))
	for _, path := range []string{"/a", "/b", "/p", "/r"} {
		ask(t, counter, model.Request{Op: model.OpCreate, Path: path, ACL: open})
	}
	for _, line := range list {
		name, rest, _ := strings.Cut(line, ": ")
		packet, _, _ := strings.Cut(rest, " -> ")
		bytes, err := base16.DecodeString(packet)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprintf("%s: %s -> %s", name, packet, oddly(t, addr, counter, bytes))
		if got != line { // a real server may have made a txn of its own, as for a session of what has started it
			got = fmt.Sprintf("%s: %s -> %s", name, packet, oddly(t, addr, counter, bytes))
		}
		answered = append(answered, got)
	}
	return answered
}

// Null paths, ids and lists, records that are cut off, and operations that a client, or a multi, may not ask for: the
// answers of a real server are in testdata/odd.txt.
func TestRequestsThatNoLibraryMakesAreAnsweredAsByARealServer(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/odd.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(text)), "\n")
	longest := Options{MaxSessionTimeout: 10 * time.Second} // as of the real server
	for which, addr := range map[string]string{"ours": start(t, longest).Addrs()[0],
		"a real server": zkservertest.ForTest(t, 1).Addrs()[0]} {
		for i, line := range oddities(t, addr, want) {
			if line != want[i] {
				t.Errorf("%s: got\n%s\nexpected\n%s", which, line, want[i])
			}
		}
	}
}
