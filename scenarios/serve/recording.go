package serve

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"zksim/internal/files"
	"zksim/internal/judge"
	"zksim/model"
	"zksim/model/history"
	"zksim/model/jute"
	"zksim/reports"
	"zksim/sim"
)

// Recording is what clients have asked of an ensemble, and what struck them. Package recording turns it into a
// scenario.
type Recording struct {
	Servers  int
	Like     model.Like // whose semantics they have
	Requests []Asked
	// Steps are the steps of the world in order, and what clients do: "connect c1 s2", "disconnect c1", and "ask c1" for
	// each request that a program can make. A fault that strikes another request stands as the end of the connection.
	Steps []string
	// Violations are what the judges, or a test, have said about the run.
	Violations []string
	// Before are the violations from before a reset. The requests and steps of that time are not in the recording.
	Before []string
}

// Asked is a request of a client, and its answer.
type Asked struct {
	Client  int      // 1 for c1
	Heard   []string // the watch events that have come since the client's last request, as "deleted /a"
	Request model.Request
	Err     string // error of the answer; empty: success, or see Open
	Path    string // path that a create has made
	Read    string // what the answer told, see [Read]
	Open    bool   // the answer is unknown
}

// recordingFormat is in the first line that a recording adds to a history.
const recordingFormat = "zksim recording 5"

// recordKinds are the kinds of lines of a recording, without the last one. The first is that of the first line.
var recordKinds = []string{"recording", "request", "step", "violation", "before", "session", "rule", "asked",
	"reported"}

// recordLine is a line of a recording.
type recordLine struct {
	Kind       string   `json:"kind"` // "recording" in the first line, "end" in the last; docs/files.md has all kinds
	Format     string   `json:"format,omitempty"`
	Servers    int      `json:"servers,omitempty"`
	Like       string   `json:"like,omitempty"`       // product that the servers behave like; "": ZooKeeper
	Incomplete string   `json:"incomplete,omitempty"` // why
	Forgotten  int      `json:"forgotten,omitempty"`  // events of the history
	Client     int      `json:"number,omitempty"`
	Op         string   `json:"op,omitempty"`
	Path       string   `json:"path,omitempty"`
	Packet     string   `json:"packet,omitempty"` // the request as on the wire, base64
	Heard      []string `json:"heard,omitempty"`
	Err        string   `json:"err,omitempty"`
	Made       string   `json:"made,omitempty"`
	Read       string   `json:"read,omitempty"`
	Open       bool     `json:"open,omitempty"`
	Name       string   `json:"name,omitempty"`    // of a step or a rule
	Message    string   `json:"message,omitempty"` // of a violation
	Session    string   `json:"session,omitempty"` // that existed at the end
	Away       away     `json:"away,omitempty"`
	Times      int      `json:"times,omitempty"`   // how often a rule has struck
	Earlier    int      `json:"earlier,omitempty"` // ... before a reset
	Lines      int      `json:"lines,omitempty"`   // of the recording before this one, which is the last
}

// WriteRecording writes the history, see [reports.WriteHistory]. After it come the requests and steps from which
// [ReadRecording] makes a recording, unless there is a [Ensemble.RecordingGap], and what [JudgeRecording] must know.
// Options.Record must be set. No client is served while it writes, so it is best called after [Ensemble.Close].
func (e *Ensemble) WriteRecording(w io.Writer) error {
	h, _ := e.History()
	if err := reports.WriteHistory(w, h); err != nil {
		return err
	}
	j := e.Judge()
	e.mu.Lock()
	defer e.mu.Unlock()
	v := e.evidence()
	begin := recordLine{Kind: "recording", Format: recordingFormat, Servers: len(e.nodes), Incomplete: e.record.gap,
		Forgotten: v.forgotten}
	if e.options.Like != model.ZooKeeper {
		begin.Like = e.options.Like.String()
	}
	list := append([]recordLine{begin}, e.record.requests...)
	for _, name := range e.record.names {
		list = append(list, recordLine{Kind: "step", Name: name})
	}
	for _, text := range j.Violations {
		list = append(list, recordLine{Kind: "violation", Message: text})
	}
	list = append(list, v.lines(j.Before)...)
	list = append(list, recordLine{Kind: "end", Lines: len(list)})
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	for i := range list {
		if err := enc.Encode(&list[i]); err != nil {
			return err
		}
	}
	return b.Flush()
}

