package explore

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"zksim/model/history"
)

// Console shows a session on a terminal in raw mode and obeys single keys. A command with an argument, and a name,
// which begins with a colon, is asked for in the last line. The arrow keys go back and forward.
type Console struct {
	session *Session
	out     io.Writer
	size    func() (columns, rows int)
	save    Saver

	asking  bool
	prefix  string // the command that asks; "": a name is asked for
	text    string // typed so far
	message string // what the last key came to
	page    string // shown instead of the state until the next key
	escape  string // an escape sequence that has begun
}

// NewConsole returns a console that writes to a terminal of that size. Begin it, give it what is typed, and end it.
func NewConsole(x *Session, out io.Writer, size func() (columns, rows int), save Saver) *Console {
	return &Console{session: x, out: out, size: size, save: save}
}

// What switches a terminal to its other screen and back, and clears it.
const (
	otherScreen = "\x1b[?1049h"
	ownScreen   = "\x1b[?1049l"
	clearScreen = "\x1b[H\x1b[2J"
)

// Begin shows the session.
func (k *Console) Begin() error {
	if _, err := io.WriteString(k.out, otherScreen); err != nil {
		return err
	}
	return k.draw()
}

// End gives the terminal back.
func (k *Console) End() { io.WriteString(k.out, ownScreen) }

// The keys that are no letters.
const (
	interrupt = 3
	endOfFile = 4
	newline   = '\n'
	enter     = '\r'
	escapeKey = 0x1b
	backspace = 0x7f
	control   = 0x20 // below it are control characters
)

// Type takes what was typed. It returns ErrQuit when the session is to end.
func (k *Console) Type(typed []byte) error {
	for _, b := range typed {
		if err := k.key(b); err != nil {
			return err
		}
	}
	if k.escape == "\x1b" { // the key itself, and no sequence
		k.escape, k.asking = "", false
	}
	return k.draw()
}

// key takes one byte of what was typed.
func (k *Console) key(b byte) error {
	k.message, k.page = "", ""
	switch {
	case b == interrupt || b == endOfFile:
		return ErrQuit
	case k.escape != "":
		return k.sequence(b)
	case b == escapeKey:
		k.escape = "\x1b"
		return nil
	case k.asking:
		return k.typed(b)
	}
	if b == ':' {
		k.asking, k.prefix, k.text = true, "", ""
		return nil
	}
	for _, o := range orders() {
		if o.letter == b && o.asks {
			k.asking, k.prefix, k.text = true, string(o.letter)+" ", ""
			return nil
		}
	}
	switch {
	case b <= control:
		return nil
	case b >= utf8.RuneSelf: // a byte of a letter that is not ASCII
		k.message = "all keys are ASCII, expected one of those shown, or h for help"
		return nil
	}
	return k.obey(string(rune(b)))
}

// sequence takes a byte of an escape sequence, of which those of the arrow keys are known.
func (k *Console) sequence(b byte) error {
	k.escape += string(rune(b))
	if k.escape == "\x1b[" || k.escape == "\x1bO" {
		return nil
	}
	if b >= '0' && b <= '9' || b == ';' {
		return nil
	}
	k.escape = ""
	if k.asking {
		return nil
	}
	switch b {
	case 'D':
		return k.obey("b")
	case 'C':
		return k.obey("f")
	}
	return nil
}

// typed takes a byte of a line that was asked for.
func (k *Console) typed(b byte) error {
	switch {
	case b == enter || b == newline:
		k.asking = false
		if strings.TrimSpace(k.prefix+k.text) == "" {
			return nil
		}
		return k.obey(k.prefix + k.text)
	case b == backspace || b == '\b':
		_, size := utf8.DecodeLastRuneInString(k.text)
		k.text = k.text[:len(k.text)-size]
	case b >= control && len(k.text) < maxLine:
		k.text += string([]byte{b})
	}
	return nil
}

func (k *Console) obey(line string) error {
	var shown bytes.Buffer
	columns, _ := k.size()
	c := &commands{save: k.save, out: &shown, wide: columns}
	err := k.session.obey(line, c)
	if errors.Is(err, ErrQuit) {
		return err
	}
	if err != nil {
		k.message = err.Error()
		return nil
	}
	if strings.Count(shown.String(), "\n") > 1 {
		k.page = shown.String()
	} else {
		k.message = strings.TrimSpace(shown.String())
	}
	return nil
}

// hint is the last line when nothing else is to be said there.
const hint = "1-9 A-Z take   b back   f forward   g N   r run on   l steps   w FILE   : name   h help   q quit"

// draw shows everything. What does not fit is left out in the middle, since the transitions stand at the end.
func (k *Console) draw() error {
	columns, rows := k.size()
	text := k.page
	if text == "" {
		var b strings.Builder
		if err := k.session.Show(&b, columns); err != nil {
			return err
		}
		text = b.String()
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if room := max(4, rows-2); len(lines) > room {
		const head = 2
		left := len(lines) - room + 1
		lines = append(append(lines[:head:head], fmt.Sprintf("… %s that do not fit", history.Counted(left, "line"))),
			lines[head+left:]...)
	}
	for i := range lines {
		lines[i] = fitted(lines[i], columns)
	}
	last := hint
	switch {
	case k.asking:
		last = cmp.Or(k.prefix, ": ") + k.text
	case k.message != "":
		last = k.message
	}
	_, err := io.WriteString(k.out, clearScreen+strings.Join(lines, "\r\n")+"\r\n\r\n"+fitted(last, columns))
	return err
}
