package explore

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// maxLine bounds a line of the input.
const maxLine = 1 << 16

// comment matches a comment in a line, which begins with # as in schedules. A # within a word, like a file name,
// belongs to the word.
var comment = regexp.MustCompile(`(^|\s)#.*`)

// Lines obeys one line of in after the other, and shows the state after each. It returns nil at the end of the input or
// at the command q. A line that cannot be obeyed is an error that names it.
func (x *Session) Lines(in io.Reader, out io.Writer, columns int, save Saver) error {
	c := &commands{save: save, out: out, wide: columns}
	if err := x.Show(out, columns); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	n := 1
	for ; lines.Scan(); n++ {
		text := comment.ReplaceAllString(lines.Text(), "")
		if strings.TrimSpace(text) == "" {
			continue
		}
		c.shown = false
		switch err := x.obey(text, c); {
		case errors.Is(err, ErrQuit):
			return nil
		case err != nil:
			return fmt.Errorf("line %d: %w", n, err)
		case c.shown:
			continue
		}
		fmt.Fprintln(out)
		if err := x.Show(out, columns); err != nil {
			return err
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("line %d: expected at most %d bytes", n, maxLine)
	case err != nil:
		return fmt.Errorf("reading what to do: %w", err)
	}
	return nil
}
