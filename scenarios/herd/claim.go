package herd

import (
	"context"
	"fmt"

	"zksim/model/history"
	"zksim/scenarios/engine"
)

// Claim is a promise about measurements of one variant with growing numbers of clients.
type Claim struct {
	Doc string
	// Broken says how the measurements break the claim. It returns "" if they do not.
	Broken func(all []Measurement) string
}

// PerEvent promises at most so many notifications, on average, for each client that goes on.
func PerEvent(most float64) Claim {
	return atMost(most, "notifications", func(m Measurement) float64 { return m.Notifications })
}

// Wasted promises at most so many notifications in vain, on average, for each client that goes on.
func Wasted(most float64) Claim {
	return atMost(most, "notifications in vain", func(m Measurement) float64 { return m.Wasted })
}

// PerClient promises that each client gets at most so many notifications, on average, for each event.
func PerClient(most float64) Claim {
	return atMost(most, "notifications to each client",
		func(m Measurement) float64 { return m.Notifications / float64(m.Clients) })
}

func atMost(most float64, what string, of func(Measurement) float64) Claim {
	return Claim{fmt.Sprintf("at most %g %s for each client that goes on", most, what), func(all []Measurement) string {
		for _, m := range all {
			if !(of(m) <= most) { // a limit that is not a number is never kept
				return fmt.Sprintf("%.4g %s for each client that goes on, with %s; at most %g may be", of(m), what,
					history.Counted(m.Clients, "client"), most)
			}
		}
		return ""
	}}
}

// SlopeBelow promises that notifications do not grow with the clients: the exponent of the best fitting power law is
// less than most.
func SlopeBelow(most float64) Claim {
	return Claim{fmt.Sprintf("notifications grow more slowly than clients to the power of %g", most),
		func(all []Measurement) string {
			fit := FanOut(all)
			if fit.Points > 1 && !(fit.Slope < most) {
				return fmt.Sprintf("notifications grow as clients to the power of %.2f; it must be less than %g", fit.Slope, most)
			}
			return ""
		}}
}

// steps are the numbers of clients that Try measures with.
var steps = []int{2, 5, 10, 20, 40, 80, 160, 320}

// Try measures the variant with 2 to 320 clients. It returns what was measured, in a line, and how that breaks a claim,
// or "" if it breaks none. It fails as [Measure] does.
func Try(v *Variant, claims ...Claim) (measured, broken string, err error) {
	for i, c := range claims {
		if c.Broken == nil {
			return "", "", fmt.Errorf("claim %d of %s is %.60q, expected one with what tells how it is Broken", i+1, v.Name,
				c.Doc)
		}
	}
	all, err := series(v)
	if err != nil {
		return "", "", err
	}
	if len(all) == 0 {
		return "", "", fmt.Errorf("%s is for %s at most, expected %d or more", v.Name, history.Counted(v.Most, "client"),
			steps[0])
	}
	last := &all[len(all)-1]
	measured = fmt.Sprintf("with %d to %s; with %d there are %.4g notifications for each client that goes on, "+
		"%.4g of them in vain", all[0].Clients, history.Counted(last.Clients, "client"), last.Clients, last.Notifications,
		last.Wasted)
	for _, c := range claims {
		if why := c.Broken(all); why != "" {
			return measured, why, nil
		}
	}
	return measured, "", nil
}

// series measures with growing numbers of clients.
func series(v *Variant) ([]Measurement, error) {
	if err := v.valid(steps[0]); err != nil {
		return nil, err
	}
	r := engine.NewRunner()
	defer r.Close()
	var all []Measurement
	for _, n := range steps {
		if !v.Fits(n) {
			continue
		}
		var m Measurement
		measure := func() (err error) {
			m, err = Measure(context.Background(), r, v, n, 1)
			return err
		}
		watched := measure
		if len(all) == 0 { // the shortest run shows whether the code stays in the simulator
			watched = func() error { return r.Strictly(measure) }
		}
		if err := watched(); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}
