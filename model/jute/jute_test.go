package jute

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"
	"pgregory.net/rapid"

	"zksim/model"
)

func TestEveryRequestComesBackFromItsBytes(t *testing.T) {
	for _, op := range every {
		rapid.Check(t, func(t *rapid.T) {
			q, xid := request(t, op), rapid.Int32().Draw(t, "xid")
			b := AppendRequest([]byte("before"), xid, &q)[len("before"):]
			gotXid, got, err := ParseRequest(append(b, "what follows is ignored"[:rapidTail(op)]...))
			if err != nil || gotXid != xid || !reflect.DeepEqual(got, q) {
				t.Fatalf("%s: got %+v, %d, %v, expected %+v, %d", op, got, gotXid, err, q, xid)
			}
			if len(b) != q.PacketLen() {
				t.Fatalf("%s: %d bytes, PacketLen says %d", op, len(b), q.PacketLen())
			}
		})
	}
}

// rapidTail is how much may follow: the records of two operations are all the rest.
func rapidTail(op model.Op) int {
	if op == model.OpReconfig || op == model.OpSASL {
		return 0
	}
	return 7
}

func TestEveryAnswerComesBackFromItsBytes(t *testing.T) {
	for _, op := range every {
		rapid.Check(t, func(t *rapid.T) {
			res, xid := response(t, op), rapid.Int32().Draw(t, "xid")
			res.Zxid = rapid.Int64().Draw(t, "zxid")
			if rapid.Bool().Draw(t, "fails") {
				res = model.Response{Op: op, Zxid: res.Zxid, Err: model.NoNode}
			}
			a, err := ParseReply(AppendReply(nil, xid, op, &res))
			if err != nil || a.Xid != xid {
				t.Fatalf("%s: got %+v, %v", op, a, err)
			}
			if got, err := a.Response(op); err != nil || !reflect.DeepEqual(got, res) {
				t.Fatalf("%s: got %+v, %v, expected %+v", op, got, err, res)
			}
		})
	}
}

func TestEventsAndHandshakesComeBackFromTheirBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		long, int := rapid.Int64(), rapid.Int32()
		ev := model.Event{Type: zk.EventType(rapid.Int32Range(1, 4).Draw(t, "type")), Path: texts.Draw(t, "path"),
			Zxid: rapid.Int64Range(1, 1<<62).Draw(t, "zxid")}
		a, err := ParseReply(AppendEvent(nil, ev, ev.Zxid))
		if got, e := a.Event(); err != nil || e != nil || got != ev || a.Xid != XidEvent {
			t.Fatalf("got %+v, %v, %v, expected %+v", got, err, e, ev)
		}
		old := rapid.Bool().Draw(t, "old")
		q := ConnectRequest{int.Draw(t, "version"), long.Draw(t, "zxid"), int.Draw(t, "timeout"),
			long.Draw(t, "session"), buffers.Draw(t, "password"), !old && rapid.Bool().Draw(t, "read only"), old}
		if got, err := ParseConnectRequest(q.Append(nil)); err != nil || !reflect.DeepEqual(got, q) {
			t.Fatalf("got %+v, %v, expected %+v", got, err, q)
		}
		res := ConnectResponse{q.Version, q.Timeout, q.Session, q.Password, q.ReadOnly, old}
		if got, err := ParseConnectResponse(res.Append(nil)); err != nil || !reflect.DeepEqual(got, res) {
			t.Fatalf("got %+v, %v, expected %+v", got, err, res)
		}
	})
}

