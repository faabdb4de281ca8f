package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"zksim/checkers"
	"zksim/model/history"
)

func sample() *history.History {
	h := &history.History{}
	h.Reset(2)
	h.Add(history.Event{Kind: history.Call, Client: 1, Step: 1, Op: "create", Path: "/a/<script>\n"})
	h.Add(history.Event{Kind: history.Fault, Client: 1, Step: 2, Op: "lose-reply c1"})
	h.Add(history.Event{Kind: history.Created, Client: 1, Step: 2, Path: "/a/x", Zxid: 1 << 40, Session: -1})
	h.Add(history.Event{Kind: history.Reply, Client: 1, Step: 3, Op: "create", Path: "/a/\xff",
		Err: errors.New("zk: \"quoted\"\n")})
	h.Add(history.Event{Kind: history.Fault, Step: 4, Op: "expire c2"})
	h.Add(history.Event{Kind: history.Write, Client: 2, Object: 3, Value: 7, OK: true, Step: 5})
	h.Waiting = []history.Waiting{{Client: 2, Where: "worker", Paths: []string{"/a/x"}}, {Client: 1}}
	h.Tree = []history.Node{{Path: "/a"}, {Path: "/a/x", Owner: 17, Czxid: 2}}
	return h
}

func TestAHistoryIsOneJSONObjectPerLine(t *testing.T) {
	var b bytes.Buffer
	if err := WriteHistory(&b, sample()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"i":0,"step":1,"kind":"call","client":"c1","op":"create","path":"/a/\u003cscript\u003e\n"}`,
		`{"i":1,"step":2,"kind":"fault","client":"c1","op":"lose-reply c1"}`,
		`{"i":2,"step":2,"kind":"created","client":"c1","path":"/a/x","zxid":1099511627776,"session":"0xffffffffffffffff"}`,
		`{"i":3,"step":3,"kind":"reply","client":"c1","op":"create","path":"/a/\ufffd","err":"zk: \"quoted\"\n"}`,
		`{"i":4,"step":4,"kind":"fault","op":"expire c2"}`,
		`{"i":5,"step":5,"kind":"write","client":"c2","object":3,"value":7,"ok":true}`,
		`{"client":"c2","kind":"waiting","paths":["/a/x"],"where":"worker"}`,
		`{"client":"c1","kind":"waiting","paths":[],"where":""}`,
		`{"czxid":0,"kind":"znode","owner":"","path":"/a"}`,
		`{"czxid":2,"kind":"znode","owner":"0x11","path":"/a/x"}`,
		`{"kind":"end","lines":10}`,
	}
	got := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, line := range got {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %s", line)
		}
	}
	b.Reset()
	if err := WriteHistory(&b, &history.History{}); err != nil || b.String() != `{"kind":"end","lines":0}`+"\n" {
		t.Errorf("an empty history: %q, %v", &b, err)
	}
}

func TestAHistoryThatWasCutIsRefused(t *testing.T) {
	var b bytes.Buffer
	if err := WriteHistory(&b, sample()); err != nil {
		t.Fatal(err)
	}
	whole := b.String()
	if _, err := ReadHistory(strings.NewReader(whole)); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(whole, "\n"), "\n")
	texts := []string{whole + whole, `{"kind":"recording"}` + "\n"}
	for i := range lines {
		before, after := strings.Join(lines[:i], ""), strings.Join(lines[i+1:], "")
		texts = append(texts, before, before+after)
	}
	for _, other := range texts {
		if h, err := ReadHistory(strings.NewReader(other)); err == nil || !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("%v, %v for %q of %q", h, err, other, whole)
		}
	}
}

func TestAnOddFieldOfAHistoryIsNamed(t *testing.T) {
	for line, want := range map[string]string{
		`{"kind":"call","step":99999999999}`: `line 1: in "step" there is the number 99999999999, expected one of type int32`,
		`{"kind":["call"]}`:                  `line 1: in "kind" there is the array, expected one of type string`,
		`[1]`:                                `line 1: a history has an object with a "kind" in each line, not "[1]"`,
		`{"kind":"call","pauh":"/a"}`:        `line 1: unknown field "pauh"`,
		`{"kind":"call"} {"kind":"call"}`:    `line 1: there is more behind it`,
	} {
		if _, err := ReadHistory(strings.NewReader(line)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, expected %s", line, err, want)
		}
	}
}

func TestAReportIsReadAgainAsItWas(t *testing.T) {
	r := Report{Format: Format, Scenario: "a/b", Seed: 1<<64 - 1, Servers: 3, Clients: 2, Faults: "lose-reply=1@path=/<a>",
		Steps: 9, Struck: Struck(sample()), Hash: "0123456789abcdef", Reproduce: []string{"go run ./cmd/simrun replay 'a b'"}}
	r.SetVerdict(checkers.Verdict{Level: checkers.Violated, Checker: "tree", Message: "</script>"})
	if !reflect.DeepEqual(r.Struck, []string{"lose-reply c1", "expire c2"}) || r.Verdict != "violated" {
		t.Errorf("%+v", r)
	}
	var first, second bytes.Buffer
	if err := errors.Join(r.Write(&first), r.Write(&second)); err != nil {
		t.Fatal(err)
	}
	if first.String() != second.String() || strings.Contains(first.String(), "</script>") ||
		!strings.HasPrefix(first.String(), "{\n  \"format\": \"zksim report 1\",\n") {
		t.Errorf("%s", &first)
	}
	var again Report
	if err := json.Unmarshal(first.Bytes(), &again); err != nil || !reflect.DeepEqual(again, r) {
		t.Errorf("%v, %+v", err, again)
	}
	if list := Struck(&history.History{}); list == nil || len(list) > 0 {
		t.Errorf("%#v: null in the JSON where a list is expected", list)
	}
}

// full is a disk without room after some bytes.
type full int

func (f *full) Write(p []byte) (int, error) {
	if *f -= full(len(p)); *f < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestAFullDiskIsAnError(t *testing.T) {
	long := sample()
	for range 1000 {
		long.Add(long.Events[0])
	}
	for _, room := range []full{0, 100, 5000} {
		f, g := room, full(10)
		if err := WriteHistory(&f, long); err == nil {
			t.Errorf("a history in %d bytes", room)
		}
		if err := (&Report{}).Write(&g); err == nil {
			t.Error("a report in 10 bytes")
		}
	}
}
