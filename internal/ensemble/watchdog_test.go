package ensemble

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

// A lock that is never given back is not durable for a bubble, so what hangs here waits for a channel.
func TestWhatNeitherEndsNorHeedsItsContextIsLeftBehindWithItsStack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := make(chan int)
		defer close(never)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		err := watched(ctx, func() error { return waitsForItself(never) })
		hang, ok := errors.AsType[*hangs](err)
		if !ok || !strings.Contains(hang.stacks, "ensemble.waitsForItself(") {
			t.Fatalf("%v", err)
		}
		const want = "it was to end (context canceled) and still goes on 3m0s later: it hangs"
		if err.Error() != want {
			t.Errorf("%v, expected %s", err, want)
		}
	})
}

func waitsForItself(never chan int) error {
	<-never
	return nil
}

func TestWhatEndsAfterItsLimitIsNotLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		own := errors.New("its own")
		if err := watched(ctx, func() error { synctest.Wait(); return own }); err != own {
			t.Errorf("%v", err)
		}
	})
}
