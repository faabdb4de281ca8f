package transcript_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"zksim/internal/transcript"
	"zksim/model"
)

// falsification changes one field of what was recorded. It returns false if the
// step does not have the field.
type falsification struct {
	field  string
	change func(o *transcript.Outcome) bool
}

func falsifications() []falsification {
	list := []falsification{
		{"err", func(o *transcript.Outcome) bool { o.Res.Err = "APIERROR"; return true }},
		{"zxid", func(o *transcript.Outcome) bool { return increase(o.Res.Zxid) }},
		{"zxid", func(o *transcript.Outcome) bool { return remove(&o.Res.Zxid) }},
		{"path", func(o *transcript.Outcome) bool { return lengthen(o.Res.Path) }},
		{"stat", func(o *transcript.Outcome) bool { return remove(&o.Res.Stat) }},
		{"data", func(o *transcript.Outcome) bool { return lengthen(o.Res.Data) }},
		{"data_null", func(o *transcript.Outcome) bool { o.Res.DataNull = !o.Res.DataNull; return true }},
		{"children", func(o *transcript.Outcome) bool { return reverse(o.Res.Children) }},
		{"n", func(o *transcript.Outcome) bool { return remove(&o.Res.N) }},
		{"acl", func(o *transcript.Outcome) bool { return reverse(o.Res.ACL) }},
		{"paths", func(o *transcript.Outcome) bool { return reverse(o.Res.Paths) }},
		{"info", func(o *transcript.Outcome) bool { return reverse(o.Res.Info) }},
		{"closed", func(o *transcript.Outcome) bool { o.Closed = append(o.Closed, "Z"); return true }},
		{"end_zxid", func(o *transcript.Outcome) bool { return increase(o.EndZxid) }},
		{"ev.A", func(o *transcript.Outcome) bool { return reverse(o.Ev["A"]) }},
		{"ev.B", func(o *transcript.Outcome) bool { return reverse(o.Ev["B"]) }},
		{"ev.A", func(o *transcript.Outcome) bool {
			found := len(o.Ev["A"]) > 0
			delete(o.Ev, "A")
			return found
		}},
		{"ev.A", func(o *transcript.Outcome) bool {
			if o.Ev != nil {
				return false
			}
			o.Ev = map[string][]string{"A": {"created /"}}
			return true
		}},
		{"len(results)", func(o *transcript.Outcome) bool {
			o.Res.Results = o.Res.Results[:max(len(o.Res.Results), 1)-1]
			return len(o.Res.Results) > 0
		}},
		{"results[0].type", func(o *transcript.Outcome) bool {
			if len(o.Res.Results) == 0 {
				return false
			}
			o.Res.Results[0].Type = model.OpPing
			return true
		}},
	}
	for _, s := range []struct {
		field  string
		change func(*transcript.Stat)
	}{
		{"cz", func(s *transcript.Stat) { s.Czxid++ }},
		{"mz", func(s *transcript.Stat) { s.Mzxid++ }},
		{"pz", func(s *transcript.Stat) { s.Pzxid++ }},
		{"v", func(s *transcript.Stat) { s.Version++ }},
		{"cv", func(s *transcript.Stat) { s.Cversion++ }},
		{"av", func(s *transcript.Stat) { s.Aversion++ }},
		{"eo", func(s *transcript.Stat) { s.EphemeralOwner += "x" }},
		{"len", func(s *transcript.Stat) { s.DataLength++ }},
		{"nc", func(s *transcript.Stat) { s.NumChildren++ }},
	} {
		list = append(list, falsification{"stat." + s.field, func(o *transcript.Outcome) bool {
			if o.Res.Stat == nil {
				return false
			}
			s.change(o.Res.Stat)
			return true
		}})
	}
	return list
}

func increase(p *int64) bool {
	if p != nil {
		*p++
	}
	return p != nil
}

func lengthen(p *string) bool {
	if p != nil {
		*p += "x"
	}
	return p != nil
}

func remove[T any](p **T) bool {
	found := *p != nil
	*p = nil
	return found
}

func reverse[T comparable](list []T) bool {
	slices.Reverse(list)
	return len(list) > 1 && list[0] != list[len(list)-1]
}

// TestReplayNoticesEveryFalsifiedField changes every recorded field of every
// step of a few recordings, one at a time: each change must be the one
// difference that Replay finds.
func TestReplayNoticesEveryFalsifiedField(t *testing.T) {
	used := make([]int, len(falsifications()))
	for _, name := range []string{
		"h07_set_versions", "h12_ephemeral_close", "h24_multiread", "h26_recursive_watch", "h34_acl_digest",
		"h45_ops_after_close", "h46_getEphemerals", "h48_pipelined",
	} {
		file := "testdata/golden/" + name + ".jsonl"
		for i := range parseFile(t, file).Steps {
			for k, f := range falsifications() {
				tr := parseFile(t, file)
				if !f.change(&tr.Steps[i].Outcome) {
					continue
				}
				used[k]++
				diffs := transcript.Replay(tr)
				if len(diffs) != 1 || diffs[0].Step != i || diffs[0].Field != f.field || diffs[0].Want == diffs[0].Got {
					t.Errorf("%s: step %d, %s falsified: got %v", name, i, f.field, diffs)
				}
			}
		}
	}
	for k, n := range used {
		if n == 0 {
			t.Errorf("falsification %d was never used", k)
		}
	}
}

