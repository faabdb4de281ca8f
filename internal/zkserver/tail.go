package zkserver

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

const (
	tailLines = 25  // holds a Java stack trace with its cause
	lineBytes = 500 // longer lines are cut off
)

// tail is a Writer that keeps the last lines written to it and, unless log is nil, copies all lines to log, each with a
// prefix.
type tail struct {
	prefix string
	log    io.Writer

	mu    sync.Mutex
	lines []string
	part  []byte // of the unfinished line
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		t.part = append(t.part, line[:min(len(line), lineBytes-len(t.part))]...)
		if ended {
			t.endLine()
		}
		rest = after
	}
	return len(p), nil // an error would make os/exec stop reading
}

// end makes a line of output without a final newline; nothing follows.
func (t *tail) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.part) > 0 {
		t.endLine()
	}
}

func (t *tail) endLine() {
	line := strings.TrimSuffix(string(t.part), "\r")
	t.part = t.part[:0]
	if len(t.lines) == tailLines {
		t.lines = t.lines[1:]
	}
	t.lines = append(t.lines, line)
	if t.log != nil {
		io.WriteString(t.log, t.prefix+line+"\n")
	}
}

// String returns the kept lines, indented, without a newline at the end.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := t.lines
	if len(t.part) > 0 {
		lines = append(lines[:len(lines):len(lines)], string(t.part))
	}
	if len(lines) == 0 {
		return ""
	}
	return "    " + strings.Join(lines, "\n    ")
}

// serialWriter makes a writer safe for concurrent use.
type serialWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *serialWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}
