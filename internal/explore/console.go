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
	"zksim/reports"
)

// Console shows a session on a terminal in raw mode and obeys single keys. It asks in the last line for the argument of
// a command, and for a name, which begins with a colon. The arrow keys go back and forward.
type Console struct {
	session *Session
	out     io.Writer
	size    func() (columns, rows int)
	save    Saver

	asking  bool
	prefix  string // the command that asks; "": a name is asked for
	text    string // typed so far
	message string // the result of the last key
	page    string // shown instead of the state until the next key
	escape  string // an incomplete escape sequence
}

// NewConsole returns a console that writes to a terminal of that size. Call Begin, then Type with what is typed, then
// End.
func NewConsole(x *Session, out io.Writer, size func() (columns, rows int), save Saver) *Console {
	return &Console{session: x, out: out, size: size, save: save}
}

// Escape sequences that switch a terminal to its other screen and back, and clear it.
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

// End restores the terminal.
func (k *Console) End() { io.WriteString(k.out, ownScreen) }

// The keys that are not letters.
const (
	interrupt = 3
	endOfFile = 4
	newline   = '\n'
	enter     = '\r'
	escapeKey = 0x1b
	backspace = 0x7f
	control   = 0x20 // below it are control characters
)

// Type handles what was typed. It returns ErrQuit when the session should end.
func (k *Console) Type(typed []byte) error {
	for _, b := range typed {
		if err := k.key(b); err != nil {
			return err
		}
	}
	if k.escape == "\x1b" { // the escape key itself, not a sequence
		k.escape, k.asking = "", false
	}
	return k.draw()
}

// key handles one typed byte.
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

// sequence handles a byte of an escape sequence. It knows those of the arrow keys.
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

// typed handles a byte of a line that was asked for.
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

// hint is the last line when there is nothing else to say.
const hint = "1-9 A-Z take   b back   f forward   g N   r run on   l steps   w FILE   : name   h help   q quit"

// draw shows everything. What does not fit is left out in the middle, because the transitions are at the end.
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
		lines[i] = reports.Within(lines[i], columns)
	}
	last := hint
	switch {
	case k.asking:
		last = cmp.Or(k.prefix, ": ") + k.text
	case k.message != "":
		last = k.message
	}
	_, err := io.WriteString(k.out, clearScreen+strings.Join(lines, "\r\n")+"\r\n\r\n"+reports.Within(last, columns))
	return err
}
