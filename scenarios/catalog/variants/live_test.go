package variants

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"zksim/internal/ensemble"
	"zksim/internal/zkserver/zkservertest"
	"zksim/scenarios/engine"
	"zksim/scenarios/herd"
)

// Where the protocol determines a count, a real ensemble gives the same as the
// simulation, and in any case its servers have counted what its clients have. And
// what a recipe promises holds.
func TestARealEnsembleCountsTheSame(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	r := engine.NewRunner()
	defer r.Close()
	exact := 0
	for i := range All {
		v := &All[i]
		sizes := []int{1, 12}
		if v.Open != "" {
			sizes = []int{7}
		}
		for _, n := range sizes {
			simulated, err := herd.Measure(t.Context(), r, v, n, 1)
			if err != nil {
				t.Fatal(err)
			}
			real, err := herd.MeasureLive(t.Context(), ensemble.Ensemble(addrs), v, n)
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
				if why := c.Broken([]herd.Measurement{real}); why != "" {
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
	v := herd.Locks("lock/single-node", newSingleNodeLock)
	m, err := herd.MeasureLive(t.Context(), ensemble.Ensemble(addrs), &v, 7)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range m.Server.Compare(v.Name, 7) {
		if !d.Equal() {
			t.Errorf("%s: %v and %v", d.Count, d.Simulated, d.Real)
		}
	}
	if m.Notifications != 6 || m.Wasted != 5 || m.Server.Watches != 7 || m.Server.Fired < 6*m.Events {
		t.Errorf("%+v, %+v", m, m.Server)
	}
}

// The clients come behind the driver however long that takes, for example on a busy machine.
func TestClientsComeBehindASlowDriver(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	for _, name := range []string{"rwlock/readers", "commit/coordinator"} {
		v := All[slices.IndexFunc(All, func(v herd.Variant) bool { return v.Name == name })]
		drive := v.Drive
		v.Drive = func(p *herd.Process) {
			for range 2000 { // all of these take much longer than the other clients need to come
				if _, _, err := p.Conn.Get(p.Path(herd.QuietPath)); err != nil {
					p.Fail(err)
				}
			}
			drive(p)
		}
		m, err := herd.MeasureLive(t.Context(), ensemble.Ensemble(addrs), &v, 3)
		if err != nil || m.Events != 3 || m.Txns > 2 {
			t.Errorf("%+v, %v", m, err)
		}
	}
}

func TestARealMeasurementSaysWhyItFails(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	for want, program := range map[string]func(p *herd.Process){
		"test/fails with 2 clients on ZooKeeper: c1 gave up: no more": func(p *herd.Process) {
			p.Went(errors.New("no more"))
		},
		"test/fails with 2 clients on ZooKeeper: c1 has lost its connection": cut,
	} {
		v := herd.Variant{Name: "test/fails", Events: everybody, Program: program}
		if _, err := herd.MeasureLive(t.Context(), ensemble.Ensemble(addrs), &v, 2); err == nil ||
			!strings.HasPrefix(err.Error(), want) && !strings.HasPrefix(strings.Replace(err.Error(), "c2", "c1", 1), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	stays := herd.Variant{Name: "test/stays-away", Events: everybody, Program: func(p *herd.Process) {}}
	if _, err := herd.MeasureLive(ctx, ensemble.Ensemble(addrs), &stays, 2); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// cut sends what makes the server close the connection.
func cut(p *herd.Process) { p.Conn.Set(p.Path(herd.QuietPath), make([]byte, 1200*1024), -1) }
