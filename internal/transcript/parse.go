package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"zksim/internal/files"
	"zksim/model"
)

// Limits that keep a damaged transcript from taking all memory or time.
const (
	maxLineLen   = 16 << 20
	maxPacketLen = 16 << 20
	maxIdleMs    = 60_000
)

// Line numbers start at 1.
const (
	headerLine    = 1
	firstStepLine = 2
)

// Parse reads a transcript, one JSON object per line, the header first. It is strict: it refuses what it does not
// understand, and names the line.
func Parse(r io.Reader) (*Transcript, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLineLen)
	t := &Transcript{}
	n := 0
	for lines.Scan() {
		n++
		var err error
		if n == headerLine {
			err = parseHeader(lines.Bytes(), &t.Header)
		} else {
			t.Steps = append(t.Steps, Step{})
			err = decode(lines.Bytes(), &t.Steps[n-firstStepLine])
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d: no line of a transcript is longer than %d bytes", n+1, maxLineLen)
	} else if err != nil {
		return nil, fmt.Errorf("line %d: %w", n+1, err)
	}
	if n == 0 {
		return nil, errors.New("line 1: no header: the transcript is empty")
	}
	if err := t.Validate(); err != nil {
		return nil, err
	}
	return t, nil
}

// decode reads the one JSON object of a line.
func decode(line []byte, into any) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return errors.New("empty line, want a JSON object")
	}
	if err := files.Unmarshal(line, into); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

func parseHeader(line []byte, h *Header) error {
	var probe struct{ Kind string }
	if err := json.Unmarshal(line, &probe); err == nil && probe.Kind != "header" {
		return errors.New(`no header: want an object with "kind":"header"`)
	}
	return decode(line, h)
}

// Validate reports what is wrong with a transcript, and names the line: steps out of order, unknown operations,
// sessions used before they are opened.
func (t *Transcript) Validate() error {
	if t.Header.Kind != "header" {
		return errors.New(`line 1: no header: want "kind":"header"`)
	}
	if _, err := readSettings(t.Header.Cfg); err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	opened := map[string]bool{}
	for i := range t.Steps {
		st := &t.Steps[i]
		if st.I != i {
			return fmt.Errorf("line %d: step %d, want %d", i+firstStepLine, st.I, i)
		}
		err := st.check(opened)
		if err == nil && st.Pipelined {
			err = checkBatch(t.Steps[:i], st)
		}
		if err == nil {
			err = st.Outcome.check(opened)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", i+firstStepLine, err)
		}
	}
	return nil
}

// check examines the request of a step. It notes the session that the step opens.
func (st *Step) check(opened map[string]bool) error {
	switch st.Op {
	case opOpen:
		if st.Session == "" {
			return errors.New("open needs a session name")
		}
		if opened[st.Session] {
			return fmt.Errorf("session %q is opened twice", st.Session)
		}
		opened[st.Session] = true
	case opWait, opIdle:
	default:
		if !opened[st.Session] {
			return fmt.Errorf("session %q is not open", st.Session)
		}
	}
	return st.Args.check(false)
}

// check examines operation and arguments.
func (a *Args) check(nested bool) error {
	op, isRequest := requests[a.Op]
	switch {
	case a.Op == "":
		return errors.New("no op")
	case !isRequest && !control[a.Op] && a.Op != opAuth && a.Op != opRaw:
		return fmt.Errorf("unknown op %q", a.Op)
	case nested && (!isRequest || op == model.OpMulti || op == model.OpMultiRead || op == model.OpCloseSession):
		return fmt.Errorf("op %q inside a multi", a.Op)
	case len(a.Ops) > 0 && op != model.OpMulti && op != model.OpMultiRead:
		return fmt.Errorf("op %q has no sub-operations", a.Op)
	case a.Op == opWait && (a.Version == nil || *a.Version < 1):
		return errors.New("wait needs the number of txns as a positive version")
	case a.Op == opIdle && (a.Timeout < 0 || a.Timeout > maxIdleMs):
		return fmt.Errorf("idle needs a timeout of at most %d ms", maxIdleMs)
	case a.Op == opRaw && !rawOpcode(a.Opcode):
		return fmt.Errorf("raw opcode %d is a named op", a.Opcode)
	case a.Fill < 0 || a.Fill > maxPacketLen:
		return fmt.Errorf("fill must be at most %d", maxPacketLen)
	case a.Fill > 0 && a.Data != nil:
		return errors.New("both data and fill")
	case (a.NullACL || a.EmptyACL) && (a.ACL != nil || a.NullACL && a.EmptyACL):
		return errors.New("more than one of acl, null_acl and empty_acl")
	}
	for i := range a.Ops {
		if err := a.Ops[i].check(true); err != nil {
			return fmt.Errorf("ops[%d]: %w", i, err)
		}
	}
	return nil
}

// rawOpcode reports whether raw may send the opcode: one that the model does not know, or the one that only the leader
// may use.
func rawOpcode(code int32) bool {
	op := model.Op(code)
	return op == model.OpDeleteContainer || op.String() == "unknown"
}

// checkBatch examines a pipelined step against the one it follows.
func checkBatch(before []Step, st *Step) error {
	if len(before) == 0 || control[st.Op] {
		return fmt.Errorf("op %q cannot be pipelined here", st.Op)
	}
	last := &before[len(before)-1]
	if last.Session != st.Session || control[last.Op] {
		return fmt.Errorf("pipelined behind %s of session %q, want a request of session %q",
			last.Op, last.Session, st.Session)
	}
	return nil
}

// check examines the recorded outcome.
func (o *Outcome) check(opened map[string]bool) error {
	if !errNames[o.Res.Err] {
		return fmt.Errorf("res: unknown err %q", o.Res.Err)
	}
	for i, sub := range o.Res.Results {
		if !errNames[sub.Err] {
			return fmt.Errorf("res.results[%d]: unknown err %q", i, sub.Err)
		}
	}
	for _, name := range sessionNames(o.Ev) {
		if !opened[name] {
			return fmt.Errorf("ev: session %q is not open", name)
		}
		for _, e := range o.Ev[name] {
			if kind, _, ok := strings.Cut(e, " "); !ok || !knownEvent(kind) {
				return fmt.Errorf("ev.%s: unknown event %q", name, e)
			}
		}
	}
	return nil
}

func knownEvent(kind string) bool {
	return kind == "created" || kind == "changed" || kind == "deleted" || kind == "child"
}

// sessionNames returns the keys of ev in order.
func sessionNames(ev map[string][]string) []string {
	return slices.Sorted(maps.Keys(ev))
}
