package zktest

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"

	"zksim/internal/stacks"
)

// raceStatus is the exit status of a process in which the race detector has found a race.
const raceStatus = 66

// goStatus is the exit status of a process that dies of a panic or a fatal error and not of a signal.
const goStatus = 2

// exitReport says how the process of a run has ended, and whether it was ended because its code did not come to rest.
// It fails if the end says nothing about the code.
func (p *process) exitReport() (text string, hung bool, err error) {
	said := p.out[1].String()
	status, signal := 0, os.Signal(nil)
	if x, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok {
		if status = x.ExitStatus(); x.Signaled() {
			signal = x.Signal()
		}
	}
	at := -1 // where it begins to say what it dies of; code may also print such a line and then end its process
	if all := panicked.FindAllStringIndex(said, -1); len(all) > 0 && (signal != nil || status == goStatus) {
		at = all[len(all)-1][0]
	}
	switch {
	case p.shared.hung().Load() == spins:
		return fmt.Sprintf("code has not come to rest in %d s of a processor: it spins: %s", spinning, shown(said)), true, nil
	case p.shared.hung().Load() != 0:
		return fmt.Sprintf("code has not come to rest for %d s: it spins, or waits for something outside of the bubble: %s",
			stuck, shown(said)), true, nil
	case p.killed:
		return "", false, errInterrupted
	case signal == syscall.SIGKILL || signal == syscall.SIGTERM:
		return "", false, fmt.Errorf("the system has killed the process of the run (%v), as when memory runs out; nothing "+
			"is known of the run", p.cmd.ProcessState)
	case status == raceStatus && strings.Contains(said, "DATA RACE"):
		return race(said), false, nil
	case at >= 0 && ofAnotherRun.MatchString(said[at:]):
		return "", false, errors.New("nothing is known of the run: " + outsider(said[at:]) + "; " + fatal(said[at:]))
	case at >= 0:
		return fatal(said[at:]), false, nil
	case signal != nil:
		return "", false, fmt.Errorf("the process of the run has ended by %v: %s", signal, last(said))
	}
	if out := p.out[0].String(); strings.TrimSpace(said) == "" {
		said = out
	}
	return fmt.Sprintf("%s %d, as os.Exit and log.Fatal do: %s", exits, status, last(said)), false, nil
}

// exits begins a report that ends with the last that the process has said.
const exits = "the code has ended its process with status"

// panicked matches what Go prints first when a process dies.
var panicked = regexp.MustCompile(`(?m)^(panic|fatal error): `)

// ofAnotherRun matches what Go then says about a channel or a timer that was made in the bubble of another run.
var ofAnotherRun = regexp.MustCompile(`^[^\n]* synctest (channel|timer) from outside bubble`)

// outsider explains such a text: which goroutine has used a channel or a timer of which run.
func outsider(text string) string {
	inside := false
	_, rest, _ := strings.Cut(text, "\n\n")
	stacks.Each([]byte(rest), func(g stacks.Goroutine) bool {
		inside = g.Bubble != ""
		return false
	})
	if !inside {
		return "a goroutine outside of it meets a channel or a timer that was made in it, as that of os/signal does, which " +
			"passes on signals, or that which calls finalizers; code of a run must not wait for such"
	}
	return "it meets a channel or a timer of another run, as one that a variable of a package has got in that, or the " +
		"Done of a context that is such a variable: make it in the function, or before the call of package zktest"
}

// address matches the part of Go's output that differs between processes.
var address = regexp.MustCompile(`0x[0-9a-f]+`)

// fatal shortens a text that begins with a panic or a fatal error to the error and its place.
func fatal(text string) string {
	what, rest, _ := strings.Cut(text, "\n\n")
	what, _, _ = strings.Cut(what, "\n[signal ")
	what = clipped(address.ReplaceAllString(strings.Join(strings.Fields(what), " "), "0x…"))
	var where []stacks.Frame
	stacks.Each([]byte(rest), func(g stacks.Goroutine) bool {
		if where = codeOf(&g); len(where) == 0 { // the library itself has panicked
			where = foreign(g.Frames())
		}
		return false
	})
	if len(where) == 0 {
		return what
	}
	return what + ", in " + calls(where)
}

// shown says what the goroutines of a process do that was asked to show them. A goroutine that runs on another thread
// is shown by that thread, after the others.
func shown(text string) string {
	var list []stacks.Goroutine
	stacks.Each([]byte(text), func(g stacks.Goroutine) bool {
		if g.Bubble != "" && len(codeOf(&g)) > 0 {
			list = append(list, g)
		}
		return true
	})
	return waits(list, maybe)
}

// race says what the race detector has found: the first two accesses.
func race(text string) string {
	_, text, _ = strings.Cut(text, "DATA RACE\n")
	var where []string
	for block := range strings.SplitSeq(text, "\n\n") {
		what, calls, _ := strings.Cut(block, "\n")
		if what, _, _ = strings.Cut(what, " at 0x"); len(where) == 2 || !access.MatchString(what) {
			break
		}
		where = append(where, strings.ToLower(what)+" "+raceCall(calls))
	}
	return "data race: " + strings.Join(where, ", ")
}

var access = regexp.MustCompile(`(?i)(read|write)$`)

// raceCall returns the innermost call of the code in a stack that the race detector printed.
func raceCall(text string) string {
	lines := strings.Split(text, "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		f := strings.TrimSuffix(strings.TrimSpace(lines[i]), "()")
		place, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " ")
		if x := strings.Split(place, "/"); len(x) > 1 {
			place = strings.Join(x[len(x)-2:], "/")
		}
		if len(foreign([]stacks.Frame{{Func: f}})) > 0 {
			return "in " + f + " " + place
		}
	}
	return "somewhere"
}

// last returns the last lines of a text as one line.
func last(text string) string {
	const most = 3
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > most {
		lines = lines[len(lines)-most:]
	}
	if text = strings.TrimSpace(strings.Join(lines, " / ")); text == "" {
		return "it has said nothing"
	}
	return clipped(text)
}

// clipped cuts a text that is too long for anyone to read, and says so. Such texts appear in several places.
func clipped(text string) string {
	const most = 4 << 10
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s... (%d bytes)", strings.ToValidUTF8(text[:most], ""), len(text))
}

// failed matches the line in which package testing says that a test has failed.
var failed = regexp.MustCompile(`(?m)^ *--- FAIL: \S.* \([0-9.]+s\)$`)

// said matches the beginning of a message of a test.
var said = regexp.MustCompile(`(?m)^ +\S+\.go:\d+: `)

// failure returns the last message that a failed test has printed. Earlier messages may belong to earlier runs.
func failure(text string) string {
	if at := failed.FindStringIndex(text); at != nil {
		text = text[at[1]:]
	}
	text, _, _ = strings.Cut(failed.ReplaceAllString(text, ""), "\nFAIL")
	if all := said.FindAllStringIndex(text, -1); len(all) > 0 {
		text = text[all[len(all)-1][0]:]
	}
	return last(text)
}
