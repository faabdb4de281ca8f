package serve

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"zksim/model"
	"zksim/model/jute"
	"zksim/reports"
	"zksim/sim"
)

// Recording is what clients have asked an ensemble for, and what struck them, in a form that package recording makes a
// scenario of.
type Recording struct {
	Servers  int
	Requests []Asked
	// Steps are the steps of the world in order, and where clients have connected or gone, as "connect c1 s2" and
	// "disconnect c1".
	Steps []string
	// Violations are what the judges, or a test, have said of the run.
	Violations []string
}

// Asked is a request of a client, and its answer.
type Asked struct {
	Client  int      // 1 for c1
	Heard   []string // paths of the watch events that have come since the client's last request
	Request model.Request
	Err     string // of the answer; empty: it was done, or see Open
	Path    string // that a create has made
	Open    bool   // nobody knows the answer
}

// recordingFormat is in the first of the lines that a recording adds to a history.
const recordingFormat = "zksim recording 1"

// recordLine is a line of a recording.
type recordLine struct {
	Kind       string   `json:"kind"` // recording, request, step, violation
	Format     string   `json:"format,omitempty"`
	Servers    int      `json:"servers,omitempty"`
	Incomplete bool     `json:"incomplete,omitempty"`
	Client     int      `json:"number,omitempty"`
	Op         string   `json:"op,omitempty"`
	Path       string   `json:"path,omitempty"`
	Packet     string   `json:"packet,omitempty"` // the request as on the wire, base64
	Heard      []string `json:"heard,omitempty"`
	Err        string   `json:"err,omitempty"`
	Made       string   `json:"made,omitempty"`
	Open       bool     `json:"open,omitempty"`
	Name       string   `json:"name,omitempty"`    // of a step
	Message    string   `json:"message,omitempty"` // of a violation
}

// WriteRecording writes the history, see [reports.WriteHistory], and after it the requests and steps from which
// [ReadRecording] makes a recording. Options.Record must be set.
func (e *Ensemble) WriteRecording(w io.Writer) error {
	h, _ := e.History()
	if err := reports.WriteHistory(w, h); err != nil {
		return err
	}
	j := e.Judge()
	e.mu.Lock()
	defer e.mu.Unlock()
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	lines := []recordLine{{Kind: "recording", Format: recordingFormat, Servers: len(e.nodes),
		Incomplete: e.record.incomplete || !e.options.Record}}
	for i := range e.record.requests {
		x := &e.record.requests[i]
		lines = append(lines, recordLine{Kind: "request", Client: x.Client, Op: sim.OpName(&x.Request), Path: x.Request.Path,
			Packet: base64.StdEncoding.EncodeToString(jute.AppendRequest(nil, int32(i), &x.Request)), Heard: x.Heard,
			Err: x.Err, Made: x.Path, Open: x.Open})
	}
	for _, name := range e.record.names {
		lines = append(lines, recordLine{Kind: "step", Name: name})
	}
	for _, text := range j.Violations {
		lines = append(lines, recordLine{Kind: "violation", Message: text})
	}
	for i := range lines {
		if err := enc.Encode(&lines[i]); err != nil {
			return err
		}
	}
	return b.Flush()
}

// ReadRecording reads what [Ensemble.WriteRecording] has written. Errors say which line is wrong, and what was
// expected.
func ReadRecording(r io.Reader) (*Recording, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 64<<10), 8*model.MaxPacketLen)
	var x *Recording
	line := 1
	for ; in.Scan(); line++ {
		var l recordLine
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("line %d: %w, expected a JSON object", line, err)
		}
		if l.Kind == "recording" {
			if l.Format != recordingFormat || l.Servers != 1 && l.Servers != 3 || l.Incomplete {
				return nil, fmt.Errorf("line %d: expected a whole recording of the format %q, of 1 or 3 servers", line,
					recordingFormat)
			}
			x = &Recording{Servers: l.Servers}
		}
		if x != nil {
			if err := x.add(&l); err != nil {
				return nil, fmt.Errorf("line %d: %w", line, err)
			}
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w, expected at most %d bytes", line, err, 8*model.MaxPacketLen)
	}
	if x == nil {
		return nil, ErrNoRecording
	}
	return x, nil
}

// ErrNoRecording is what ReadRecording returns of a history without one.
var ErrNoRecording = errors.New(`no recording: expected a line {"kind":"recording",...}, as "serve -record" writes`)

// MaxRecorded is the highest number that a client of a recording can have.
const MaxRecorded = 1000

// add takes a line.
func (r *Recording) add(l *recordLine) error {
	switch l.Kind {
	case "request":
		packet, err := base64.StdEncoding.DecodeString(l.Packet)
		if err != nil {
			return fmt.Errorf("packet: %w", err)
		}
		_, q, err := jute.ParseRequest(packet)
		if err != nil {
			return fmt.Errorf("packet: %w", err)
		}
		if l.Client < 1 || l.Client > MaxRecorded {
			return fmt.Errorf("client %d, expected 1 to %d", l.Client, MaxRecorded)
		}
		r.Requests = append(r.Requests, Asked{Client: l.Client, Heard: l.Heard, Request: q, Err: l.Err, Path: l.Made,
			Open: l.Open})
	case "step":
		r.Steps = append(r.Steps, l.Name)
	case "violation":
		r.Violations = append(r.Violations, l.Message)
	}
	return nil
}

// keep notes a request, and returns where it is among them; -1: nowhere.
func (r *recorder) keep(s *session, q *model.Request) int {
	if !r.keeps || q.Op == model.OpPing {
		return -1
	}
	if len(r.requests) >= r.limit {
		r.incomplete = true
		return -1
	}
	r.requests = append(r.requests, Asked{Client: s.client.ID(), Heard: s.heard, Request: *q, Open: true})
	s.heard = nil
	return len(r.requests) - 1
}

// kept notes the answer to a request.
func (r *recorder) kept(at int, q *model.Request, res *model.Response) {
	if at < 0 || at >= len(r.requests) {
		return
	}
	x := &r.requests[at]
	x.Open = false
	if err := res.Err.Err(); err != nil {
		x.Err = err.Error()
	} else if strings.HasPrefix(sim.OpName(q), "create") {
		x.Path = res.Path
	}
}

// note takes down a step, or what comes to the same in a scenario.
func (r *recorder) note(format string, args ...any) {
	if !r.keeps {
		return
	}
	if len(r.names) >= 8*r.limit {
		r.incomplete = true
		return
	}
	r.names = append(r.names, fmt.Sprintf(format, args...))
}
