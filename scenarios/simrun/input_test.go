package simrun

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"zksim/reports"
	"zksim/scenarios/catalog"
)

// silent is an input into which nobody writes.
type silent struct{ asked, end chan struct{} }

func (s silent) Read([]byte) (int, error) {
	s.asked <- struct{}{}
	<-s.end
	return 0, nil
}

func TestASignalEndsACommandThatWaitsForItsInput(t *testing.T) {
	for _, args := range [][]string{{"judge", "-"}, {"explain", "-"}} {
		in := silent{make(chan struct{}), make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-in.asked
			cancel()
		}()
		var out, err bytes.Buffer
		code := (&app{all: catalog.All, in: in, out: &out, err: &err}).main(ctx, args)
		if want := "simrun " + args[0] + ": interrupted\n"; code != exitInconclusive || err.String() != want {
			t.Errorf("%q: exit %d, %q, %q", args, code, &out, &err)
		}
		close(in.end)
	}
}

// endless is an input of one line without an end. It fails rather than to fill the memory.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	if e.read > 4*reports.MaxHistoryLine {
		return 0, errors.New("nobody has refused the line")
	}
	clear(p)
	e.read += len(p)
	return len(p), nil
}

func TestAHistoryWithoutAnEndIsRefused(t *testing.T) {
	for _, args := range []string{"judge -", "explain -run lock/lock -"} {
		var out, err bytes.Buffer
		a := &app{all: catalog.All, in: &endless{}, out: &out, err: &err}
		code := a.main(t.Context(), strings.Fields(args))
		want := "simrun " + strings.Fields(args)[0] + ": standard input: line 1: no line of a history is longer than " +
			"134217728 bytes\n"
		if code != exitUsage || err.String() != want {
			t.Errorf("%s: exit %d, %q, %.100q", args, code, &out, &err)
		}
	}
}

func TestAnErrorIsNoLongerThanCanBeRead(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("c.json", []byte(`{"`+strings.Repeat("k", 70_000)+`":1}`), 0o666); err != nil {
		t.Fatal(err)
	}
	r := simrun(t, "prove", "-verify", "c.json")
	if r.code != exitUsage || len(r.err) > 5000 || !strings.HasSuffix(r.err, "kkk... (70099 bytes)\n") {
		t.Errorf("exit %d, %d bytes, %.100q ... %q", r.code, len(r.err), r.err, r.err[max(0, len(r.err)-60):])
	}
}
