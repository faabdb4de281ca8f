package sim

import (
	"fmt"
	"slices"
	"testing"

	"zksim/model/history"
)

// twice asks for numbers in two of its goroutines, and tells them.
func twice(s *script, c *Client) {
	c.Env().Go("other", func() { s.say("other %d", c.Env().Choose(3)) })
	s.say("main %d", c.Env().Choose(2))
}

func TestNothingElseHappensBeforeANumberIsChosen(t *testing.T) {
	s := start(t, 1, twice, func(_ *script, c *Client) { c.Conn().Get("/d") })
	s.do("run c1")
	var names []string
	for _, x := range append(slices.Clone(s.w.Normal()), s.w.Faults()...) {
		names = append(names, s.w.Name(x))
	}
	if want := []string{"choose c1 0", "choose c1 1"}; !slices.Equal(names, want) {
		t.Errorf("%v, expected %v", names, want)
	}
	s.do("choose c1 1", "run c1/other", "choose c1 2", "run c2")
	if want := []string{"main 1", "other 2"}; !slices.Equal(s.lines, want) {
		t.Errorf("%v, expected %v", s.lines, want)
	}
}

// TestEveryChooserChoosesEveryNumber also has time and faults pass between choices.
func TestEveryChooserChoosesEveryNumber(t *testing.T) {
	for name, chooser := range map[string]func(seed uint64) Chooser{
		"random": func(seed uint64) Chooser { r := &Random{FaultRate: 6000}; r.Seed(seed); return r },
		"pct":    func(seed uint64) Chooser { p := &PCT{}; p.Seed(seed); return p },
		"timed":  func(seed uint64) Chooser { d := &Timed{Timing: DefaultTiming}; d.Seed(seed); return d },
		"bytes":  func(seed uint64) Chooser { return &Bytes{Data: []byte{byte(seed), byte(seed >> 3), byte(seed >> 5)}} },
	} {
		got, w := map[string]int{}, NewWorld()
		for seed := range uint64(200) {
			s := &script{t: t, w: w}
			w.Reset(Config{Clients: 1, Order: seed}, nil, func(c *Client) { twice(s, c) })
			if err := w.Run(chooser(seed)); err != nil || w.History.Outcome != history.Quiet {
				t.Fatalf("%s: seed %d: %v, outcome %v", name, seed, err, w.History.Outcome)
			}
			slices.Sort(s.lines)
			got[fmt.Sprint(s.lines)]++
		}
		for _, n := range got {
			if len(got) != 6 || n < 10 {
				t.Errorf("%s: %v, expected six outcomes, each often", name, got)
				break
			}
		}
		w.Close()
	}
}

// TestALoopThatChoosesEnds: a schedule leaves open what is chosen after its last name. Whatever the steps between two
// choices are, a loop must not get the same numbers forever.
func TestALoopThatChoosesEnds(t *testing.T) {
	for n := 2; n < 8; n++ {
		for reads := range 5 {
			s := start(t, 1, func(_ *script, c *Client) {
				for c.Env().Choose(n) != n-1 || c.Env().Choose(2) == 0 {
					for range reads {
						c.Conn().Exists("/d")
					}
				}
			})
			if err := s.w.Run(&Replay{}); err != nil || s.w.History.Outcome != history.Quiet {
				t.Errorf("one of %d, %d reads: %v, outcome %v", n, reads, err, s.w.History.Outcome)
			}
		}
	}
}
