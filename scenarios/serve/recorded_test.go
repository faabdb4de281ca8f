package serve

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"zksim/model"
	"zksim/model/jute"
	"zksim/reports"
)

// judgedAgain returns what the recording of an ensemble is judged to be.
func judgedAgain(t *testing.T, e *Ensemble) (Judgement, string) {
	t.Helper()
	var text bytes.Buffer
	if err := e.WriteRecording(&text); err != nil {
		t.Fatal(err)
	}
	h, err := reports.ReadHistory(bytes.NewReader(text.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	j, gap, err := JudgeRecording(h, &text)
	if err != nil {
		t.Fatal(err)
	}
	return j, gap
}

// The recording has all kinds of findings: of sessions, tests, rules, resets, and of data that are not UTF-8.
func TestARecordingIsJudgedAsItsEnsembleWas(t *testing.T) {
	t.Parallel()
	plan, err := ParsePlan("lose-reply=1@client=c9")
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		gap  string
		with func(r *recorder)
	}{
		"whole":      {"", func(*recorder) {}},
		"incomplete": {"more than 5 MB", func(r *recorder) { r.giveUp("more than 5 MB") }},
		"forgotten":  {"", func(r *recorder) { r.events.forgotten = 7 }},
	} {
		e := start(t, Options{Record: true, Faults: plan})
		hangsUp(t, e, "/before")
		if _, err := e.Reset(); err != nil {
			t.Fatal(err)
		}
		hangsUp(t, e, "/e")
		sock := dial(t, e)
		hello(t, sock, 0, make([]byte, jute.PasswordLen))
		ask(t, sock, model.Request{Op: model.OpCreate, Path: "/z", ACL: open, Data: []byte{0xfe}})
		ask(t, sock, model.Request{Op: model.OpSetData, Path: "/z", Data: []byte{0xff}, Version: -1})
		if err := e.Report("two hold the lock"); err != nil {
			t.Fatal(err)
		}
		e.mu.Lock()
		x.with(&e.record)
		e.mu.Unlock()
		e.Close()
		j, gap := judgedAgain(t, e)
		if want := e.Judge(); gap != x.gap || !reflect.DeepEqual(j, want) {
			t.Errorf("%s: %+v, %q, expected %+v", name, j, gap, want)
		}
		if len(j.Before) != 1 || len(j.Violations) != 2 || len(j.Inconclusive) == 0 {
			t.Errorf("%s: %+v", name, j)
		}
	}
}

func TestARecordingThatWasEditedIsRefused(t *testing.T) {
	const head = `{"kind":"end","lines":0}` + "\n" + `{"kind":"recording","format":"zksim recording 5","servers":1}` + "\n"
	for line, want := range map[string]string{
		`{"kind":"session","session":"x","number":1}`:                "expected a number as 0x1001",
		`{"kind":"session","session":"0x1","number":0}`:              "and a client from 1 on",
		`{"kind":"session","session":"0x1","number":1,"away":"far"}`: `expected "may come back" or "gone"`,
		`{"kind":"requests"}`:                                        `called "requests", expected one of recording, `,
		`{"kind":"step","nmae":"tick"}`:                              `unknown field "nmae"`,
	} {
		h, err := reports.ReadHistory(strings.NewReader(head + line))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := JudgeRecording(h, strings.NewReader(head+line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", line, err, want)
		}
	}
}

func TestARecordingThatWasCutIsRefused(t *testing.T) {
	e := start(t, Options{Record: true})
	hangsUp(t, e, "/e")
	e.Close()
	var text bytes.Buffer
	if err := e.WriteRecording(&text); err != nil {
		t.Fatal(err)
	}
	whole := text.String()
	read := func(text string) error {
		_, err1 := reports.ReadHistory(strings.NewReader(text))
		_, err2 := ReadRecording(strings.NewReader(text))
		return errors.Join(err1, err2)
	}
	if err := read(whole); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(whole, "\n"), "\n")
	texts := []string{whole + "{}\n"}
	for i := range lines {
		before, after := strings.Join(lines[:i], ""), strings.Join(lines[i+1:], "")
		texts = append(texts, before, before+after)
	}
	for i, other := range texts {
		if err := read(other); err == nil || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%d: %v", i, err)
		}
	}
}
