package herd

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"zksim/recipes/live/zkserver/zkservertest"
	"zksim/scenarios"
)

// Where the protocol determines a count, a real ensemble gives the same as the
// simulation, and in any case its servers have counted what its clients have. And
// what a recipe promises holds.
func TestARealEnsembleCountsTheSame(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	r := scenarios.NewRunner()
	defer r.Close()
	exact := 0
	for i := range All {
		v := &All[i]
		sizes := []int{1, 12}
		if v.Open != "" {
			sizes = []int{7}
		}
		for _, n := range sizes {
			simulated, err := Measure(t.Context(), r, v, n, 1)
			if err != nil {
				t.Fatal(err)
			}
			real, err := MeasureLive(t.Context(), addrs, v, n)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range v.Compare(simulated, real) {
				if d.Why == "" && !d.Equal() {
					t.Errorf("%s with %d clients: %s: %v and %v", d.Variant, d.Clients, d.Count, d.Simulated, d.Real)
				} else if d.Why == "" {
					exact++
				}
			}
			for _, c := range v.Claims {
				if why := c.Broken([]Measurement{real}); why != "" {
					t.Errorf("%s: %s", v.Name, why)
				}
			}
		}
	}
	if exact < 100 {
		t.Errorf("only %d counts are determined", exact)
	}
}

func TestSeveralServersCountTheSameTogether(t *testing.T) {
	addrs := zkservertest.ForTest(t, 3).Addrs()
	v := Locks("lock/single-node", newSingleNodeLock)
	m, err := MeasureLive(t.Context(), addrs, &v, 7)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range m.Server.compare(v.Name, 7) {
		if !d.Equal() {
			t.Errorf("%s: %v and %v", d.Count, d.Simulated, d.Real)
		}
	}
	if m.Notifications != 6 || m.Wasted != 5 || m.Server.Watches != 7 || m.Server.Fired < 6*m.Events {
		t.Errorf("%+v, %+v", m, m.Server)
	}
}

func TestARealMeasurementSaysWhyItFails(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	for want, program := range map[string]func(p *Process){
		"test/fails with 2 clients on ZooKeeper: c1 gave up: no more":        func(p *Process) { p.Went(errors.New("no more")) },
		"test/fails with 2 clients on ZooKeeper: c1 has lost its connection": cut,
	} {
		v := Variant{Name: "test/fails", Events: everybody, Program: program}
		if _, err := MeasureLive(t.Context(), addrs, &v, 2); err == nil || !strings.HasPrefix(err.Error(), want) && !strings.HasPrefix(strings.Replace(err.Error(), "c2", "c1", 1), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	stays := Variant{Name: "test/stays-away", Events: everybody, Program: func(p *Process) {}}
	if _, err := MeasureLive(ctx, addrs, &stays, 2); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// cut sends what makes the server close the connection.
func cut(p *Process) { p.Conn.Set(p.Path(quietPath), make([]byte, 1200*1024), -1) }
