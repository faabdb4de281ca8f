package simrun

import (
	"errors"
	"fmt"
	"io"
	"time"

	"zksim/model/history"
)

// stepPrinter prints the steps of a served ensemble. The ensemble halts to hand a step over, so it must not wait for
// the reader of the output. If the reader is slower than the ensemble, steps are left out and counted.
type stepPrinter struct {
	queue   chan shownStep
	skipped int // since the last one in the queue
	done    chan struct{}
}

// shownStep is a step, and how many before it were left out.
type shownStep struct {
	name    string
	skipped int
}

const (
	// maxStepQueue is how many steps may wait to be printed.
	maxStepQueue = 10_000
	// stepGrace is how long the output may take for the rest when the ensemble has ended.
	stepGrace = 2 * time.Second
)

func newStepPrinter() *stepPrinter {
	return &stepPrinter{queue: make(chan shownStep, maxStepQueue), done: make(chan struct{})}
}

// add has a step printed. It must not be called concurrently, or after end.
func (p *stepPrinter) add(name string) {
	select {
	case p.queue <- shownStep{name, p.skipped}:
		p.skipped = 0
	default:
		p.skipped++
	}
}

// run prints the steps until end is called.
func (p *stepPrinter) run(out io.Writer) {
	defer close(p.done)
	for x := range p.queue {
		writeSkipped(out, x.skipped)
		fmt.Fprintln(out, x.name)
	}
	writeSkipped(out, p.skipped)
}

func writeSkipped(out io.Writer, n int) {
	if n > 0 {
		fmt.Fprintf(out, "... %s not shown\n", history.Counted(n, "step"))
	}
}

// errUnread says why nothing more is printed.
var errUnread = errors.New("the output is not read, so neither the steps nor the judgement are shown")

// end waits until everything is printed. It returns an error if the output takes nothing any more.
func (p *stepPrinter) end() error {
	close(p.queue)
	select {
	case <-p.done:
		return nil
	case <-time.After(stepGrace):
		return errUnread
	}
}