// The bytes were written by hand, field by field.
func TestPacketsAreThoseOfTheWire(t *testing.T) {
	open := zk.WorldACL(zk.PermAll)
	connect := ConnectRequest{Timeout: 30000, Password: make([]byte, PasswordLen)}
	event := model.Event{Type: zk.EventNodeDataChanged, Path: "/a"}
	for name, c := range map[string]struct {
		got  []byte
		want string
	}{
		"connect": {connect.Append(nil), "00000000" + "0000000000000000" + "00007530" + "0000000000000000" + "00000010" +
			"00000000000000000000000000000000" + "00"},
		"create": {AppendRequest(nil, 1, &model.Request{Op: model.OpCreate, Path: "/a", Data: []byte("x"), ACL: open,
			Flags: 1}), "0000000100000001" + "000000022f61" + "0000000178" +
			"00000001" + "0000001f" + "00000005776f726c64" + "00000006616e796f6e65" + "00000001"},
		"ping": {AppendRequest(nil, XidPing, &model.Request{Op: model.OpPing}), "fffffffe0000000b"},
		"multi": {AppendRequest(nil, 2, &model.Request{Op: model.OpMulti, Ops: []model.Request{{Op: model.OpDelete,
			Path: "/a", Version: -1}}}), "000000020000000e" + "0000000200ffffffff" + "000000022f61ffffffff" +
			"ffffffff01ffffffff"},
		"failed multi": {AppendReply(nil, 2, model.OpMulti, &model.Response{Zxid: 5, Results: []model.Response{
			{Op: model.OpError, Err: model.NoNode}}}), "00000002000000000000000500000000" +
			"ffffffff00ffffff9b" + "ffffff9b" + "ffffffff01ffffffff"},
		"event": {AppendEvent(nil, event, NoZxid), "ffffffff" + "ffffffffffffffff" + "00000000" + "00000003" +
			"00000003" + "000000022f61"},
		"a character beyond the basic plane": {AppendReply(nil, 1, model.OpSync, &model.Response{Path: "/\U0001f600"}),
			"00000001000000000000000000000000" + "000000072feda0bdedb880"},
	} {
		if got := hex.EncodeToString(c.got); got != c.want {
			t.Errorf("%s: got %s, expected %s", name, got, c.want)
		}
	}
}

func TestWhatIsWrongWithAPacketIsSaid(t *testing.T) {
	create := AppendRequest(nil, 1, &model.Request{Op: model.OpCreate, Path: "/a", ACL: zk.WorldACL(31)})
	for n := range create {
		_, q, err := ParseRequest(create[:n])
		switch {
		case n < 8 && !errors.Is(err, ErrHeader), n >= 8 && !errors.Is(err, ErrShort), n < 8 && q.Op != 0,
			n >= 8 && (q.Op != model.OpCreate || q.Path != ""):
			t.Errorf("%d of %d bytes: %+v, %v", n, len(create), q, err)
		}
	}
	for name, c := range map[string]struct {
		record string
		want   error
	}{
		"a length of -2":                   {"fffffffe", ErrLength},
		"a length of 1 GB":                 {"40000000", ErrShort},
		"a list of a billion":              {"00000000" + "ffffffff" + "40000000", ErrShort},
		"a list whose elements do not fit": {"00000000ffffffff" + "00000002" + "0000000000000000000000000000", ErrShort},
		"a long element of a list":         {"00000000ffffffff" + "00000001" + "0000001f4000000000000000", ErrShort},
	} {
		b, err := hex.DecodeString(c.record)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := ParseRequest(append([]byte{0, 0, 0, 1, 0, 0, 0, 1}, b...)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, expected %v", name, err, c.want)
		}
	}
	if _, err := ParseReply(make([]byte, 15)); !errors.Is(err, ErrHeader) {
		t.Error(err)
	}
	bad := Reply{Body: appendMultiHeader(nil, model.OpSync, false, 0)}
	if _, err := bad.Response(model.OpMulti); err == nil {
		t.Error("a result of a type that no multi has was taken")
	}
}

func TestAMultiEndsAtWhatNoMultiHas(t *testing.T) {
	b := AppendRequest(nil, 1, &model.Request{Op: model.OpMulti, Ops: []model.Request{{Op: model.OpDelete, Path: "/a"},
		{Op: model.OpSetACL, Path: "/b"}, {Op: model.OpDelete, Path: "/c"}}})
	_, q, err := ParseRequest(b)
	if err != nil || len(q.Ops) != 2 || q.Ops[1].Op != model.OpSetACL || q.Ops[1].Path != "" {
		t.Errorf("%+v, %v", q, err)
	}
}

