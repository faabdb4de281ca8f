package explore

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"zksim/internal/edit"
	"zksim/model/history"
)

// ErrQuit is the error of the command that ends a session.
var ErrQuit = errors.New("quit")

// Saver writes the schedule of a session to the file of that name.
type Saver func(x *Session, file string) error

// order is a one-letter command.
type order struct {
	letter   byte
	argument string // "": none; in brackets if optional
	asks     bool   // a console asks for the argument instead of doing without
	doc      string
	run      func(x *Session, c *commands, arg string) error
}

// commands are the state of the commands of a session, besides the keys of transitions.
type commands struct {
	save  Saver
	out   io.Writer
	shown bool // a command has shown something; the state need not be shown again
	wide  int
}

// orders are all commands, in the order of the help.
func orders() []order {
	return []order{
		{'b', "[N]", false, "back one step, or N", func(x *Session, _ *commands, arg string) error {
			return x.move(arg, -1)
		}},
		{'f', "[N]", false, "forward again one step, or N", func(x *Session, _ *commands, arg string) error {
			return x.move(arg, 1)
		}},
		{'g', "N", true, "go to step N", func(x *Session, _ *commands, arg string) error {
			n, err := number("the step", arg)
			if err != nil {
				return err
			}
			return x.Goto(n)
		}},
		{'r', "[SEED]", true, "run on to the end, fairly and without faults, or by a seed", runOn},
		{'l', "", false, "the steps until here, as columns", func(x *Session, c *commands, _ string) error {
			c.shown = true
			return x.Columns(c.out, c.wide)
		}},
		{'w', "FILE", true, "write the schedule until here", func(x *Session, c *commands, arg string) error {
			if arg == "" {
				return errors.New("w needs a file, as w schedule.txt")
			}
			if err := c.save(x, arg); err != nil {
				return err
			}
			c.shown = true
			_, err := fmt.Fprintf(c.out, "written: %s, %s\n", history.Counted(x.Step(), "step"), arg)
			return err
		}},
		{'h', "", false, "this help", func(_ *Session, c *commands, _ string) error {
			c.shown = true
			_, err := io.WriteString(c.out, Help())
			return err
		}},
		{'q', "", false, "quit", func(*Session, *commands, string) error { return ErrQuit }},
	}
}

func runOn(x *Session, _ *commands, arg string) error {
	if arg == "" {
		return x.Fair()
	}
	seed, err := strconv.ParseUint(arg, 10, 64)
	if err != nil {
		return fmt.Errorf("the seed is a number of 64 bits, not %.60q", arg)
	}
	return x.Random(seed)
}

// Help lists what a session understands.
func Help() string {
	var b strings.Builder
	b.WriteString("A digit or capital letter takes the transition that has it, and so does its name, as run c1.\n")
	for _, o := range orders() {
		fmt.Fprintf(&b, "  %-9s %s\n", strings.TrimSpace(string(o.letter)+" "+o.argument), o.doc)
	}
	return b.String()
}

// move goes some steps back or forward.
func (x *Session) move(arg string, direction int) error {
	n := 1
	if arg != "" {
		var err error
		if n, err = number("how many steps", arg); err != nil {
			return err
		}
	}
	to := min(max(0, x.at+direction*n), x.Steps())
	if to == x.at && direction < 0 {
		return errors.New("there is no step before this one")
	}
	if to == x.at {
		return errors.New("there is no step to go forward to; r runs on")
	}
	return x.Goto(to)
}

func number(what, arg string) (int, error) {
	n, err := strconv.Atoi(arg)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s is a number, not %.60q", what, arg)
	}
	return n, nil
}

// obey executes a line: a key, a command with its argument, or the name of a transition.
func (x *Session) obey(line string, c *commands) error {
	line = strings.TrimSpace(line)
	choices := x.Choices()
	if len(line) == 1 {
		if i := strings.Index(keys, line); i >= 0 {
			if i >= len(choices) || x.Over() {
				return fmt.Errorf("no transition has the key %s here", line)
			}
			return x.Take(choices[i])
		}
	}
	word, arg, _ := strings.Cut(line, " ")
	for _, o := range orders() {
		if word != string(o.letter) {
			continue
		}
		if arg = strings.TrimSpace(arg); o.argument == "" && arg != "" {
			return fmt.Errorf("%s takes nothing, not %.60q", word, arg)
		}
		return o.run(x, c, arg)
	}
	if strings.Contains(line, " ") || slices.Contains(choices, line) {
		return x.Take(line)
	}
	return fmt.Errorf("%.60q is no key, command or transition, expected one of those shown, or h for help%s", line,
		edit.Meant(line, choices))
}
