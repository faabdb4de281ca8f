package simrun

import (
	"context"
	"fmt"

	"zksim/internal/conform"
	"zksim/internal/transcript"
	"zksim/model/history"
)

// replayFolder replays recordings of a real server against the model.
func (c *conformFlags) replayFolder(ctx context.Context, a *app) (int, error) {
	r, err := conform.Replay(ctx, c.replay, func(file string, d transcript.Difference) {
		fmt.Fprintf(a.out, "%s: %s\n", file, d)
	})
	if ctx.Err() != nil {
		a.interrupted("conform", nil)
		return exitInconclusive, nil
	}
	if err != nil {
		return 0, err
	}
	if n := len(r.Skipped); n > 0 {
		a.says("conform", "left out %s of a client library, as %s", history.Counted(n, "recording"), r.Skipped[0])
	}
	fmt.Fprintf(a.out, "%s, %s, %s\n", history.Counted(r.Transcripts, "transcript"), history.Counted(r.Steps, "step"),
		history.Counted(r.Differences, "difference"))
	if r.Differences > 0 {
		return exitViolation, nil
	}
	return exitHeld, nil
}
