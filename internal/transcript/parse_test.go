package transcript_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"zksim/internal/transcript"
)

const (
	header = `{"kind":"header","scenario":"s"}`
	openA  = `{"i":0,"s":"A","op":"open","timeout":30000,"res":{"err":"OK","zxid":1}}`
)

func lines(l ...string) string { return strings.Join(l, "\n") + "\n" }

var wrongTranscripts = []struct{ name, text, want string }{
	{"empty", "", "line 1: no header: the transcript is empty"},
	{"no header", lines(openA), `line 1: no header: want an object with "kind":"header"`},
	{"header is no object", lines(`[]`), "line 1: cannot unmarshal array"},
	{"header twice", lines(header, header), `line 2: unknown field "kind"`},
	{"unknown field of header", lines(`{"kind":"header","speed":1}`), `line 1: unknown field "speed"`},
	{"unknown setting", lines(`{"kind":"header","cfg":"syncLimit=5"}`), `line 1: cfg: unknown setting "syncLimit"`},
	{"bad setting", lines(`{"kind":"header","cfg":"enforceQuota=perhaps"}`),
		`line 1: cfg: bad value in "enforceQuota=perhaps"`},
	{"bad interval", lines(`{"kind":"header","cfg":"-Dznode.container.checkIntervalMs=0"}`), `line 1: cfg: bad value in`},
	{"bad packet size", lines(`{"kind":"header","cfg":"-Djute.maxbuffer=99999999"}`), `line 1: cfg: bad value in`},
	{"setting without value", lines(`{"kind":"header","cfg":"-Dx"}`), `line 1: cfg: "-Dx" is not of the form key=value`},
	{"bad json", lines(header, openA, `{"i":1,`), "line 3: unexpected EOF"},
	{"empty line", lines(header, openA, ""), "line 3: empty line"},
	{"two values", lines(header, openA+openA), "line 2: there is more behind it"},
	{"a brace too many", lines(header, openA+"}"), "line 2: there is more behind it"},
	{"wrong type", lines(header, `{"i":"0"}`), "line 2: cannot unmarshal string"},
	{"unknown field", lines(header, `{"i":0,"s":"A","op":"open","patch":"/"}`), `line 2: unknown field "patch"`},
	{"unknown field of a result", lines(header, `{"i":0,"s":"A","op":"open","res":{"error":"OK"}}`),
		`line 2: unknown field "error"`},
	{"wrong number", lines(header, `{"i":1,"s":"A","op":"open","res":{"err":"OK"}}`), "line 2: step 1, want 0"},
	{"no op", lines(header, `{"i":0,"s":"A","res":{"err":"OK"}}`), `line 2: session "A" is not open`},
	{"no op of an open session", lines(header, openA, `{"i":1,"s":"A","res":{"err":"OK"}}`), "line 3: no op"},
	{"unknown op", lines(header, openA, `{"i":1,"s":"A","op":"rename","res":{"err":"OK"}}`),
		`line 3: unknown op "rename"`},
	{"session without name", lines(header, `{"i":0,"s":"","op":"open","res":{"err":"OK"}}`),
		"line 2: open needs a session name"},
	{"session opened twice", lines(header, openA, strings.Replace(openA, `"i":0`, `"i":1`, 1)),
		`line 3: session "A" is opened twice`},
	{"session not open", lines(header, openA, `{"i":1,"s":"B","op":"ping","res":{"err":"OK"}}`),
		`line 3: session "B" is not open`},
	{"no result", lines(header, `{"i":0,"s":"A","op":"open"}`), `line 2: res: unknown err ""`},
	{"unknown err", lines(header, `{"i":0,"s":"A","op":"open","res":{"err":"FINE"}}`), `line 2: res: unknown err "FINE"`},
	{"unknown err of a part", lines(header, openA,
		`{"i":1,"s":"A","op":"multi","res":{"err":"OK","results":[{"type":2,"err":"x"}]}}`),
		`line 3: res.results[0]: unknown err "x"`},
	{"event of nobody", lines(header, openA, `{"i":1,"s":"A","op":"ping","res":{"err":"OK"},"ev":{"B":["child /"]}}`),
		`line 3: ev: session "B" is not open`},
	{"unknown event", lines(header, openA, `{"i":1,"s":"A","op":"ping","res":{"err":"OK"},"ev":{"A":["moved /"]}}`),
		`line 3: ev.A: unknown event "moved /"`},
	{"wait without number", lines(header, `{"i":0,"s":"","op":"wait","res":{"err":"OK"}}`),
		"line 2: wait needs the number of txns"},
	{"idle too long", lines(header, `{"i":0,"s":"","op":"idle","timeout":60001,"res":{"err":"OK"}}`),
		"line 2: idle needs a timeout of at most 60000 ms"},
	{"named raw", lines(header, openA, `{"i":1,"s":"A","op":"raw","opcode":1,"res":{"err":"OK"}}`),
		"line 3: raw opcode 1 is a named op"},
	{"fill too long", lines(header, openA, `{"i":1,"s":"A","op":"set","fill":99999999,"res":{"err":"OK"}}`),
		"line 3: fill must be at most"},
	{"data and fill", lines(header, openA, `{"i":1,"s":"A","op":"set","data":"","fill":1,"res":{"err":"OK"}}`),
		"line 3: both data and fill"},
	{"two acls", lines(header, openA, `{"i":1,"s":"A","op":"setACL",`+
		`"null_acl":true,"empty_acl":true,"res":{"err":"OK"}}`), "line 3: more than one of acl"},
	{"parts of a get", lines(header, openA, `{"i":1,"s":"A","op":"get","ops":[{"op":"get"}],"res":{"err":"OK"}}`),
		`line 3: op "get" has no sub-operations`},
	{"multi in multi", lines(header, openA,
		`{"i":1,"s":"A","op":"multi","ops":[{"op":"check"},{"op":"multi"}],"res":{"err":"OK"}}`),
		`line 3: ops[1]: op "multi" inside a multi`},
	{"open in multi", lines(header, openA, `{"i":1,"s":"A","op":"multi","ops":[{"op":"open"}],"res":{"err":"OK"}}`),
		`line 3: ops[0]: op "open" inside a multi`},
	{"pipelined open", lines(header, strings.Replace(openA, `"op"`, `"pipelined":true,"op"`, 1)),
		`line 2: op "open" cannot be pipelined here`},
	{"pipelined behind open", lines(header, openA, `{"i":1,"s":"A","pipelined":true,"op":"ping","res":{"err":"OK"}}`),
		`line 3: pipelined behind open of session "A"`},
}