func TestANullListOfWatchesIsNotAnEmptyOne(t *testing.T) {
	b, err := hex.DecodeString("00000001" + "00000065" + "0000000000000007" + "00000000" + "ffffffff" + "00000001ffffffff")
	if err != nil {
		t.Fatal(err)
	}
	_, q, err := ParseRequest(b)
	want := &model.WatchLists{RelativeZxid: 7, Data: []string{}, Exist: []string{model.Null}, Child: []string{model.Null}}
	if err != nil || !reflect.DeepEqual(q.Watches, want) {
		t.Errorf("%+v, %v", q.Watches, err)
	}
}

func TestAReconfigHasAWholeRecord(t *testing.T) {
	record := appendInt64(make([]byte, 12), -1)
	for n := range len(record) + 1 {
		_, _, err := ParseRequest(AppendRequest(nil, 1, &model.Request{Op: model.OpReconfig, Data: record[:n]}))
		if whole := n == len(record); whole != (err == nil) || !whole && !errors.Is(err, ErrShort) {
			t.Errorf("%d of %d bytes: %v", n, len(record), err)
		}
	}
}

func TestAStreamIsCutIntoPacketsHoweverItArrives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		packets := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 9), 0, 5).Draw(t, "packets")
		var stream []byte
		for _, p := range packets {
			at := len(stream)
			stream = EndFrame(append(StartFrame(stream), p...), at)
		}
		f, got := Frames{Max: 9}, [][]byte{}
		for len(stream) > 0 {
			n := rapid.IntRange(1, len(stream)).Draw(t, "n")
			if err := f.Feed(stream[:n], func(p []byte) error { got = append(got, bytes.Clone(p)); return nil }); err != nil {
				t.Fatal(err)
			}
			stream = stream[n:]
		}
		if !slices.EqualFunc(got, packets, bytes.Equal) || f.Pending() != 0 {
			t.Fatalf("got %v, expected %v, %d left", got, packets, f.Pending())
		}
	})
}

func TestALengthIsBelievedOnlyUpToTheLimit(t *testing.T) {
	none := func([]byte) error { return nil }
	for _, b := range [][]byte{{0, 0x10, 0, 0}, {0x40, 0, 0, 0}, {0xff, 0xff, 0xff, 0xff}} {
		if err := (&Frames{Max: model.MaxPacketLen}).Feed(b, none); !errors.Is(err, ErrLength) {
			t.Errorf("%x: %v", b, err)
		}
	}
	f := Frames{Max: model.MaxPacketLen}
	if err := f.Feed([]byte{0, 0x0f, 0xff, 0xff, 1}, none); err != nil || f.Pending() != 5 || cap(f.pending) > 100 {
		t.Errorf("%v, %d bytes are pending in memory of %d", err, f.Pending(), cap(f.pending))
	}
	stop := errors.New("stop")
	if err := f.Feed(make([]byte, model.MaxPacketLen), func([]byte) error { return stop }); err != stop ||
		f.Pending() != 0 {
		t.Error(err, f.Pending())
	}
}

func TestALongPacketMayComeByteByByte(t *testing.T) {
	packet := bytes.Repeat([]byte("x"), 1<<20)
	stream := EndFrame(append(StartFrame(nil), packet...), 0)
	var f Frames
	heard := 0
	for i := range stream {
		err := f.Feed(stream[i:i+1], func(p []byte) error {
			heard++
			if !bytes.Equal(p, packet) {
				t.Errorf("%d bytes, expected %d", len(p), len(packet))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if heard != 1 || f.Pending() != 0 {
		t.Errorf("%d packets and %d bytes left, expected one and none", heard, f.Pending())
	}
}
