package checkers

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"zksim/model/history"
)

func TestTheSearchIsDrawnWithWhatHappenedBesides(t *testing.T) {
	h := script(t, `
		invoke c1 o1 lock
		session c1 StateHasSession s11
		created c1 /l/a z1 s11
		acquired c1 o1 /l/a
		fault c1 pause
		invoke c2 o2 lock
		acquired c2 o2 /l/b
		released c1 o1`)
	var page bytes.Buffer
	if drawn, err := (Linearizability{}).Draw(&page, h); !drawn || err != nil {
		t.Fatal(drawn, err)
	}
	for _, want := range []string{"acquire c2", "c1 believes", "holds /l/a", "faults", "pause", "c1 session",
		"StateHasSession"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q", want)
		}
	}
	if drawn, err := (Linearizability{}).Draw(broken{}, h); !drawn || err == nil {
		t.Error("an error of the writer is lost")
	}
}

// broken is a writer that fails.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no space") }

func TestADrawingIsBoundedAndHarmless(t *testing.T) {
	const hostile = "<script>alert('1')</script>\xff\u2028"
	h := &history.History{}
	h.Reset(1)
	write := func(data string) {
		h.Add(history.Event{Kind: history.Invoke, Client: 1, Object: 1, Op: "create", Path: "/r" + hostile, Data: data,
			Version: -1})
		h.Add(history.Event{Kind: history.Return, Client: 1, Object: 1, Op: "create", Path: "/r" + hostile})
	}
	var page bytes.Buffer
	if drawn, err := (Znodes{}).Draw(&page, h); drawn || err != nil || page.Len() > 0 {
		t.Errorf("nothing to draw: %t, %v", drawn, err)
	}
	write(strings.Repeat(hostile, 400))
	if drawn, err := (Znodes{}).Draw(&page, h); !drawn || err != nil {
		t.Fatal(drawn, err)
	}
	if strings.Contains(page.String(), "<script>alert") || page.Len() > 200_000 {
		t.Errorf("%d bytes", page.Len())
	}
	for range maxDrawn {
		write("x")
	}
	page.Reset()
	if drawn, err := (Znodes{}).Draw(&page, h); drawn || err != nil || page.Len() > 0 {
		t.Errorf("too much to draw: %t, %v", drawn, err)
	}
}
