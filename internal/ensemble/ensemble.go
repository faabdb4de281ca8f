package ensemble

import (
	"context"
	"time"

	"zksim/internal/zkserver"
	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/scenarios/herd"
)

// Ensemble is a running ensemble: the addresses host:port of its servers. It implements [herd.Ensemble].
type Ensemble []string

// Addrs returns the addresses.
func (e Ensemble) Addrs() []string { return e }

// Observe calls this package's function of that name.
func (e Ensemble) Observe(
	ctx context.Context, s *engine.Scenario, watch func(ctx context.Context, run herd.Run) error,
) (*history.History, []time.Duration, error) {
	return Observe(ctx, s, LiveOptions{Servers: e}, func(ctx context.Context, x *Observation) error {
		return watch(ctx, x)
	})
}

// Zxid returns the last zxid that a server has applied.
func (Ensemble) Zxid(ctx context.Context, addr string) (int64, error) {
	return zkserver.Zxid(ctx, addr)
}

// Figures returns the counts of a server from mntr.
func (Ensemble) Figures(ctx context.Context, addr string) (map[string]float64, error) {
	return zkserver.Figures(ctx, addr)
}
