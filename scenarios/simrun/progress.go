package simrun

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"zksim/reports"
)

const (
	usualColumns = 80                     // of a terminal that does not tell its width
	redraw       = 100 * time.Millisecond // the shortest time between two writes to a terminal
	usualBeat    = time.Minute            // between two lines if there is no terminal
)

// bar shows the progress of a command on the standard error: on a terminal in a line that is rewritten, elsewhere in a
// line every minute, so that the log of a long run shows that it lives. Its methods may be called from many goroutines.
type bar struct {
	out      io.Writer
	head     string // what is being done
	terminal bool
	columns  func() int
	began    time.Time
	stop     chan struct{} // closed when there is nothing more to show
	stopped  sync.WaitGroup

	mu          sync.Mutex
	count, most int64 // runs, or whatever is counted; most is 0 if no end is in sight
	parts       []string
	drawn       time.Time
	shown       int // letters on the terminal
	over        bool
}

// mostCounted is the largest total that counts as an end in sight.
const mostCounted = 1 << 40

// progress begins to show the progress of a command; clear ends it. The count ends at total, if that is above 0.
func (a *app) progress(command, name string, total int64) *bar {
	if total > mostCounted || total < 0 {
		total = 0
	}
	b := &bar{out: a.err, terminal: a.terminal, columns: a.columns, most: total, began: time.Now(),
		stop: make(chan struct{})}
	b.head = name
	if a.place != "" {
		b.head = a.place + " " + name
	}
	if b.terminal {
		return b
	}
	b.head = fmt.Sprintf("%s %s: %s", a.called(), command, b.head)
	beat := time.NewTicker(cmp.Or(a.beat, usualBeat))
	b.stopped.Go(func() {
		defer beat.Stop()
		for {
			select {
			case <-beat.C:
				b.line()
			case <-b.stop:
				return
			}
		}
	})
	return b
}

// add counts one more.
func (b *bar) add() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.count++
	b.draw()
}

// describe shows parts instead of the count, the most important one first.
func (b *bar) describe(parts ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.parts = parts
	b.draw()
}

// state is what there is to show, the most important part first.
func (b *bar) state(took time.Duration) []string {
	parts := []string{b.head}
	switch {
	case b.parts != nil:
		return append(parts, b.parts...)
	case b.most > 0 && b.count <= b.most: // a real ensemble may need more runs, until there is something to judge
		parts = append(parts, fmt.Sprintf("%d of %d", b.count, b.most))
	default:
		parts = append(parts, fmt.Sprint(b.count))
	}
	if took > time.Second {
		parts = append(parts, fmt.Sprintf("%.0f/s", float64(b.count)/took.Seconds()))
	}
	return parts
}

// line prints the progress in a line of its own.
func (b *bar) line() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over {
		took := time.Since(b.began)
		text := strings.Join(append(b.state(took), "after "+took.Round(time.Second).String()), ", ")
		fmt.Fprintln(b.out, text)
	}
}

// draw rewrites the line on a terminal, but not too often.
func (b *bar) draw() {
	if !b.terminal || b.over || time.Since(b.drawn) < redraw {
		return
	}
	room := b.room()
	text := fit(b.state(time.Since(b.began)), room)
	length := utf8.RuneCountInString(text)
	fmt.Fprintf(b.out, "\r%s%s", text, strings.Repeat(" ", max(0, min(b.shown, room)-length)))
	b.drawn, b.shown = time.Now(), length
}

// room is how many letters a line has.
func (b *bar) room() int {
	columns := usualColumns
	if b.columns != nil {
		columns = b.columns()
	}
	return max(1, columns-1) // in the last column some terminals begin a new line
}

// fit joins as many parts as fit. If the first does not fit, it is cut.
func fit(parts []string, room int) string {
	text := reports.Within(parts[0], room)
	for _, p := range parts[1:] {
		longer := text + ", " + p
		if utf8.RuneCountInString(longer) > room {
			break
		}
		text = longer
	}
	return text
}

// erase removes the bar from the terminal, so that something can be printed there.
func (b *bar) erase() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wipe()
}

func (b *bar) wipe() {
	if b.shown > 0 {
		fmt.Fprintf(b.out, "\r%s\r", strings.Repeat(" ", min(b.shown, b.room())))
	}
	b.shown = 0
}

// clear ends the bar and removes it. It may be called again.
func (b *bar) clear() {
	b.mu.Lock()
	b.wipe()
	first := !b.over
	b.over = true
	b.mu.Unlock()
	if first {
		close(b.stop)
	}
	b.stopped.Wait()
}
