package herd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// Measurement is what one run has shown. What is given per event is divided by the number of clients that went on.
type Measurement struct {
	Variant string `json:"variant"`
	Clients int    `json:"clients"`
	Backend string `json:"backend"`        // sim or zookeeper
	Seed    uint64 `json:"seed,omitempty"` // of the simulation
	Events  int    `json:"events"`         // clients that went on

	Notifications float64 `json:"notifications"` // per event, to clients other than the author of the change
	Burst         int     `json:"burst"`         // the most that one change caused
	Wasted        float64 `json:"wasted"`        // of Notifications, those after which the client could not go on
	Requests      float64 `json:"requests"`      // per event
	Txns          float64 `json:"txns"`          // per event
	Messages      float64 `json:"messages"`      // per event: requests, answers and notifications
	Watches       int     `json:"watches"`       // set at the same time, at most
	Rate          float64 `json:"request_rate"`  // requests a second, from the beginning to the last event

	// The time from what lets somebody go on until somebody does. Zero with one client, if that client does it itself.
	P50 time.Duration `json:"handover_p50_ns"`
	P99 time.Duration `json:"handover_p99_ns"`

	// The time that a bystander's read takes: the median before the first event, and the longest from then on.
	Quiet time.Duration `json:"read_quiet_ns"`
	Spike time.Duration `json:"read_spike_ns"`

	Server *Server `json:"server,omitempty"` // of a real ensemble
}

// Fits reports whether the variant can be measured with so many clients.
func (v *Variant) Fits(clients int) bool { return v.Most == 0 || clients <= v.Most }

// valid reports whether the variant can be measured with so many clients.
func (v *Variant) valid(clients int) error {
	if v.Program == nil || v.Events == nil {
		return fmt.Errorf("the variant %.60q is not whole, expected a Program and Events; herd.Locks makes one", v.Name)
	}
	if n := v.Events(clients); n < 1 {
		return fmt.Errorf("Events of %.60q is %d with %s, expected how many clients go on, 1 or more", v.Name, n,
			history.Counted(clients, "client"))
	}
	s := v.scenario(1, nil)
	return s.Valid()
}

// Measure runs the variant with a number of clients, 1 or more. It fails if the variant is not valid, for example
// without a Program, if a client fails or leaves the simulator, if not enough clients go on, or when ctx is done.
func Measure(ctx context.Context, r *engine.Runner, v *Variant, clients int, seed uint64) (Measurement, error) {
	if err := v.valid(clients); err != nil {
		return Measurement{}, err
	}
	t := newTimetable(v, clients)
	s := v.scenario(clients, func(p *engine.Process) pace {
		t.began = p.Env.Now()
		return t
	})
	res, times := r.TimedUntil(&s, seed, cmp.Or(v.Timing, sim.DefaultTiming),
		func(h *history.History, now time.Duration) bool {
			return t.over(h, now) || len(h.Events)%1024 == 0 && ctx.Err() != nil
		})
	if ctx.Err() != nil {
		return Measurement{}, context.Cause(ctx)
	}
	if res.Misuse != nil {
		return Measurement{}, fmt.Errorf("%s with %s: %w", v.Name, history.Counted(clients, "client"), res.Misuse)
	}
	h := res.History
	for c := range clients + 2 {
		if why := h.Failed[int32(c+1)]; why != "" {
			return Measurement{}, fmt.Errorf("%s with %s: c%d gave up: %s", v.Name, history.Counted(clients, "client"), c+1, why)
		}
	}
	if h.Outcome == history.Panicked {
		return Measurement{}, fmt.Errorf("%s with %s: %s", v.Name, history.Counted(clients, "client"), h.Panic)
	}
	if t.seen < t.events {
		return Measurement{}, fmt.Errorf("%s with %s: %s", v.Name, history.Counted(clients, "client"), t.missing())
	}
	m := v.count(h, times, t.opening, clients).m
	m.Backend, m.Seed = "sim", seed
	return m, nil
}

// quantile returns the value at or below which a fraction q of the values is, or 0 if there are none.
func quantile(values []time.Duration, q float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[min(int(q*float64(len(values))), len(values)-1)]
}
