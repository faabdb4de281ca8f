package recording

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/jute"
	"zksim/scenarios/serve"
)

// exchange sends a packet and returns the next one that comes.
func exchange(t *testing.T, sock net.Conn, packet []byte) []byte {
	t.Helper()
	send(sock, packet)
	answer, err := receive(sock)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// send sends a packet.
func send(sock net.Conn, packet []byte) error {
	_, err := sock.Write(jute.EndFrame(append(jute.StartFrame(nil), packet...), 0))
	return err
}

// receive returns the next packet.
func receive(sock net.Conn) ([]byte, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(sock, head); err != nil {
		return nil, err
	}
	packet := make([]byte, binary.BigEndian.Uint32(head))
	_, err := io.ReadFull(sock, packet)
	return packet, err
}

// A client connects again, to the same server or to another one, before the end of its old connection is known.
func TestAClientThatLeavesAnOpenConnectionIsPlayedInTheRecordedOrder(t *testing.T) {
	t.Parallel()
	for _, nodes := range []int{1, 3} {
		_, res := playedAgain(t, serve.Options{Nodes: nodes}, func(t *testing.T, e *serve.Ensemble) {
			shake := jute.ConnectRequest{Timeout: 10_000, Password: make([]byte, jute.PasswordLen)}
			login := func(server int) net.Conn {
				sock, err := net.Dial("tcp", e.Addrs()[server])
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { sock.Close() })
				sock.SetDeadline(time.Now().Add(time.Minute))
				w, err := jute.ParseConnectResponse(exchange(t, sock, shake.Append(nil)))
				if err != nil {
					t.Fatal(err)
				}
				shake.Session, shake.Password = w.Session, w.Password
				return sock
			}
			set := &model.Request{Op: model.OpSetData, Path: "/", Version: -1} // its answer tells how many there were
			exchange(t, login(0), jute.AppendRequest(nil, 1, set))
			b := connect(t, e)
			sock := login(nodes - 1)
			for range 3 {
				if _, err := b.Set("/", nil, -1); err != nil {
					t.Fatal(err)
				}
				exchange(t, sock, jute.AppendRequest(nil, 2, set))
			}
		})
		if !strings.Contains(res.Verdict.Message, "no such thing") {
			t.Errorf("%d servers: %v", nodes, res.Verdict)
		}
	}
}

// A write on a connection that the session has left is refused, and is none of the requests on the other one.
func TestWhatAClientAsksOnAConnectionThatItsSessionHasLeftIsLeftOut(t *testing.T) {
	t.Parallel()
	r, res := playedAgain(t, serve.Options{Nodes: 3}, func(t *testing.T, e *serve.Ensemble) {
		c := newWired(e, nil)
		c.connect()
		c.ask(&model.Request{Op: model.OpCreate, Path: "/a", ACL: open}, 1)
		other := newWired(e, nil)
		other.hello, other.server = c.hello, c.server
		other.connect()
		if _, err := c.ask(&model.Request{Op: model.OpDelete, Path: "/a", Version: -1}, 2); err == nil {
			t.Error("the write was not refused")
		}
		other.ask(&model.Request{Op: model.OpSync, Path: "/"}, 1)
		other.ask(&model.Request{Op: model.OpExists, Path: "/a"}, 2)
	})
	if got, want := answered(res.History), asRecorded(r); difference(got, want) != "" || len(want[0]) != 3 {
		t.Errorf("%q\n%q", got, want)
	}
}

// A session ends after the connection of a client that asks for nothing more.
func TestASessionThatEndsWithoutAConnectionEndsAgain(t *testing.T) {
	t.Parallel()
	r, res := playedAgain(t, serve.Options{}, func(t *testing.T, e *serve.Ensemble) {
		a, b := newWired(e, nil), newWired(e, nil)
		a.connect()
		a.ask(&model.Request{Op: model.OpCreate, Path: "/own", ACL: open, Flags: zk.FlagEphemeral}, 1)
		b.connect()
		if err := e.Kill(1); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(e.Continue(1), e.ExpireSession(a.hello.Session)); err != nil {
			t.Fatal(err)
		}
		b.sock = nil
		b.connect()
		b.ask(&model.Request{Op: model.OpExists, Path: "/own"}, 1)
	})
	if got, want := answered(res.History), asRecorded(r); difference(got, want) != "" {
		t.Errorf("%q\n%q\n%q", r.Steps, got, want)
	}
}

// The event of a watch that a client has left behind would come in place of the last answer on a connection.
func TestAClientThatSetsNoWatchesAgainHearsNothingOfThem(t *testing.T) {
	t.Parallel()
	for _, leaves := range []bool{true, false} {
		r, res := playedAgain(t, serve.Options{}, func(t *testing.T, e *serve.Ensemble) {
			a, b := newWired(e, nil), newWired(e, nil)
			a.leaves = leaves
			b.connect()
			b.ask(&model.Request{Op: model.OpCreate, Path: "/a", ACL: open}, 1)
			a.connect()
			a.ask(&model.Request{Op: model.OpGetData, Path: "/a", Watch: true}, 1)
			a.watches[watchOn{'d', "/a"}] = true
			for range 2 {
				if err := e.Strike("reset=1@client=c2"); err != nil {
					t.Fatal(err)
				}
				b.ask(&model.Request{Op: model.OpSetData, Path: "/a", Version: -1}, 3)
				a.sock = nil
				a.connect()
				a.ask(&model.Request{Op: model.OpExists, Path: "/a"}, 2)
			}
		})
		if got, want := answered(res.History), asRecorded(r); difference(got, want) != "" {
			t.Errorf("leaves them: %t: %q\n%q\n%q", leaves, r.Steps, got, want)
		}
	}
}
