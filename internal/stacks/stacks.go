// Package stacks reads what Go reports about goroutines: what each is doing, its calls, and which goroutine started it.
// It serves to find client code that leaves the simulator. It must not know worlds, clients or scenarios; of this
// module it only knows the names of the functions under which client code runs.
package stacks

import (
	"bytes"
	"path"
	"runtime"
	"strconv"
	"strings"
)

// Frame is a call.
type Frame struct {
	Func string // with its package, as in "zksim/recipes.(*Lock).Lock"
	File string // the last two elements of its path
	Line int
}

// String returns the frame as a line that is the same on every machine.
func (f Frame) String() string { return f.Func + " " + f.File + ":" + strconv.Itoa(f.Line) }

// Goroutine is one goroutine at one moment.
type Goroutine struct {
	ID     uint64 // never reused
	Bubble string // the number of its testing/synctest bubble; "" if it is in none
	Labels string // of runtime/pprof, as in `"client": "c1"`, with GODEBUG=tracebacklabels=1
	State  string // as in "running", "sleep" or "chan receive"
	Rests  bool   // it waits only for its bubble, time included, so the bubble may rest
	text   []byte // its calls
}

// Dump takes snapshots of all goroutines. It reuses its memory.
type Dump struct{ buf []byte }

// maxDump bounds the memory of a dump; goroutines beyond it are left out.
const maxDump = 64 << 20

// Each stops all goroutines for a moment and then calls f with each of them, until f returns false.
func (d *Dump) Each(f func(g Goroutine) bool) {
	if d.buf == nil {
		d.buf = make([]byte, 64<<10)
	}
	n := runtime.Stack(d.buf, true)
	for n == len(d.buf) && n < maxDump {
		d.buf = make([]byte, 2*n)
		n = runtime.Stack(d.buf, true)
	}
	Each(d.buf[:n], f)
}

// Each calls f with each goroutine in a text, such as a dying process prints, until f returns false.
func Each(text []byte, f func(g Goroutine) bool) {
	for len(text) > 0 {
		var block []byte
		block, text, _ = bytes.Cut(text, []byte("\n\n"))
		if g, ok := parse(block); ok && !f(g) {
			return
		}
	}
}

// Current returns the calling goroutine.
func Current() Goroutine {
	buf := make([]byte, 64<<10)
	g, _ := parse(buf[:runtime.Stack(buf, false)])
	return g
}

// ID returns the number of the calling goroutine.
func ID() uint64 {
	var buf [64]byte
	line := buf[:runtime.Stack(buf[:], false)]
	line = line[min(len(line), len(header)):]
	end := bytes.IndexByte(line, ' ')
	id, _ := strconv.ParseUint(string(line[:max(0, end)]), 10, 64)
	return id
}

const header = "goroutine "

// parse reads the first line: "goroutine 18 [chan receive, 2 minutes]:".
func parse(block []byte) (g Goroutine, ok bool) {
	line, text, _ := bytes.Cut(block, []byte("\n"))
	line, ok = bytes.CutPrefix(line, []byte(header))
	if !ok {
		return g, false
	}
	number, state, _ := bytes.Cut(line, []byte(" "))
	id, err := strconv.ParseUint(string(number), 10, 64)
	if err != nil {
		return g, false
	}
	state = state[bytes.IndexByte(state, '[')+1:]
	state, labels, _ := bytes.Cut(state, []byte(" labels:{"))
	labels, _, _ = bytes.Cut(labels, []byte("}]:"))
	_, bubble, _ := bytes.Cut(state, []byte("synctest bubble "))
	bubble, _, _ = bytes.Cut(bubble, []byte("]"))
	if i := bytes.IndexAny(state, ",]"); i >= 0 {
		state = state[:i]
	}
	state = bytes.TrimSuffix(state, []byte(" (scan)"))
	state, rests := bytes.CutSuffix(state, []byte(" (durable)"))
	state = bytes.TrimSuffix(state, []byte(" (synctest)"))
	return Goroutine{ID: id, State: string(state), Rests: rests, Bubble: string(bubble), Labels: string(labels),
		text: text}, true
}

const createdBy = "created by "

// Parent returns the goroutine that started g, and the function with the go statement; 0 if there is none.
func (g *Goroutine) Parent() (id uint64, at Frame) {
	i := bytes.LastIndex(g.text, []byte(createdBy))
	if i < 0 {
		return 0, Frame{}
	}
	line, rest, _ := bytes.Cut(g.text[i+len(createdBy):], []byte("\n"))
	name, number, ok := bytes.Cut(line, []byte(" in goroutine "))
	if !ok {
		return 0, Frame{}
	}
	id, _ = strconv.ParseUint(string(number), 10, 64)
	at = Frame{Func: string(name)}
	at.File, at.Line = place(rest)
	return id, at
}

// Frames returns the calls in g, the innermost first.
func (g *Goroutine) Frames() (list []Frame) {
	for rest := g.text; len(rest) > 0; {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		if bytes.HasPrefix(line, []byte(createdBy)) {
			break
		}
		end := bytes.LastIndexByte(line, '(')
		if end < 0 || line[0] == '\t' {
			continue
		}
		x := Frame{Func: string(line[:end])}
		x.File, x.Line = place(rest)
		list = append(list, x)
	}
	return list
}

// place reads the line below a function: "\t/path/to/file.go:12 +0x1d".
func place(rest []byte) (file string, line int) {
	text, _, _ := strings.Cut(strings.TrimPrefix(string(firstLine(rest)), "\t"), " +0x")
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return text, 0
	}
	line, _ = strconv.Atoi(text[i+1:])
	file = strings.ReplaceAll(text[:i], "\\", "/")
	return Short(file), line
}

// Short returns the part of a path that is the same on every machine: the file and its folder.
func Short(file string) string { return path.Join(path.Base(path.Dir(file)), path.Base(file)) }

func firstLine(text []byte) []byte {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return line
}
