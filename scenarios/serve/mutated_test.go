package serve

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"

	"zksim/model"
	"zksim/model/jute"
)

// everyOp are packets of all operations of the protocol, as clients send them.
func everyOp() (list [][]byte) {
	paths := make([]string, 300)
	for i := range paths {
		paths[i] = fmt.Sprint("/a/", i)
	}
	inner := []model.Request{{Op: model.OpCreate, Path: "/a", ACL: open}, {Op: model.OpSetData, Path: "/a", Version: -1},
		{Op: model.OpDelete, Path: "/a", Version: -1}}
	for op := -11; op <= 110; op++ {
		q := model.Request{Op: model.Op(op), Path: "/a", Data: []byte("data"), ACL: open, Version: -1, Ops: inner}
		list = append(list, packetOf(&q))
	}
	nested := model.Request{Op: model.OpMulti, Ops: []model.Request{{Op: model.OpMulti, Ops: inner}}}
	return append(list, packetOf(&nested))
}

// packetOf returns a packet; of an operation that the codec does not know it is a header with a path.
func packetOf(q *model.Request) (b []byte) {
	defer func() {
		if recover() != nil {
			b = binary.BigEndian.AppendUint32([]byte{0, 0, 0, 3}, uint32(q.Op))
			b = append(b, 0, 0, 0, 2, '/', 'a')
		}
	}()
	return jute.AppendRequest(nil, 3, q)
}

// mutated returns a packet in which something is not as it was.
func mutated(r *rand.Rand, b []byte) []byte {
	b = append([]byte(nil), b...)
	for range 1 + r.IntN(3) {
		at := r.IntN(len(b))
		switch r.IntN(5) {
		case 0:
			b = b[:at+1]
		case 1:
			b = append(b, make([]byte, r.IntN(40))...)
		case 2:
			b[at] = byte(r.Uint32())
		default: // a length, or a number
			if at &^= 3; at+4 <= len(b) {
				odd := []uint32{0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffffe, 0x40000000, uint32(len(b))}
				binary.BigEndian.PutUint32(b[at:], odd[r.IntN(len(odd))])
			}
		}
	}
	return b
}

// TestMutatedPacketsDisturbNobody sends packets of every operation, whole and changed at random, also in place of the
// handshake, and connections end in between. Another client is served meanwhile, and in the end nothing is left.
func TestMutatedPacketsDisturbNobody(t *testing.T) {
	const connections, packets = 400, 30
	e := start(t, Options{Nodes: 3})
	other := client(t, 30*time.Second, e.Addrs()...)
	valid := everyOp()
	r := rand.New(rand.NewPCG(1, 2))
	for i := range connections {
		sock, err := net.Dial("tcp", e.Addrs()[i%3])
		if err != nil {
			t.Fatal(err)
		}
		sock.SetDeadline(time.Now().Add(time.Minute))
		shake := (&jute.ConnectRequest{Timeout: 4000, Password: make([]byte, 16)}).Append(nil)
		if i%4 == 0 {
			shake = mutated(r, shake)
		}
		text := jute.EndFrame(append(jute.StartFrame(nil), shake...), 0)
		for range packets {
			p := valid[r.IntN(len(valid))]
			if r.IntN(4) > 0 {
				p = mutated(r, p)
			}
			text = append(text, jute.EndFrame(append(jute.StartFrame(nil), p...), 0)...)
		}
		sock.Write(text[:len(text)-r.IntN(20)])
		if i%3 == 0 { // hears everything first
			sock.(*net.TCPConn).CloseWrite()
			if _, err := io.Copy(io.Discard, sock); err != nil && !strings.Contains(err.Error(), "reset") {
				t.Fatalf("connection %d: %v", i, err)
			}
		}
		sock.Close()
		if i%50 == 0 {
			if _, _, err := other.Get("/"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := other.Sync("/"); err != nil {
		t.Error(err)
	}
	e.Judge() // of whatever the history has
	if _, err := e.Reset(); err != nil {
		t.Error(err)
	}
	if s := e.State(); len(s.Znodes) != 1 {
		t.Errorf("%+v", s)
	}
}
