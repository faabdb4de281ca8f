package simrun

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// bar is progress on a terminal, and nothing elsewhere.
type bar struct{ b *progressbar.ProgressBar }

func (a *app) progress(name string, total int64) bar {
	if !a.terminal {
		return bar{}
	}
	if total > 1<<40 {
		total = -1 // no end in sight
	}
	return bar{progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(a.err), progressbar.OptionSetDescription(name),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("runs"),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30))}
}

func (b bar) add() {
	if b.b != nil {
		b.b.Add64(1)
	}
}

// describe shows a text instead of what was done.
func (b bar) describe(text string) {
	if b.b != nil {
		b.b.Describe(text)
	}
}

func (b bar) clear() {
	if b.b != nil {
		b.b.Clear()
	}
}
