package serve

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"zksim/model"
	"zksim/model/jute"
)

// weight is how many bytes of strings the history of an ensemble has.
func weight(e *Ensemble) (n int) {
	h, _ := e.History()
	for i := range h.Events {
		n += len(h.Events[i].Path) + len(h.Events[i].Data)
	}
	return n
}

func TestLongPathsAndDataTakeLittleOfTheHistory(t *testing.T) {
	t.Parallel()
	e := start(t, Options{})
	sock := dial(t, e)
	hello(t, sock, 0, make([]byte, jute.PasswordLen))
	const n, long = 20, 500_000
	for i := range n {
		path := fmt.Sprintf("/%d%s", i, strings.Repeat("x", long))
		ask(t, sock, model.Request{Op: model.OpExists, Path: path})
		ask(t, sock, model.Request{Op: model.OpCreate, Path: path + "/none", Data: []byte(path), ACL: open})
		ask(t, sock, model.Request{Op: model.OpGetEphemerals, Path: path})
	}
	if got, most := weight(e), n*10*1024; got == 0 || got > most {
		t.Errorf("the history has %d bytes of strings, expected at most %d", got, most)
	}
}

func TestTheHistoryForgetsWhatIsBeyondItsBytes(t *testing.T) {
	t.Parallel()
	e := start(t, Options{Events: 16_000})
	const most = 200_000
	e.mu.Lock()
	e.record.events.maxBytes = most
	e.mu.Unlock()
	sock := dial(t, e)
	hello(t, sock, 0, make([]byte, jute.PasswordLen))
	for i := range 3000 {
		ask(t, sock, model.Request{Op: model.OpExists, Path: fmt.Sprintf("/%d%s", i, strings.Repeat("x", 200))})
	}
	_, forgotten := e.History()
	if got := weight(e); got > 2*most || forgotten == 0 {
		t.Errorf("%d bytes, %d events are forgotten, expected some and at most %d bytes", got, forgotten, 2*most)
	}
}

func TestARecordingBeyondALimitIsGivenUpAndSaysWhy(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name, gap string
		with      func(r *recorder)
	}{
		{"requests", "more than 5 requests", func(r *recorder) { r.limit = 5 }},
		{"memory", "more than 256 MB", func(r *recorder) { r.bytes = maxRecording - 5*requestLen }},
		{"events before one request", "more than 4 MB for a request and the events before it", func(r *recorder) {
			r.heard[1] = heard{bytes: maxRequest}
		}},
	} {
		e := start(t, Options{Record: true})
		sock := dial(t, e)
		hello(t, sock, 0, make([]byte, jute.PasswordLen))
		e.mu.Lock()
		x.with(&e.record)
		e.mu.Unlock()
		for range 10 {
			ask(t, sock, model.Request{Op: model.OpExists, Path: "/"})
		}
		e.Close()
		var text bytes.Buffer
		if err := e.WriteRecording(&text); err != nil {
			t.Fatal(err)
		}
		_, err := ReadRecording(&text)
		if e.RecordingGap() != x.gap || err == nil || !strings.Contains(err.Error(), "this one ended with "+x.gap) {
			t.Errorf("%s: %q, %v", x.name, e.RecordingGap(), err)
		}
		if e.record.requests != nil || e.record.heard != nil || e.record.names != nil {
			t.Errorf("%s: what cannot be replayed is kept", x.name)
		}
	}
}

func TestAClientThatOnlyWatchesCountsInTheRecording(t *testing.T) {
	t.Parallel()
	e := start(t, Options{Record: true})
	watcher, writer := dial(t, e), dial(t, e)
	hello(t, watcher, 0, make([]byte, jute.PasswordLen))
	hello(t, writer, 0, make([]byte, jute.PasswordLen))
	ask(t, watcher, model.Request{Op: model.OpAddWatch, Path: "/", Mode: 1})
	e.mu.Lock()
	before := e.record.bytes
	e.mu.Unlock()
	const n = 50
	for i := range n {
		ask(t, writer, model.Request{Op: model.OpCreate, Path: fmt.Sprintf("/z%d", i), ACL: open})
		hearsEvent(t, watcher)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.record.heard[1].events) < n || e.record.heard[1].bytes < n*heardLen || e.record.bytes-before < n*heardLen {
		t.Errorf("%d events, %d and %d bytes", len(e.record.heard[1].events), e.record.heard[1].bytes, e.record.bytes-before)
	}
}
