package transcript

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// Difference is one field of one step in which the model departs from the
// recording.
type Difference struct {
	Step  int    // its number
	Field string // for example "err", "stat.pz", "results[2].path", "ev.B"
	Want  string // recorded, as JSON; "absent" when there was none
	Got   string
}

// String describes the difference in one line.
func (d Difference) String() string {
	return fmt.Sprintf("step %d: %s: want %s, got %s", d.Step, d.Field, d.Want, d.Got)
}

// Replay runs the transcript against a new model server and returns where the two differ, step by step. It compares
// every field that the recorder noted and that is not merely informative, including orders. A difference may cause
// later ones. The transcript must be valid, as [Parse] returns it.
func Replay(t *Transcript) []Difference {
	if err := t.Validate(); err != nil {
		panic("transcript: Replay: " + err.Error())
	}
	s, _ := readSettings(t.Header.Cfg) // Validate has already read it
	d := newDriver(s)
	c := &comparison{}
	for first, i := 0, 0; i < len(t.Steps); i++ {
		st := &t.Steps[i]
		last := i+1 == len(t.Steps) || !t.Steps[i+1].Pipelined
		got := Outcome{Res: d.do(st)}
		d.attribute(&got, st, first == i, last)
		c.step = i
		c.outcome(&st.Outcome, &got)
		for _, bad := range d.badTimes {
			bad.Step = i
			c.found = append(c.found, bad)
		}
		d.badTimes = d.badTimes[:0]
		if last {
			first = i + 1
		}
	}
	return c.found
}

// attribute gives a step what belongs on its line: the events that its own session got before the reply; at the end of
// a batch, everything that happened to other sessions, and the connections that were closed.
func (d *driver) attribute(got *Outcome, st *Step, first, last bool) {
	got.Ev = map[string][]string{}
	for _, s := range d.sessions {
		if len(s.events) > 0 && (last || s.name == st.Session) {
			got.Ev[s.name] = s.events
			s.events = nil
		}
	}
	if !last {
		return
	}
	got.Closed, d.closed = d.closed, nil
	switch st.Op {
	case opClose, opDrop, opReopen:
		if first {
			got.EndZxid = new(d.server.Zxid())
		}
	}
}

// comparison collects the differences.
type comparison struct {
	step  int
	found []Difference
}

func (c *comparison) outcome(want, got *Outcome) {
	w, g := &want.Res, &got.Res
	c.reply("", &w.Reply, &g.Reply)
	compare(c, "zxid", w.Zxid, g.Zxid)
	compare(c, "n", w.N, g.N)
	compareList(c, "acl", w.ACL, g.ACL)
	compareList(c, "paths", w.Paths, g.Paths)
	compareList(c, "info", w.Info, g.Info)
	if len(w.Results) != len(g.Results) {
		compare(c, "len(results)", len(w.Results), len(g.Results))
	}
	for i := range min(len(w.Results), len(g.Results)) {
		prefix := fmt.Sprintf("results[%d].", i)
		compare(c, prefix+"type", w.Results[i].Type, g.Results[i].Type)
		c.reply(prefix, &w.Results[i].Reply, &g.Results[i].Reply)
	}
	c.events(want.Ev, got.Ev)
	compareList(c, "closed", want.Closed, got.Closed)
	compare(c, "end_zxid", want.EndZxid, got.EndZxid)
}

func (c *comparison) reply(prefix string, want, got *Reply) {
	compare(c, prefix+"err", want.Err, got.Err)
	compare(c, prefix+"path", want.Path, got.Path)
	c.stat(prefix+"stat", want.Stat, got.Stat)
	compare(c, prefix+"data", want.Data, got.Data)
	compare(c, prefix+"data_null", want.DataNull, got.DataNull)
	compare(c, prefix+"data_len", want.DataLen, got.DataLen)
	compareList(c, prefix+"children", want.Children, got.Children)
}

func (c *comparison) stat(field string, want, got *Stat) {
	if want == nil || got == nil {
		compare(c, field, want, got)
		return
	}
	if *want == *got {
		return
	}
	compare(c, field+".cz", want.Czxid, got.Czxid)
	compare(c, field+".mz", want.Mzxid, got.Mzxid)
	compare(c, field+".pz", want.Pzxid, got.Pzxid)
	compare(c, field+".v", want.Version, got.Version)
	compare(c, field+".cv", want.Cversion, got.Cversion)
	compare(c, field+".av", want.Aversion, got.Aversion)
	compare(c, field+".eo", want.EphemeralOwner, got.EphemeralOwner)
	compare(c, field+".len", want.DataLength, got.DataLength)
	compare(c, field+".nc", want.NumChildren, got.NumChildren)
}

// events compares what each session received, session by session.
func (c *comparison) events(want, got map[string][]string) {
	for _, name := range sessionNames(want) {
		compareList(c, "ev."+name, want[name], got[name])
	}
	for _, name := range sessionNames(got) {
		if _, ok := want[name]; !ok {
			compareList(c, "ev."+name, nil, got[name])
		}
	}
}

// compare notes a difference between two values, or between what two pointers
// point to.
func compare[T any](c *comparison, field string, want, got T) {
	if !reflect.DeepEqual(want, got) {
		c.found = append(c.found, Difference{c.step, field, show(want), show(got)})
	}
}

// compareList takes a missing list and an empty one for equal: the format has only one way to write them.
func compareList[T any](c *comparison, field string, want, got []T) {
	if len(want) != 0 || len(got) != 0 {
		compare(c, field, want, got)
	}
}

func show(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%v", v)
	}
	if string(text) == "null" {
		return "absent"
	}
	return string(text)
}
