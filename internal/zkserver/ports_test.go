package zkserver

import (
	"slices"
	"testing"
)

func TestServersGetNoPortsThatTheKernelGivesToClients(t *testing.T) {
	low, high := ephemeral()
	ports, err := freePorts(30)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(ports)
	if len(slices.Compact(ports)) != 30 || ports[0] < firstPort {
		t.Errorf("%v", ports)
	}
	for _, p := range ports {
		if low <= p && p <= high {
			t.Errorf("port %d is from %d to %d", p, low, high)
		}
	}
}

func TestTheRangeOfTheKernelIsReadOrGuessed(t *testing.T) {
	for text, want := range map[string][2]int{"32768\t60999\n": {32768, 60999}, "": {1, 2}, "7 x": {1, 2}, "9 3": {1, 2},
		"1024 65535": {1024, 65535}} {
		if low, high := parseRange(text, 1, 2); low != want[0] || high != want[1] {
			t.Errorf("%q: %d to %d", text, low, high)
		}
	}
}