// TestReplayNoticesTheLengthOfLongData looks at the one recording that has it.
func TestReplayNoticesTheLengthOfLongData(t *testing.T) {
	tr := parseFile(t, "testdata/golden/h44_large_data.jsonl")
	tr.Steps[8].Res.DataLen = new(5)
	want := "[step 8: data_len: want 5, got 1048526]"
	if got := fmt.Sprint(transcript.Replay(tr)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// replayText parses and replays, and returns the differences as text.
func replayText(t *testing.T, text string) string {
	t.Helper()
	tr, err := transcript.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(transcript.Replay(tr))
}

// TestPacketsOfAnyKindHaveALimit sets jute.maxbuffer to the length that each
// request has on the wire and to one less.
func TestPacketsOfAnyKindHaveALimit(t *testing.T) {
	open := `"acl":[{"perms":31,"scheme":"world","id":"anyone"}]`
	for _, c := range []struct {
		args string
		size int // without the length field
	}{
		{`"op":"ping"`, 8},
		{`"op":"whoAmI"`, 8},
		{`"op":"exists","path":"/aé"`, 8 + 4 + 4 + 1},
		{`"op":"sync","path":"/a"`, 8 + 4 + 2},
		{`"op":"create","path":"/a","data":"xyz"`, 8 + 6 + 7 + 27 + 4},
		{`"op":"create2","path":"/a",` + open, 8 + 6 + 4 + 27 + 4},
		{`"op":"createTTL","path":"/a","fill":9,"ttl":5,"flags":5`, 8 + 6 + 13 + 27 + 4 + 8},
		{`"op":"create","path":"/a","null_acl":true`, 8 + 6 + 4 + 4 + 4},
		{`"op":"set","path":"/","data":""`, 8 + 5 + 4 + 4},
		{`"op":"setACL","path":"/"`, 8 + 5 + 27 + 4},
		{`"op":"delete","path":"/a"`, 8 + 6 + 4},
		{`"op":"addWatch","path":"/a"`, 8 + 6 + 4},
		{`"op":"auth","scheme":"ip","auth":"x"`, 8 + 4 + 6 + 5},
		{`"op":"setWatches","data_watches":["/a","/b"],"child_watches":["/"]`, 8 + 8 + 16 + 4 + 9},
		{`"op":"setWatches2","recursive_watches":["/a"]`, 8 + 8 + 4*4 + 10},
		{`"op":"multi","ops":[{"op":"check","path":"/a"},{"op":"delete","path":"/b"}]`, 8 + 19 + 19 + 9},
		{`"op":"raw","opcode":108,"path":"/a"`, 8 + 4 + 2},
	} {
		for _, limit := range []int{c.size, c.size - 1} {
			got := replayText(t, lines(
				fmt.Sprintf(`{"kind":"header","cfg":"-Djute.maxbuffer=%d"}`, limit), openA,
				`{"i":1,"s":"A",`+c.args+`,"res":{"err":"CONNECTIONLOSS"},"closed":["A"]}`))
			if (got == "[]") != (limit < c.size) {
				t.Errorf("%s with limit %d of %d: %s", c.args, limit, c.size, got)
			}
		}
	}
}

// TestSessionsThatAreOverStayOver covers acts that no recording has.
func TestSessionsThatAreOverStayOver(t *testing.T) {
	got := replayText(t, lines(header, openA,
		`{"i":1,"s":"A","op":"expire","res":{"err":"OK","zxid":2}}`,
		`{"i":2,"s":"A","op":"expire","res":{"err":"SESSIONEXPIRED"}}`,
		`{"i":3,"s":"A","op":"drop","res":{"err":"OK"},"end_zxid":2}`,
		`{"i":4,"s":"A","op":"close","res":{"err":"CONNECTIONLOSS"},"end_zxid":2}`,
		`{"i":5,"s":"A","op":"ping","res":{"err":"CONNECTIONLOSS"}}`,
		`{"i":6,"s":"A","op":"ping","pipelined":true,"res":{"err":"CONNECTIONLOSS"}}`,
		`{"i":7,"s":"","op":"wait","version":1,"res":{"err":"OK","zxid":2}}`))
	if got != "[]" {
		t.Error(got)
	}
}
