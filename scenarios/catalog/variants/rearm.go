package variants

import (
	"context"
	"fmt"
	"slices"
	"time"

	"zksim/scenarios/herd"
	"zksim/sim"
)

// slow is the timing of networks and servers fifty times slower than the default. The simulator's programs sleep for
// whole milliseconds, but an interval between changes has to be a small part of a round trip.
var slow = sim.Timing{Link: 50 * sim.DefaultTiming.Link, Think: 50 * sim.DefaultTiming.Think,
	Read:  50 * sim.DefaultTiming.Read,
	Write: 50 * sim.DefaultTiming.Write, Notify: 50 * sim.DefaultTiming.Notify}

// changes is how many changes there are in a measurement.
const changes = 40

// rearms is the variant in which clients follow the changes of a znode. The changes are trips round trips of a lone
// client apart. A watch fires once, so a change that comes before it is set again notifies nobody.
func rearms(name string, trips float64) herd.Variant {
	return herd.Variant{Name: name, Doc: fmt.Sprintf("clients follow a znode that changes every %g round trips", trips),
		Goes:   "the znode changes",
		Claims: []herd.Claim{herd.PerClient(1)}, Most: 100, Setup: setup, Timing: slow, Interval: trips,
		Events: func(int) int { return changes },
		Open:   "Which changes come while a client is setting its watch again is a matter of time.",
		Program: func(p *herd.Process) {
			for {
				_, _, changed, err := p.Conn.GetW(p.Path(dir))
				if err == nil {
					_, _, err = p.Env.Await(context.Background(), changed)
				}
				if err != nil {
					p.Fail(err)
					return
				}
			}
		},
		Drive: func(p *herd.Process) {
			trip, err := roundTrip(p)
			if err != nil {
				p.Fail(err)
				return
			}
			p.Opening(0)
			begin, every := p.Env.Now(), time.Duration(trips*float64(trip))
			for k := range time.Duration(changes) {
				p.Rest(k*every - p.Env.Now().Sub(begin)) // on average, whatever the resolution of the clock
				p.Released()
				p.Env.Go(fmt.Sprint("change", int(k)), func() {
					_, err := p.Conn.Set(p.Path(dir), nil, -1)
					p.Went(err)
				})
			}
			p.Settle()
		}}
}

// roundTrip returns how long a read takes when nobody else sends requests: the least of several.
func roundTrip(p *herd.Process) (time.Duration, error) {
	var trips []time.Duration
	for range 20 {
		begin := p.Env.Now()
		if _, _, err := p.Conn.Get(p.Path(herd.QuietPath)); err != nil {
			return 0, err
		}
		trips = append(trips, p.Env.Now().Sub(begin))
		p.Rest(5 * time.Millisecond)
	}
	return slices.Min(trips), nil
}
