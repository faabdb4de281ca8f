package reports

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"

	"zksim/checkers"
)

// stepMicros is how long a step is in a trace, in microseconds. Time in a trace is the number of the step, so that
// everything that happens in one virtual millisecond can be told apart. The virtual time is an argument of each event.
const stepMicros = 1000

// traceEvent is an event of the Trace Event Format, which Perfetto and Chrome read.
type traceEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"`
	Cat   string         `json:"cat,omitempty"`
	Time  int            `json:"ts"`
	Dur   int            `json:"dur,omitempty"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	ID    int            `json:"id,omitempty"`
	Bind  string         `json:"bp,omitempty"`
	Scope string         `json:"s,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// WritePerfetto writes a run as a trace in JSON, for ui.perfetto.dev and chrome://tracing. There is a track for the
// faults, for each server and for each client, and below it what lasts, such as calls and beliefs. An arrow goes from
// each cause to what it has led to at another place, such as from a txn to the watch event that tells of it.
func WritePerfetto(w io.Writer, f *Failure) error {
	t := &traceWriter{b: bufio.NewWriter(w)}
	x := newChart(f)
	t.tracks(x)
	t.moments(x)
	t.spans(f, x)
	if f.Verdict.Level == checkers.Violated {
		step, _ := f.place()
		t.put(&traceEvent{Name: "violation of " + f.Verdict.Checker, Phase: "i", Scope: "g", Time: step * stepMicros,
			PID: pidOf(faultHost), TID: momentTrack, Args: map[string]any{"message": f.Verdict.Message}})
	}
	t.b.WriteString("\n],\n\"displayTimeUnit\":\"ms\"}\n")
	return t.b.Flush()
}

// traceWriter writes one event per line.
type traceWriter struct {
	b     *bufio.Writer
	begun bool
}

func (t *traceWriter) put(e *traceEvent) {
	head := ",\n"
	if !t.begun {
		t.begun, head = true, "{\"traceEvents\":[\n"
	}
	text, err := json.Marshal(e)
	if err != nil { // all values are numbers and strings
		panic("reports: " + err.Error())
	}
	t.b.WriteString(head + string(text))
}

// Every host is a process of the trace, so that its tracks stand together. The first track has the moments; momentTrack
// is its number. The next ones have what lasts.
const momentTrack = 1

func pidOf(host int) int { return host + 1 }

// tracks names the processes and their first tracks.
func (t *traceWriter) tracks(x *chart) {
	for h, name := range x.hosts {
		t.put(&traceEvent{Name: "process_name", Phase: "M", PID: pidOf(h), Args: map[string]any{"name": name}})
		t.put(&traceEvent{Name: "process_sort_index", Phase: "M", PID: pidOf(h), Args: map[string]any{"sort_index": h}})
		t.track(h, momentTrack, name)
	}
}

func (t *traceWriter) track(host, tid int, name string) {
	t.put(&traceEvent{Name: "thread_name", Phase: "M", PID: pidOf(host), TID: tid, Args: map[string]any{"name": name}})
	t.put(&traceEvent{Name: "thread_sort_index", Phase: "M", PID: pidOf(host), TID: tid,
		Args: map[string]any{"sort_index": tid}})
}

// moments writes what happened, each in its part of its step, and the arrows between.
func (t *traceWriter) moments(x *chart) {
	begin := make([]int, len(x.moments))
	length := make([]int, len(x.moments))
	for i := 0; i < len(x.moments); {
		n := 1
		for i+n < len(x.moments) && x.moments[i+n].step == x.moments[i].step {
			n++
		}
		for k := range n {
			length[i+k] = max(1, stepMicros/n)
			begin[i+k] = x.moments[i].step*stepMicros + min(k*length[i+k], stepMicros-1)
		}
		i += n
	}
	arrows := 0
	for i := range x.moments {
		m := &x.moments[i]
		t.put(&traceEvent{Name: m.name, Phase: "X", Cat: "event", Time: begin[i], Dur: length[i], PID: pidOf(m.host),
			TID: momentTrack, Args: map[string]any{"text": m.text, "step": m.step, "virtual ms": m.times}})
		for _, c := range m.after {
			arrows++
			from := &x.moments[c.moment]
			t.put(&traceEvent{Name: c.kind, Phase: "s", Cat: "cause", Time: begin[c.moment], PID: pidOf(from.host),
				TID: momentTrack, ID: arrows})
			t.put(&traceEvent{Name: c.kind, Phase: "f", Bind: "e", Cat: "cause", Time: begin[i], PID: pidOf(m.host),
				TID: momentTrack, ID: arrows})
		}
	}
}

// spans writes what lasts, for each client.
func (t *traceWriter) spans(f *Failure, x *chart) {
	all := newSpans(f)
	for host := 1 + x.servers; host < len(x.hosts); host++ {
		next := momentTrack + 1
		next = t.lasting(x, host, next, "session", all.sessions)
		next = t.lasting(x, host, next, "belief", all.beliefs)
		next = t.lasting(x, host, next, "operation", all.operations)
		t.lasting(x, host, next, "call", all.calls)
	}
}

// lasting writes the spans of one kind and client, and returns the number of the next track. Slices of one track must
// not overlap, so a span that would overlap another gets a further track.
func (t *traceWriter) lasting(x *chart, host, first int, kind string, list []span) int {
	var ends []int // of each track
	for _, s := range list {
		if int(s.client) != host-x.servers {
			continue
		}
		begin, end := s.from*stepMicros, s.to*stepMicros
		if end == begin {
			end += stepMicros / 2
		}
		k := 0
		for k < len(ends) && ends[k] > begin {
			k++
		}
		if k == len(ends) {
			ends = append(ends, 0)
			name := x.hosts[host] + " " + kind
			if k > 0 {
				name = fmt.Sprintf("%s %d", name, k+1)
			}
			t.track(host, first+k, name)
		}
		ends[k] = end
		t.put(&traceEvent{Name: clip(Printable(x.names.text(cmp.Or(s.text, s.class)))), Phase: "X", Cat: kind, Time: begin,
			Dur: end - begin, PID: pidOf(host), TID: first + k,
			Args: map[string]any{"text": x.names.text(s.title), "from step": s.from, "to step": s.to}})
	}
	return first + len(ends)
}
