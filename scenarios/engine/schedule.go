package engine

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"zksim/faults"
	"zksim/model"
	"zksim/sim"
)

// Schedule is a run in a form that can be kept as text: the circumstances, and the names of what happened, in order.
// The format is
//
//	zksim schedule 1
//	scenario lock/lock
//	servers 3
//	like keeper
//	order 0x1f
//	faults lose-reply=1
//	clients 2
//	rounds 1
//	safety 312
//	seed 17
//	checker quiescence
//
//	connect c1 s2
//	serve c1
//	...
//
// where "#", at the start of a line or after a blank, starts a comment. The line like (whose semantics the servers
// have) is missing if they are ZooKeeper's. The lines clients, rounds and safety (the step at which faults end at the
// latest) are missing if they are as in the scenario. The lines seed (where the schedule came from) and checker (what
// it violates) may be missing. After the last transition the run goes on without faults to its end. A line "again 9/10"
// says that runs of the schedule may part, like those of code outside of the simulator, and that 9 of 10 have failed.
type Schedule struct {
	Scenario string
	Servers  int
	Like     model.Like
	Clients  int // 0: as many as the scenario has; the same for Rounds
	Rounds   int
	Safety   int // step at which faults end at the latest; 0: Scenario.SafetySteps
	Order    uint64
	Faults   faults.Plan
	Seed     uint64
	Checker  string
	Again    Repeats // zero: all its runs are the same
	Names    []string

	Notes []string // what each transition did; written as comments, not read
	Lines []int    // the line of the text from which each name was read
}

const magic = "zksim schedule 1"

// Write writes the schedule in its format.
func (s *Schedule) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s\nscenario %s\nservers %d\norder %#x\nfaults %s\n", magic, s.Scenario, s.Servers, s.Order, s.Faults)
	if s.Like != model.ZooKeeper {
		fmt.Fprintf(b, "like %v\n", s.Like)
	}
	if s.Clients != 0 {
		fmt.Fprintf(b, "clients %d\n", s.Clients)
	}
	if s.Rounds != 0 {
		fmt.Fprintf(b, "rounds %d\n", s.Rounds)
	}
	if s.Safety != 0 {
		fmt.Fprintf(b, "safety %d\n", s.Safety)
	}
	fmt.Fprintf(b, "seed %d\n", s.Seed)
	if s.Checker != "" {
		fmt.Fprintf(b, "checker %s\n", s.Checker)
	}
	if s.Loose() {
		fmt.Fprintf(b, "again %d/%d\n", s.Again.Failed, s.Again.Of)
	}
	fmt.Fprintln(b)
	for i, name := range s.Names {
		if i < len(s.Notes) {
			name = fmt.Sprintf("%-20s # %s", name, s.Notes[i])
		}
		fmt.Fprintln(b, name)
	}
	return b.Flush()
}

// maxLine bounds a line of a schedule; no transition has a longer name.
const maxLine = 1 << 16

// maxNames bounds the transitions of a schedule; no run has as many steps.
const maxNames = 1 << 20

