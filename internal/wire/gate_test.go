package wire

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"testing"
	"time"

	"zksim/model"
	"zksim/model/history"
)

// gated is a client's connection through a gate to a server that is the other end of a pipe.
type gated struct {
	*Gated
	server net.Conn
	events []history.Event
	seen   []Packet
	heard  [2]int // packets received and sent, by the tap
}

func throughGate(t *testing.T, sent, received Fate) *gated {
	t.Helper()
	a, b := net.Pipe()
	g := &gated{server: b}
	decide := func(fate Fate) func(*Packet) Fate {
		return func(p *Packet) Fate {
			g.seen = append(g.seen, *p)
			if p.Kind == Handshake {
				return Pass
			}
			return fate
		}
	}
	gate := Gate{Tap: &Tap{Client: 7, Hear: func(e history.Event) { g.events = append(g.events, e) },
		Packet: func(sent bool) { g.heard[map[bool]int{true: 1}[sent]]++ }, Broken: func(err error) { t.Error(err) }},
		Sent: decide(sent), Received: decide(received)}
	g.Gated = gate.Conn(a)
	t.Cleanup(func() {
		g.Close()
		b.Close()
	})
	hello := raw{}.int32(0).int64(42).int32(1000).int64(77).string("secret").packet()
	g.passes(t, hello)
	welcome := raw{}.int32(0).int32(1000).int64(77).string("secret").packet()
	g.answers(t, welcome)
	return g
}

// passes sends a packet, which has to arrive.
func (g *gated) passes(t *testing.T, packet []byte) {
	t.Helper()
	written := make(chan error, 1)
	go func() {
		_, err := g.Write(packet)
		written <- err
	}()
	b := make([]byte, len(packet))
	if _, err := io.ReadFull(g.server, b); err != nil || !slices.Equal(b, packet) {
		t.Fatalf("arrived: %q, %v", b, err)
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
}

// answers lets the server say something, which has to arrive.
func (g *gated) answers(t *testing.T, packet []byte) {
	t.Helper()
	go g.server.Write(packet)
	b := make([]byte, len(packet))
	if _, err := io.ReadFull(g, b); err != nil || !slices.Equal(b, packet) {
		t.Fatalf("arrived: %q, %v", b, err)
	}
}

var (
	createA  = raw{}.int32(1).int32(int32(model.OpCreate)).string("/a").string("").acl().int32(0).packet()
	createdA = raw{}.int32(1).int64(9).int32(0).string("/a").packet()
)

func TestAGateLetsPacketsPassAndSaysWhatTheyAre(t *testing.T) {
	g := throughGate(t, Pass, Pass)
	g.passes(t, createA)
	g.answers(t, createdA)
	if len(g.seen) != 4 || g.seen[0].Session != 77 || g.seen[0].Zxid != 42 || string(g.seen[1].Password) != "secret" ||
		g.seen[2].Request.Path != "/a" || g.seen[3].Zxid != 9 || g.seen[3].Request.Op != model.OpCreate {
		t.Errorf("%+v", g.seen)
	}
	if g.heard != [2]int{2, 2} {
		t.Errorf("the tap was told of %v packets, expected two in each direction, handshakes included", g.heard)
	}
	var kinds []history.Kind
	for _, e := range g.events {
		kinds = append(kinds, e.Kind)
	}
	if !slices.Equal(kinds, []history.Kind{history.Call, history.Created, history.Reply}) {
		t.Errorf("heard: %v", g.events)
	}
}

func TestALostRequestIsWrittenAsFarAsTheClientKnows(t *testing.T) {
	g := throughGate(t, Lose, Pass)
	if n, err := g.Write(createA); n != len(createA) || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := g.server.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the server: %v", err)
	}
	if n, err := g.Write(createA); n != len(createA) || err != nil { // as after the other side has closed
		t.Errorf("%d, %v", n, err)
	}
	if len(g.events) == 0 || g.events[0].Kind != history.Call {
		t.Errorf("the request was made, and nobody has heard it: %v", g.events)
	}
}

func TestALostAnswerIsNotHeard(t *testing.T) {
	g := throughGate(t, Pass, Lose)
	g.passes(t, createA)
	go g.server.Write(createdA)
	if _, err := g.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v", err)
	}
	if len(g.events) != 1 {
		t.Errorf("heard: %v", g.events)
	}
}

func TestTheLastAnswerArrives(t *testing.T) {
	g := throughGate(t, Pass, Last)
	g.passes(t, createA)
	g.answers(t, createdA)
	if _, err := g.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v", err)
	}
}

func TestNothingPassesAFrozenConnection(t *testing.T) {
	g := throughGate(t, Pass, Pass)
	g.Freeze(false)
	g.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if _, err := g.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a read of a frozen connection: %v", err)
	}
	g.SetReadDeadline(time.Time{})
	go func() {
		time.Sleep(10 * time.Millisecond)
		g.Thaw()
	}()
	g.passes(t, createA) // late

	g.Freeze(true)
	if n, err := g.Write(createA); n != len(createA) || err != nil {
		t.Errorf("into a hole: %d, %v", n, err)
	}
	g.Thaw()
	if _, err := g.server.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("a connection on which something was lost goes on: %v", err)
	}
}
