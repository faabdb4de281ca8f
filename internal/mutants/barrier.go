package mutants

import (
	"context"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// The flaws of barriers.
const (
	// ReleaseAgain repeats a release whose answer was lost, without looking what became of the first. It opens a
	// barrier that was held again since.
	ReleaseAgain Flaw = 130
	// StaleWait believes its first look at the barrier, which may show the past, and passes although the barrier is
	// held.
	StaleWait Flaw = 131
	// HeldAgain goes on waiting when the barrier was released and is held again by the time it looks.
	HeldAgain Flaw = 185
)

// Barrier is a barrier with one flaw. Otherwise it follows the protocol of recipes.Barrier in the plainest way, on a
// znode that exists.
type Barrier struct {
	patient
	path string
	flaw Flaw
}

// NewBarrier returns a barrier on the znode path with the given flaw.
func NewBarrier(conn recipes.Conn, env recipes.Env, path string, flaw Flaw) *Barrier {
	return &Barrier{patient{conn, env}, path, flaw}
}

// Hold shuts the barrier.
func (b *Barrier) Hold(ctx context.Context) error { return b.change(ctx, "held") }

// Release opens the barrier.
func (b *Barrier) Release(ctx context.Context) error { return b.change(ctx, "") }

func (b *Barrier) change(ctx context.Context, to string) error {
	now, stat, _, err := b.look(ctx, true)
	if err != nil || now == to {
		return err
	}
	version := stat.Version
	if b.flaw == ReleaseAgain && to == "" {
		version = -1
	}
	err = b.until(ctx, func() error {
		_, err := b.conn.Set(b.path, []byte(to), version)
		return err
	})
	if err == zk.ErrBadVersion {
		return nil
	}
	return err
}

// look reads the barrier, leaving a watch.
func (b *Barrier) look(ctx context.Context, sync bool) (now string, stat *zk.Stat, changed <-chan zk.Event, err error) {
	err = b.until(ctx, func() error {
		if sync {
			if _, err := b.conn.Sync(b.path); err != nil {
				return err
			}
		}
		var data []byte
		var err error
		data, stat, changed, err = b.conn.GetW(b.path)
		now = string(data)
		return err
	})
	return now, stat, changed, err
}

// Wait returns once the barrier has been open.
func (b *Barrier) Wait(ctx context.Context) error {
	for first := int64(0); ; {
		now, stat, changed, err := b.look(ctx, b.flaw != StaleWait)
		if err != nil || now == "" || first != 0 && stat.Mzxid != first && b.flaw != HeldAgain {
			return err
		}
		first = stat.Mzxid
		if _, _, err := b.env.Await(ctx, changed); err != nil {
			return err
		}
	}
}
