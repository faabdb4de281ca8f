package herd

import "math"

// Fit is the straight line through points on logarithmic axes.
type Fit struct {
	Points int
	Slope  float64
	Margin float64 // half of the slope's 95% confidence interval; infinite with fewer than 3 points
}

// smallest is the number of clients from which on fan-out is fitted. With few clients, "all the others" is far from
// "all", and there are many at the ends of a queue, who wake nobody.
const smallest = 20

// FanOut fits notifications per event against clients.
func FanOut(all []Measurement) Fit {
	var x, y []float64
	for _, m := range all {
		if m.Clients >= smallest && m.Notifications > 0 {
			x, y = append(x, float64(m.Clients)), append(y, m.Notifications)
		}
	}
	return slope(x, y)
}

// slope fits y = c x^slope by least squares of the logarithms. All values must be positive.
func slope(x, y []float64) Fit {
	n := float64(len(x))
	var mx, my, sxx, sxy, rest float64
	for i := range x {
		mx += math.Log(x[i]) / n
		my += math.Log(y[i]) / n
	}
	for i := range x {
		d := math.Log(x[i]) - mx
		sxx += d * d
		sxy += d * (math.Log(y[i]) - my)
	}
	f := Fit{Points: len(x), Margin: math.Inf(1)}
	if sxx > 0 {
		f.Slope = sxy / sxx
	}
	for i := range x {
		e := math.Log(y[i]) - my - f.Slope*(math.Log(x[i])-mx)
		rest += e * e
	}
	if sxx > 0 && n > 2 {
		f.Margin = student(len(x)-2) * math.Sqrt(rest/(n-2)/sxx)
	}
	return f
}

// student returns the 97.5% quantile of Student's distribution. It comes from a table, and from 5 degrees of freedom on
// from the expansion of Abramowitz and Stegun 26.7.5, which is right to 0.2%.
func student(freedom int) float64 {
	if table := []float64{12.706, 4.303, 3.182, 2.776}; freedom <= len(table) {
		return table[freedom-1]
	}
	n := float64(freedom)
	return 1.95996 + 2.3723/n + 2.8224/(n*n) + 2.5558/(n*n*n)
}