// TestParseSaysWhatIsWrongAndWhere has one transcript per mistake.
func TestParseSaysWhatIsWrongAndWhere(t *testing.T) {
	for _, c := range wrongTranscripts {
		t.Run(c.name, func(t *testing.T) {
			_, err := transcript.Parse(strings.NewReader(c.text))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestParseRefusesEndlessLines(t *testing.T) {
	text := header + strings.Repeat(" ", 17<<20)
	if _, err := transcript.Parse(strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), "line 1: ") {
		t.Errorf("got %v", err)
	}
}

// TestReplayRefusesWhatParseWouldNotReturn: a transcript made by hand is
// checked too.
func TestReplayRefusesWhatParseWouldNotReturn(t *testing.T) {
	defer func() {
		if r := recover(); r == nil || !strings.HasPrefix(r.(string), "transcript: Replay: line 1: no header") {
			t.Errorf("got %v", r)
		}
	}()
	transcript.Replay(&transcript.Transcript{})
}

// FuzzParse looks for input that makes Parse panic, or that Parse accepts and
// Replay panics on.
func FuzzParse(f *testing.F) {
	for _, name := range []string{
		"golden/h11_seq_multi", "golden/h23_multi_effects", "golden/h24_multiread", "golden/h30_setwatches2",
		"golden/h32_bad_reopen", "golden/h34_acl_digest", "golden/h36_container", "golden/h42_check_standalone",
		"golden/h43_unknown_opcode", "golden/h45_ops_after_close", "golden/h48_pipelined", "golden/p0001",
		"golden/r0001", "extra/x01_create_flags", "extra/x04_quota_multi",
	} {
		text, err := os.ReadFile("testdata/" + name + ".jsonl")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		// Single steps are easier to change into something interesting.
		l := bytes.SplitAfterN(text, []byte("\n"), 5)
		f.Add(bytes.Join(l[:min(4, len(l))], nil))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tr, err := transcript.Parse(bytes.NewReader(text))
		if err != nil {
			if tr != nil || !strings.HasPrefix(err.Error(), "line ") {
				t.Fatalf("%v, %v", tr, err)
			}
			return
		}
		if err := tr.Validate(); err != nil {
			t.Fatalf("parsed but not valid: %v", err)
		}
		transcript.Replay(tr)
	})
}
