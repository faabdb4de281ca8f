package sim_test

import (
	"slices"
	"strings"
	"testing"

	"zksim/faults"
	"zksim/model/history"
	"zksim/sim"
)

// understudy has a replica do each step of servers before the world does, and compares.
type understudy struct {
	t       *testing.T
	chooser sim.Chooser
	replica *sim.Replica
	seed    uint64

	stepped sim.Stepped // what is expected of the step in progress
	cut     *sim.Servers
	parts   []*sim.Part
	events  int
	pending bool
	done    map[string]int // steps by their verb, and requests that it did not take
}

// Choose implements [sim.Chooser].
func (u *understudy) Choose(w *sim.World) (sim.Transition, bool, error) {
	if u.pending {
		u.compare(w)
	}
	t, more, err := u.chooser.Choose(w)
	if u.pending, u.cut = false, nil; !more || err != nil {
		return t, more, err
	}
	verb, _, _ := strings.Cut(w.Name(t), " ")
	switch verb {
	case "disconnect", "serve", "replicate", "thaw", "stepdown":
	default:
		return t, more, err
	}
	u.parts = u.parts[:0]
	for _, c := range w.Clients() {
		var p sim.Part
		c.Part(&p)
		u.parts = append(u.parts, p.Clone())
	}
	if verb == "disconnect" {
		u.cut, u.pending = u.replica.Disconnect(w.Servers(), u.parts, int(t.Client))
	} else if u.stepped, u.pending = u.replica.Step(w.Servers(), u.parts, t, w.Now()); u.pending {
		for _, m := range u.stepped.Moved {
			var q sim.Part
			u.parts[m.Client].Move(&q, m)
			u.parts[m.Client] = &q
		}
	}
	if !u.pending {
		verb = "not taken"
	}
	u.done[verb]++
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
	is, said := w.Servers(), u.stepped.Servers
	if said.Hash() != is.Hash() || said.Stance() != is.Stance() || said.Deposed() != is.Deposed() ||
		!slices.Equal(said.Moves(), is.Moves()) {
		u.t.Fatalf("seed %d: the servers are something else after %v", u.seed, w.Schedule())
	}
	for i, c := range w.Clients() {
		var p sim.Part
		if c.Part(&p); p.Key() != u.parts[i].Key() || p.Fingerprint(is, 1) != u.parts[i].Fingerprint(said, 1) ||
			p.Head() != u.parts[i].Head() || p.End() != u.parts[i].End() || said.Of(&p) != is.Of(&p) {
			u.t.Fatalf("seed %d: %s is something else after %v", u.seed, c.Name(), w.Schedule())
		}
	}
	var told []history.Event
	for _, e := range w.History.Events[u.events:] {
		e.Step = 0
		told = append(told, e)
	}
	if !slices.Equal(told, u.stepped.Told) {
		u.t.Fatalf("seed %d: the history says %v, not %v", u.seed, told, u.stepped.Told)
	}
}

// TestAReplicaDoesWhatTheServersDo has it do the steps of the servers of random runs, where what it does can be seen.
func TestAReplicaDoesWhatTheServersDo(t *testing.T) {
	w := sim.NewWorld()
	defer w.Close()
	all := map[uint64]*sim.Stored{}
	kept := func(print uint64, fresh func() *sim.Stored) *sim.Stored {
		if all[print] == nil {
			all[print] = fresh()
		}
		return all[print]
	}
	done := map[string]int{}
	for seed := range uint64(600) {
		var tp tape
		cfg := config(1+2*int(seed%2), seed)
		cfg.Detail = sim.Detail{DenseZxids: seed%3 > 0}
		r := &sim.Random{FaultRate: 6000}
		r.Seed(seed)
		tp.Reset(faults.Contract().SwarmInto(nil, 3, r.Uint64))
		u := &understudy{t: t, chooser: r, replica: sim.NewReplica(cfg.Clients, cfg.Servers, cfg.Detail, kept), seed: seed,
			done: done}
		tp.start(w, cfg, u)
		if err := w.Run(&tp); err != nil {
			t.Fatal(err)
		}
	}
	t.Log(done)
	for verb, least := range map[string]int{"serve": 10_000, "replicate": 5000, "disconnect": 200, "thaw": 100,
		"stepdown": 20} {
		if done[verb] < least {
			t.Errorf("%d of %s", done[verb], verb)
		}
	}
	if done["not taken"] > done["serve"] {
		t.Errorf("it did not take %d", done["not taken"])
	}
}
