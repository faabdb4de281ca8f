package ensemble

import (
	"context"

	"zksim/internal/zkserver"
)

// Ensemble is a running ensemble: the addresses host:port of its servers. It implements [herd.Ensemble].
type Ensemble []string

// Addrs returns the addresses.
func (e Ensemble) Addrs() []string { return e }

// Zxid returns the last zxid that a server has applied.
func (Ensemble) Zxid(ctx context.Context, addr string) (int64, error) {
	return zkserver.Zxid(ctx, addr)
}

// Figures returns the counts of a server from mntr.
func (Ensemble) Figures(ctx context.Context, addr string) (map[string]float64, error) {
	return zkserver.Figures(ctx, addr)
}
