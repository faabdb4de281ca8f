package nemesis

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Diary has a line for each fault that struck, with the time. Its lock is held for nothing else, so the diary of a run
// that hangs can be read.
type Diary struct {
	begin time.Time

	mu    sync.Mutex // guards what follows
	lines []string
}

// NewDiary returns an empty diary. Its times begin now.
func NewDiary() *Diary { return &Diary{begin: time.Now()} }

// Tell adds a line.
func (d *Diary) Tell(format string, args ...any) {
	line := fmt.Sprintf("%8.3fs %s", time.Since(d.begin).Seconds(), fmt.Sprintf(format, args...))
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

// Lines returns the lines so far.
func (d *Diary) Lines() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.lines)
}