// ParseSchedule reads a schedule. Errors name the line and what was expected.
func ParseSchedule(r io.Reader) (Schedule, error) {
	s := Schedule{Servers: 1}
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 4096), maxLine+1) // with the end of the line
	header, line, started := true, 0, false
	keys := map[string]bool{}
	for in.Scan() {
		line++
		text, comment := uncomment(in.Text())
		switch {
		case !started:
			if text != magic {
				return s, fmt.Errorf("line %d: a schedule begins with %q, not %q", line, magic, clip(text))
			}
			started = true
		case text == "":
			header = header && (comment || s.Scenario == "")
		case header:
			key, value, _ := strings.Cut(strings.ReplaceAll(text, "\t", " "), " ")
			if keys[key] {
				return s, fmt.Errorf("line %d: the header has %s twice", line, clip(key))
			}
			keys[key] = true
			if err := s.set(key, strings.TrimSpace(value)); err != nil {
				return s, fmt.Errorf("line %d: %w", line, err)
			}
		case len(s.Names) == maxNames:
			return s, fmt.Errorf("line %d: no schedule has more than %d transitions", line, maxNames)
		default:
			s.Names = append(s.Names, strings.Join(strings.Fields(text), " "))
			s.Lines = append(s.Lines, line)
		}
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		return s, fmt.Errorf("line %d: no line of a schedule is longer than %d bytes", line+1, maxLine)
	}
	if err := in.Err(); err != nil {
		return s, fmt.Errorf("line %d: %w", line+1, err)
	}
	if !started {
		return s, fmt.Errorf("line 1: a schedule begins with %q; the file is empty", magic)
	}
	if s.Scenario == "" {
		return s, fmt.Errorf("line %d: the header has no scenario", line)
	}
	return s, nil
}

// uncomment returns a line without its comment, and whether it has one.
func uncomment(line string) (text string, comment bool) {
	before := ' '
	for i, c := range line {
		if c == '#' && unicode.IsSpace(before) { // any Unicode space, as in the rest of a line
			line, comment = line[:i], true
			break
		}
		before = c
	}
	return strings.TrimSpace(line), comment
}

// set reads one line of the header.
func (s *Schedule) set(key, value string) (err error) {
	count := func(n *int, least, most int) error {
		if *n, err = strconv.Atoi(value); err != nil || *n < least || *n > most {
			return fmt.Errorf("%s is a number from %d to %d, not %q", key, least, most, clip(value))
		}
		return nil
	}
	switch key {
	case "scenario":
		s.Scenario = value
	case "servers":
		return count(&s.Servers, 1, 9)
	case "like":
		s.Like, err = model.ParseLike(value)
	case "clients":
		return count(&s.Clients, minClients, maxClients)
	case "rounds":
		return count(&s.Rounds, 1, MaxRounds)
	case "safety":
		return count(&s.Safety, 1, maxNames)
	case "order":
		if s.Order, err = strconv.ParseUint(value, 0, 64); err != nil {
			return fmt.Errorf("order is a number of 64 bits, not %q", clip(value))
		}
	case "faults":
		s.Faults, err = faults.Parse(value)
	case "seed":
		if s.Seed, err = strconv.ParseUint(value, 10, 64); err != nil {
			return fmt.Errorf("seed is a number of 64 bits, not %q", clip(value))
		}
	case "checker":
		s.Checker = value
	case "again":
		return s.Again.set(value)
	default:
		return fmt.Errorf("the header has scenario, servers, like, order, faults, clients, rounds, safety, seed, "+
			"checker and again, then an empty line; not %q", clip(key))
	}
	return err
}

// misfit adds to the error of a replay which scenario the schedule does not fit, and at which line of the text. It
// leaves alone the error of a run that could not be made.
func (s *Schedule) misfit(err error) error {
	if errors.As(err, new(notMade)) {
		return err
	}
	where := ""
	if stale, ok := errors.AsType[*sim.NotEnabledError](err); ok && stale.Index < len(s.Lines) {
		where = fmt.Sprintf("line %d: ", s.Lines[stale.Index])
	}
	return fmt.Errorf("%sthe schedule does not fit scenario %s: %w", where, s.Scenario, err)
}

// Unknown returns an error that names the first step that no scenario can have; nil if there is no such step.
func (s *Schedule) Unknown() error {
	for i, name := range s.Names {
		verb, _, _ := strings.Cut(name, " ")
		if f, _ := faultOf(name); f != nil || sim.IsVerb(verb) {
			continue
		}
		where := ""
		if i < len(s.Lines) {
			where = fmt.Sprintf("line %d: ", s.Lines[i])
		}
		return fmt.Errorf("%sno step is called %q", where, clip(name))
	}
	return nil
}

// clip shortens text that an error quotes.
func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}
