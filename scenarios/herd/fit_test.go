package herd

import (
	"math"
	"testing"
	"time"
)

func TestSlope(t *testing.T) {
	x := []float64{1, 10, 100, 1000}
	for _, c := range []struct {
		name          string
		y             []float64
		slope, margin float64
	}{
		{"flat", []float64{3, 3, 3, 3}, 0, 0},
		{"linear", []float64{2, 20, 200, 2000}, 1, 0},
		{"square", []float64{1, 100, 1e4, 1e6}, 2, 0},
		// By hand: logarithms 0, 1, 1, 2 to base 10; slope 3/5, rest 0.2, so the
		// margin is 4.303 sqrt(0.2 / 2 / 5).
		{"scattered", []float64{1, 10, 10, 100}, 0.6, 0.60854},
	} {
		f := slope(x, c.y)
		if math.Abs(f.Slope-c.slope) > 1e-9 || math.Abs(f.Margin-c.margin) > 1e-4 || f.Points != 4 {
			t.Errorf("%s: %+v, not %v ± %v", c.name, f, c.slope, c.margin)
		}
	}
	if f := slope(x[:2], x[:2]); math.Abs(f.Slope-1) > 1e-9 || !math.IsInf(f.Margin, 1) {
		t.Errorf("two points: %+v", f)
	}
	if f := slope(nil, nil); f.Slope != 0 || f.Points != 0 {
		t.Errorf("no points: %+v", f)
	}
}

func TestStudent(t *testing.T) {
	for freedom, want := range map[int]float64{1: 12.706, 4: 2.776, 5: 2.571, 8: 2.306, 30: 2.042, 1000: 1.962} {
		if got := student(freedom); math.Abs(got-want) > 0.002*want {
			t.Errorf("%d degrees of freedom: %.3f, not %.3f", freedom, got, want)
		}
	}
}

func TestQuantile(t *testing.T) {
	if q := quantile(nil, 0.5); q != 0 {
		t.Error(q)
	}
	if a, b := quantile([]time.Duration{3, 1, 2}, 0.5), quantile([]time.Duration{1, 2, 3, 4}, 0.99); a != 2 || b != 4 {
		t.Error(a, b)
	}
}
