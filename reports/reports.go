// Package reports writes what a failed run leaves behind: files that a stranger,
// or a program, can read. The same run gives the same bytes.
package reports

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"zksim/checkers"
	"zksim/model/history"
)

// Report is report.json.
type Report struct {
	Format   string `json:"format"` // "zksim report 1"
	Scenario string `json:"scenario"`
	Backend  string `json:"backend"` // "sim"; "zookeeper" or "serve", which have neither seed nor schedule nor hash
	Seed     uint64 `json:"seed"`
	Servers  int    `json:"servers"`
	Like     string `json:"like,omitempty"` // whose semantics the servers have; empty: ZooKeeper's
	Clients  int    `json:"clients"`
	Rounds   int    `json:"rounds"` // how often each client repeats what it does; 0: it does not
	Faults   string `json:"faults"` // the plan
	Verdict  string `json:"verdict"`
	Checker  string `json:"checker"`
	Message  string `json:"message"`
	// Also is what other checkers say of the same run, each with its name.
	Also      []string         `json:"also,omitempty"`
	Stack     []string         `json:"stack,omitempty"`       // of code that has panicked: its calls, the innermost first
	Waits     []Waits          `json:"waits,omitempty"`       // where code waits in the end
	Steps     int              `json:"steps"`                 // of the run that failed first
	Minimal   int              `json:"minimal"`               // transitions that the shrunk schedule prescribes
	Cut       string           `json:"not_minimal,omitempty"` // why it may not be minimal; empty if it is
	Struck    []string         `json:"struck"`                // the faults that happened, in order
	Hash      string           `json:"hash"`
	Again     string           `json:"again,omitempty"` // how often it fails when it is repeated, if not each time
	Reproduce []string         `json:"reproduce"`
	Why       *history.Futures `json:"why,omitempty"` // nil: not looked for
}

// Waits is where the code of a client waits in the end, although nothing can wake it.
type Waits struct {
	Client string   `json:"client"` // with the name of its goroutine if that is not the first one, as "c1/watch"
	Calls  []string `json:"calls"`  // the innermost first
}

// SetWaits fills in what a history says of where code waits.
func (r *Report) SetWaits(h *history.History) {
	for _, x := range h.Waiting {
		if len(x.Calls) > 0 {
			r.Waits = append(r.Waits, Waits{strings.TrimSuffix(client(x.Client)+"/"+x.Where, "/"), x.Calls})
		}
	}
}

// Format is the version of report.json.
const Format = "zksim report 1"

// Write writes the report as indented JSON.
func (r *Report) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// SetVerdict fills in what a checker says.
func (r *Report) SetVerdict(v checkers.Verdict) {
	r.Verdict, r.Checker, r.Message = v.Level.String(), v.Checker, v.Message
}

// Struck returns the names of the faults in a history.
func Struck(h *history.History) []string {
	names := []string{}
	for i := range h.Events {
		if h.Events[i].Kind == history.Fault {
			names = append(names, h.Events[i].Op)
		}
	}
	return names
}

// event is one line of history.jsonl.
type event struct {
	I        int    `json:"i"`
	Step     int32  `json:"step"`
	Kind     string `json:"kind"`
	Client   string `json:"client,omitempty"`
	Object   int32  `json:"object,omitempty"`
	Op       string `json:"op,omitempty"`
	Path     string `json:"path,omitempty"`
	Zxid     int64  `json:"zxid,omitempty"`
	Session  string `json:"session,omitempty"`
	Value    int64  `json:"value,omitempty"`
	Version  int32  `json:"version,omitempty"`
	Data     string `json:"data,omitempty"`
	Bytes    []byte `json:"bytes,omitempty"` // data that is not UTF-8, which a JSON string cannot hold
	Task     string `json:"task,omitempty"`
	OK       bool   `json:"ok,omitempty"`
	Proposed bool   `json:"proposed,omitempty"`
	Err      string `json:"err,omitempty"`
}

// WriteHistory writes one JSON object per line: the events in order, then the coroutines that still wait and the znodes
// that are left, and last how many lines these are.
func WriteHistory(w io.Writer, h *history.History) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	for i := range h.Events {
		e := &h.Events[i]
		line := event{I: i, Step: e.Step, Kind: e.Kind.String(), Client: client(e.Client), Object: e.Object, Op: e.Op,
			Path: e.Path, Zxid: e.Zxid, Session: hex(e.Session), Value: e.Value, Version: e.Version, Task: e.Task, Data: e.Data,
			OK: e.OK, Proposed: e.Proposed}
		if !utf8.ValidString(e.Data) {
			line.Data, line.Bytes = "", []byte(e.Data)
		}
		if e.Err != nil {
			line.Err = e.Err.Error()
		}
		enc.Encode(line)
	}
	for _, x := range h.Waiting {
		enc.Encode(map[string]any{"kind": "waiting", "client": client(x.Client), "where": x.Where,
			"paths": append([]string{}, x.Paths...)})
	}
	for _, n := range h.Tree {
		enc.Encode(map[string]any{"kind": "znode", "path": n.Path, "owner": hex(n.Owner), "czxid": n.Czxid})
	}
	lines := len(h.Events) + len(h.Waiting) + len(h.Tree)
	enc.Encode(map[string]any{"kind": endKind, "lines": lines})
	return b.Flush() // fails if any write did
}

func client(n int32) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("c%d", n)
}

func hex(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("0x%x", uint64(n))
}

// live reports whether the run was one of real clients.
func (f *Failure) live() bool { return f.Report.Backend != "sim" }

// Recorded returns the failure of a run of which only the events are known. Each event becomes a step, in h as well.
func Recorded(h *history.History) *Failure {
	f := &Failure{History: h, Trace: &history.Trace{}, Verdict: checkers.Verdict{Event: -1}}
	for i := range h.Events {
		e := &h.Events[i]
		e.Step = int32(i + 1)
		f.Trace.Steps = append(f.Trace.Steps, history.Step{Name: e.Kind.String() + " " + client(e.Client)})
	}
	return f
}