// RecordingGap says why a recording would be incomplete, such as "more than 1000 clients"; empty if it is complete.
func (e *Ensemble) RecordingGap() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.record.gap
}

// maxRequest limits the bytes of a request, with the packet in base64, and the events before it.
const maxRequest = 4 << 20

// ReadRecording reads what [Ensemble.WriteRecording] has written. Errors name the line that is wrong and what was
// expected.
func ReadRecording(r io.Reader) (*Recording, error) {
	x := &Recording{}
	return x, eachLine(r, x.add)
}

// eachLine reads the lines of a recording, from the one with its format to the last one. It skips the history before
// them. A file that was cut, or has lost lines, is an error.
func eachLine(r io.Reader, add func(*recordLine) error) error {
	in := bufio.NewScanner(r)
	in.Buffer(nil, reports.MaxHistoryLine) // before a recording there may be any history
	lines, ended, line := 0, false, 1      // lines counts the lines of the recording
	for ; in.Scan(); line++ {
		var l recordLine
		err := files.Unmarshal(in.Bytes(), &l)
		switch {
		case lines == 0 && l.Kind != "" && l.Kind != "recording":
			continue
		case err != nil:
			err = fmt.Errorf("%w, expected a JSON object", err)
		case ended:
			err = errors.New("expected nothing behind the end of the recording")
		case l.Kind != "end" && !slices.Contains(recordKinds, l.Kind):
			err = fmt.Errorf("no kind of line is called %.60q, expected one of %s", l.Kind, strings.Join(recordKinds, ", "))
		case l.Kind != "end":
			lines++
			err = add(&l)
		case l.Lines != lines:
			err = fmt.Errorf("the recording has %d lines before its end, expected %d", lines, l.Lines)
		default:
			ended = true
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
	if err := in.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("line %d: no line of a recording is longer than %d bytes", line, reports.MaxHistoryLine)
	} else if err != nil {
		return err
	}
	switch {
	case lines == 0:
		return ErrNoRecording
	case !ended:
		return fmt.Errorf(`line %d: the recording was cut off, expected that its last line is {"kind":"end",...}`, line)
	}
	return nil
}

// known returns an error if a recording that begins with this line cannot be read.
func (l *recordLine) known() error {
	switch {
	case l.Format != recordingFormat:
		return fmt.Errorf("a recording of the format %q, expected %q", l.Format, recordingFormat)
	case l.Servers != 1 && l.Servers != 3:
		return fmt.Errorf("a recording of %d servers, expected 1 or 3", l.Servers)
	}
	return nil
}

// ErrNoRecording is the error of ReadRecording for a history without a recording.
var ErrNoRecording = errors.New(`no recording: expected a line {"kind":"recording",...}, as "serve -record" writes`)

// maxRecorded is the highest number of a client in a recording.
const maxRecorded = 1000

// add takes a line.
func (r *Recording) add(l *recordLine) error {
	switch l.Kind {
	case "recording":
		if err := l.known(); err != nil {
			return err
		}
		if l.Incomplete != "" {
			return fmt.Errorf("expected a whole recording; this one ended with %s", l.Incomplete)
		}
		r.Servers = l.Servers
		if l.Like != "" {
			var err error
			if r.Like, err = model.ParseLike(l.Like); err != nil {
				return err
			}
		}
	case "request":
		packet, err := base64.StdEncoding.DecodeString(l.Packet)
		if err != nil {
			return fmt.Errorf("packet: %w", err)
		}
		_, q, err := jute.ParseRequest(packet)
		if err != nil {
			return fmt.Errorf("packet: %w", err)
		}
		if l.Client < 1 || l.Client > maxRecorded {
			return fmt.Errorf("client %d, expected 1 to %d", l.Client, maxRecorded)
		}
		r.Requests = append(r.Requests, Asked{Client: l.Client, Heard: l.Heard, Request: q, Err: l.Err, Path: l.Made,
			Read: l.Read, Open: l.Open})
	case "step":
		r.Steps = append(r.Steps, l.Name)
	case "violation":
		r.Violations = append(r.Violations, l.Message)
	case "before":
		r.Before = append(r.Before, l.Message)
	}
	return nil
}

// The memory that parts of a recording take, besides their strings.
const (
	requestLen = 512
	heardLen   = 16
	nameLen    = 16
)

// spend records that a recording takes n more bytes of memory, and reports whether it may.
func (r *recorder) spend(n int) bool {
	if r.bytes += n; r.keeps && r.bytes > maxRecording {
		r.giveUp(fmt.Sprintf("more than %d MB", maxRecording>>20))
	}
	return r.keeps
}

// giveUp drops a recording that cannot be replayed.
func (r *recorder) giveUp(why string) {
	r.keeps, r.gap, r.requests, r.names, r.known, r.heard = false, why, nil, nil, nil, nil
}

// keep records a request and returns its index; -1 if it is not recorded, as on a connection that the session has left:
// a program has one connection, and the order of its requests would be another one.
func (r *recorder) keep(s *session, q *model.Request) int {
	if !r.keeps || q.Op == model.OpPing || s.movedTo != nil {
		return -1
	}
	client := s.client.ID()
	packet := base64.StdEncoding.EncodeToString(jute.AppendRequest(nil, int32(len(r.requests)), q))
	switch heard := r.heard[client]; {
	case client > maxRecorded:
		r.giveUp(fmt.Sprintf("more than %d clients", maxRecorded))
	case len(r.requests) >= r.limit:
		r.giveUp(fmt.Sprintf("more than %d requests", r.limit))
	case len(packet)+heard.bytes > maxRequest:
		r.giveUp(fmt.Sprintf("more than %d MB for a request and the events before it", maxRequest>>20))
	case r.spend(requestLen + len(packet)):
		r.requests = append(r.requests, recordLine{Kind: "request", Client: client, Packet: packet, Heard: heard.events,
			Op: sim.OpName(q), Path: judge.ShortPath(q.Path), Open: true})
		if Played(q) {
			r.note("ask %s", s.client.Name())
		}
	}
	delete(r.heard, client)
	return len(r.requests) - 1
}

// heard is what a client has been told since its last request.
type heard struct {
	events []string
	bytes  int
}

// hears records an event that a client is told.
func (r *recorder) hears(s *session, ev *model.Event) {
	text := history.EventName(ev.Type) + " " + ev.Path
	n := heardLen + len(text)
	if client := s.client.ID(); r.keeps && r.spend(n) {
		x := r.heard[client]
		r.heard[client] = heard{append(x.events, text), x.bytes + n}
	}
}

// kept records the answer to a request.
func (r *recorder) kept(at int, q *model.Request, res *model.Response) {
	if at < 0 || at >= len(r.requests) {
		return
	}
	x := &r.requests[at]
	x.Open = false
	if err := q.Refusal(res).Err(); err != nil {
		x.Err = err.Error()
		return
	}
	if strings.HasPrefix(sim.OpName(q), "create") {
		x.Made = res.Path
		r.spend(len(res.Path))
	}
	x.Read = Read(q, res)
}

// note records a step, or what corresponds to one in a scenario.
func (r *recorder) note(format string, args ...any) {
	if !r.keeps {
		return
	}
	name := fmt.Sprintf(format, args...)
	known, ok := r.known[name]
	if !ok {
		known = name
		r.known[name] = name
		r.spend(nameLen + len(name))
	}
	if r.spend(nameLen) {
		r.names = append(r.names, known)
	}
}

// Played reports whether a program of a scenario can make a request. The steps of others are in no recording.
func Played(q *model.Request) bool {
	switch q.Op {
	case model.OpCreate, model.OpCreate2, model.OpCreateContainer, model.OpCreateTTL, model.OpDelete, model.OpExists,
		model.OpGetData, model.OpSetData, model.OpGetACL, model.OpSetACL, model.OpGetChildren, model.OpGetChildren2,
		model.OpSync, model.OpAuth, model.OpCloseSession:
		return true
	case model.OpMulti:
		return !slices.ContainsFunc(q.Ops, Unplayed)
	}
	return false
}

// Unplayed reports whether go-zookeeper's Multi cannot contain such an operation.
func Unplayed(q model.Request) bool {
	switch q.Op {
	case model.OpCreate, model.OpCreate2, model.OpDelete, model.OpSetData, model.OpCheck:
		return false
	}
	return true
}
