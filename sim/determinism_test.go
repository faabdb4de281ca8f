package sim_test

import (
	"errors"
	"runtime"
	"slices"
	"testing"

	"zksim/sim"
)

var servers = []int{1, 3}

func TestAUsedWorldEqualsAFreshOne(t *testing.T) {
	used := sim.NewWorld()
	defer used.Close()
	var tp tape
	for seed := range uint64(300) {
		k := servers[seed%2]
		tp.random(used, k, seed)
		if err := tp.run(); err != nil {
			t.Fatalf("seed %d, %d servers: %v", seed, k, err)
		}
		got := text(used)
		fresh := sim.NewWorld()
		var other tape
		other.random(fresh, k, seed)
		if err := other.run(); err != nil {
			t.Fatal(err)
		}
		if want := text(fresh); got != want {
			t.Fatalf("seed %d, %d servers: a used world differs from a fresh one", seed, k)
		}
		fresh.Close()
	}
}

func TestReplayReproducesEveryStep(t *testing.T) {
	w, again := sim.NewWorld(), sim.NewWorld()
	defer w.Close()
	defer again.Close()
	var tp, rp tape
	for seed := range uint64(500) {
		k := servers[seed%2]
		tp.random(w, k, seed)
		if err := tp.run(); err != nil {
			t.Fatalf("seed %d, %d servers: %v", seed, k, err)
		}
		names := w.Schedule()
		rp.random(again, k, seed)
		rp.Chooser = &sim.Replay{Names: names}
		if err := rp.run(); err != nil {
			t.Fatalf("seed %d, %d servers: %v", seed, k, err)
		}
		for i, h := range w.Hashes() {
			if again.Hashes()[i] != h {
				t.Fatalf("seed %d, %d servers: step %d (%s) differs", seed, k, i+1, names[i])
			}
		}
		if text(w) != text(again) {
			t.Fatalf("seed %d, %d servers: the histories differ", seed, k)
		}
	}
}

func TestAScheduleCutAnywhereIsACompleteRun(t *testing.T) {
	w := sim.NewWorld()
	defer w.Close()
	var tp tape
	for seed := range uint64(20) {
		k := servers[seed%2]
		tp.random(w, k, seed)
		if err := tp.run(); err != nil {
			t.Fatal(err)
		}
		names := w.Schedule()
		for cut := 0; cut < len(names); cut += 13 {
			tp.random(w, k, seed)
			tp.Chooser = &sim.Replay{Names: names[:cut]}
			if err := tp.run(); err != nil {
				t.Fatalf("seed %d, %d servers, first %d steps: %v", seed, k, cut, err)
			}
			if !slices.Equal(w.Schedule()[:cut], names[:cut]) {
				t.Fatalf("seed %d: the first %d steps differ", seed, cut)
			}
		}
	}
}

func TestAScheduleWithAWrongNameIsRefused(t *testing.T) {
	w := sim.NewWorld()
	defer w.Close()
	var tp tape
	tp.random(w, 3, 1)
	if err := tp.run(); err != nil {
		t.Fatal(err)
	}
	names := w.Schedule()[:20]
	for i := range names {
		wrong := slices.Clone(names)
		wrong[i] = "serve c9"
		tp.random(w, 3, 1)
		tp.Chooser = &sim.Replay{Names: wrong}
		var stale *sim.NotEnabledError
		if err := tp.run(); !errors.As(err, &stale) || stale.Index != i || stale.Name != "serve c9" ||
			!slices.Contains(stale.Enabled, names[i]) {
			t.Errorf("step %d: %v", i, err)
		}
	}
}

func TestRunsAreTheSameAtAnyGOMAXPROCS(t *testing.T) {
	var want []uint64
	for _, procs := range []int{1, 2, 4} {
		old := runtime.GOMAXPROCS(procs)
		got := make([][]uint64, 4)
		done := make(chan bool)
		for i := range got {
			go func() {
				defer func() { done <- true }()
				w := sim.NewWorld()
				defer w.Close()
				for seed := range uint64(30) {
					var tp tape
					tp.random(w, servers[seed%2], seed)
					tp.run()
					got[i] = append(got[i], w.Hash())
				}
			}()
		}
		for range got {
			<-done
		}
		runtime.GOMAXPROCS(old)
		for _, g := range got {
			if want == nil {
				want = g
			}
			if !slices.Equal(g, want) {
				t.Fatalf("GOMAXPROCS %d: %x, want %x", procs, g, want)
			}
		}
	}
}
