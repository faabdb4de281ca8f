package sim

import (
	"slices"
	"testing"

	"zksim/model"
)

// bytesWorld is a world of three clients, each of which makes and deletes a znode,
// with one fault that is always possible.
func bytesWorld(t *testing.T, ch Chooser) *World {
	t.Helper()
	w := NewWorld()
	t.Cleanup(w.Close)
	w.Reset(Config{Clients: 3, Order: 1, SafetySteps: 200}, oneFault{}, func(c *Client) {
		p, _ := c.Conn().Create("/n-", nil, 2, open)
		c.Conn().Delete(p, -1)
	})
	if err := w.Run(ch); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestBytesAreARunWhateverTheyAre(t *testing.T) {
	var r Random
	seen := map[uint64]bool{}
	for seed := range uint64(200) {
		r.Seed(seed)
		data := make([]byte, r.Uint64()%300)
		for i := range data {
			data[i] = byte(r.Uint64())
		}
		a, b := bytesWorld(t, &Bytes{Data: data}), bytesWorld(t, &Bytes{Data: data})
		if a.Hash() != b.Hash() || !slices.Equal(a.Schedule(), b.Schedule()) {
			t.Fatalf("%x is two different runs", data)
		}
		for id := 1; id <= 3; id++ {
			if !a.History.Finished[id] {
				t.Fatalf("%x: c%d has not finished: %v", data, id, a.Schedule())
			}
		}
		seen[a.Hash()] = true
	}
	if len(seen) < 150 {
		t.Errorf("200 strings of bytes make only %d runs", len(seen))
	}
}

func TestNoBytesAreTheFairRunWithoutFaults(t *testing.T) {
	a, b := bytesWorld(t, &Bytes{}), bytesWorld(t, &Replay{})
	if !slices.Equal(a.Schedule(), b.Schedule()) {
		t.Errorf("%v and %v", a.Schedule(), b.Schedule())
	}
}

func TestAByteIsAChoice(t *testing.T) {
	w := bytesWorld(t, &Bytes{Data: []byte{5, 0, FaultByte, 1}})
	// Six normal transitions at first: run and connect of each client.
	want := []string{"connect c3 s1", "run c1", "strike c3", "run c2", "calm"}
	if got := w.Schedule(); len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
		t.Errorf("got %v, want it to begin with %v", got, want)
	}
}

func TestRecordedBytesMakeTheSameRun(t *testing.T) {
	for seed := range uint64(100) {
		random, pct := &Random{FaultRate: 1 << 12}, &PCT{}
		random.Seed(seed)
		pct.Seed(seed)
		pct.FaultRate = 1 << 12
		for _, ch := range []Chooser{random, pct} {
			rec := &Recorder{Chooser: ch}
			want := bytesWorld(t, rec).Schedule()
			got := bytesWorld(t, &Bytes{Data: slices.Clone(rec.Data)}).Schedule()
			k := slices.Index(want, "calm")
			if k < 0 || len(got) < k || !slices.Equal(got[:k], want[:k]) {
				t.Fatalf("seed %d:\n%v\nbut recorded\n%v", seed, want, got)
			}
		}
	}
}

// lastFault takes the last fault as soon as there are many, and before that what comes first.
type lastFault struct{ many, at int }

func (x *lastFault) Choose(w *World) (Transition, bool, error) {
	list, faults := w.Normal(), w.Faults()
	if x.at == 0 && len(faults) >= x.many {
		x.at = int(w.step) + 1
		return faults[len(faults)-1], true, nil
	}
	if len(list) == 0 {
		return Transition{}, false, nil
	}
	return list[0], true, nil
}

// TestARecordingEndsWhereNoByteMakesTheChoice: of more than 32 faults a byte picks one of the first.
func TestARecordingEndsWhereNoByteMakesTheChoice(t *testing.T) {
	run := func(ch Chooser) []string {
		w := NewWorld()
		defer w.Close()
		w.Reset(Config{Clients: 40, Order: 1, SafetySteps: 200}, oneFault{}, func(c *Client) { c.Conn().Exists("/") })
		if err := w.Run(ch); err != nil {
			t.Fatal(err)
		}
		return slices.Clone(w.Schedule())
	}
	for _, many := range []int{20, 33} {
		last := &lastFault{many: many}
		rec := &Recorder{Chooser: last}
		want := run(rec)
		got := run(&Bytes{Data: slices.Clone(rec.Data)})
		k := slices.Index(got, "calm")
		if k < 0 || !slices.Equal(got[:k], want[:k]) || last.at == 0 || (k < last.at) != (many > 256-FaultByte) {
			t.Errorf("%d faults: %v at step %d, but recorded %v", many, want, last.at, got)
		}
	}
}

// TestBytesChooseLargeNumbers also records them.
func TestBytesChooseLargeNumbers(t *testing.T) {
	run := func(ch Chooser) []string {
		s := start(t, 1, func(s *script, c *Client) {
			e := c.Env()
			s.say("%d %d %d", e.Choose(257), e.Choose(256), e.Choose(65536))
		})
		if err := s.w.Run(ch); err != nil {
			t.Fatal(err)
		}
		return s.lines
	}
	if got := run(&Bytes{Data: []byte{0, 1, 0, 255, 200, 100}}); !slices.Equal(got, []string{"256 255 51300"}) {
		t.Errorf("%v, expected the largest number twice, and 200 * 256 + 100", got)
	}
	for seed := range uint64(50) {
		random := &Random{}
		random.Seed(seed)
		rec := &Recorder{Chooser: random}
		want := run(rec)
		if got := run(&Bytes{Data: rec.Data}); !slices.Equal(got, want) {
			t.Errorf("%v, but recorded %v", want, got)
		}
	}
}

// oneFault is a fault that cuts the connection of a client.
type oneFault struct{}

func (oneFault) Enabled(w *World, list []Transition) []Transition {
	for _, c := range w.Clients() {
		if c.Connected() {
			list = append(list, Transition{Kind: FirstFault, Client: uint32(c.ID())})
		}
	}
	return list
}
func (oneFault) Apply(w *World, t Transition)   { w.clients[t.Client-1].Drop() }
func (oneFault) Issued(*Client, *model.Request) {}

func (oneFault) Moved(_ *Client, _, _ *model.Request) {}

func (oneFault) Aimed(*Client, *model.Request) uint64 { return 0 }
func (oneFault) Fingerprint() uint64                  { return 0 }
func (oneFault) Verb(Kind) string                     { return "strike" }
