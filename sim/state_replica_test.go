package sim_test

import (
	"slices"
	"strings"
	"testing"

	"zksim/faults"
	"zksim/model/history"
	"zksim/sim"
)

// understudy has a replica execute each request before the world does, and compares.
type understudy struct {
	t       *testing.T
	chooser sim.Chooser
	replica *sim.Replica
	seed    uint64

	served  sim.Served // what is expected of the step in progress
	cut     *sim.Servers
	parts   []*sim.Part
	events  int
	pending bool
	done    [2]int // requests that it did not take, and that it did
	cuts    int
}

// Choose implements [sim.Chooser].
func (u *understudy) Choose(w *sim.World) (sim.Transition, bool, error) {
	if u.pending {
		u.compare(w)
	}
	t, more, err := u.chooser.Choose(w)
	cut := more && strings.HasPrefix(w.Name(t), "disconnect")
	if u.pending, u.cut = false, nil; !more || err != nil || t.Kind != sim.Serve && !cut {
		return t, more, err
	}
	u.parts = u.parts[:0]
	for _, c := range w.Clients() {
		var p sim.Part
		c.Part(&p)
		u.parts = append(u.parts, p.Clone())
	}
	if cut {
		if u.cut, u.pending = u.replica.Disconnect(w.Servers(), u.parts, int(t.Client)); u.pending {
			u.cuts++
		}
		return t, more, err
	}
	k, taken := int(t.Client)-1, 0
	if u.served, u.pending = u.replica.Serve(w.Servers(), u.parts, int(t.Client), w.Now()); u.pending {
		taken = 1
		for i, p := range u.parts {
			u.parts[i] = new(sim.Part)
			if i == k {
				p.Serve(u.parts[i], u.served.Sent[i]...)
			} else {
				p.Push(u.parts[i], u.served.Sent[i]...)
			}
		}
	}
	u.done[taken]++
	u.events = len(w.History.Events)
	return t, more, err
}

func (u *understudy) compare(w *sim.World) {
	if u.cut != nil {
		if u.cut.Hash() != w.Servers().Hash() {
			u.t.Fatalf("seed %d: the servers are something else after the cut in %v", u.seed, w.Schedule())
		}
		return
	}
	if u.served.Servers.Hash() != w.Servers().Hash() {
		u.t.Fatalf("seed %d: the servers are something else after %v", u.seed, w.Schedule())
	}
	for i, c := range w.Clients() {
		var p sim.Part
		if c.Part(&p); p.Key() != u.parts[i].Key() || p.Fingerprint(w.Servers()) != u.parts[i].Fingerprint(u.served.Servers) {
			u.t.Fatalf("seed %d: %s is something else after %v", u.seed, c.Name(), w.Schedule())
		}
	}
	var told []history.Event
	for _, e := range w.History.Events[u.events:] {
		e.Step = 0
		told = append(told, e)
	}
	if !slices.Equal(told, u.served.Told) {
		u.t.Fatalf("seed %d: the history says %v, not %v", u.seed, told, u.served.Told)
	}
}

// TestAReplicaDoesWhatTheServerDoes has it execute the requests of random runs, where what it does can be seen.
func TestAReplicaDoesWhatTheServerDoes(t *testing.T) {
	w := sim.NewWorld()
	defer w.Close()
	var done [2]int
	cuts := 0
	for seed := range uint64(300) {
		var tp tape
		cfg := config(1, seed)
		cfg.Detail = sim.Detail{DenseZxids: seed%3 > 0}
		r := &sim.Random{FaultRate: 6000}
		r.Seed(seed)
		tp.Reset(faults.Contract().Swarm(r.Uint64))
		u := &understudy{t: t, chooser: r, replica: sim.NewReplica(cfg.Clients, cfg.Detail), seed: seed}
		tp.start(w, cfg, u)
		if err := w.Run(&tp); err != nil {
			t.Fatal(err)
		}
		cuts += u.cuts
		for i, n := range u.done {
			done[i] += n
		}
	}
	t.Logf("%d of %d requests, %d cuts", done[1], done[0]+done[1], cuts)
	if cuts < 100 {
		t.Errorf("%d cuts", cuts)
	}
	if done[1] < 5000 || done[1] < done[0] {
		t.Errorf("it took %d of %d requests", done[1], done[0]+done[1])
	}
}
