package prove

import (
	"errors"
	"syscall"
	"testing"

	"zksim/scenarios/engine"
)

// TestBrokenPipesAreSeen has programs that make something of which of two requests ended with a broken pipe, after
// further answers, which are the same.
func TestBrokenPipesAreSeen(t *testing.T) {
	broken := func(err error) bool { return errors.Is(err, syscall.EPIPE) }
	for bad := range 2 {
		for _, o := range []Options{{}, {Reductions: Every}, {Reductions: Every, Rerun: true},
			{Reductions: Every, Reverse: true}} {
			x := tiny{name: "pipe", servers: 3, program: func(p *engine.Process) {
				var err [2]error
				for i := range err {
					_, _, err[i] = p.Conn.Exists("/d")
				}
				p.Conn.Exists("/d")
				if broken(err[bad]) {
					p.Fail(errors.New("broken"))
				}
			}}
			x.faults = "broken-pipe=1"
			o.Workers = 1
			res, err := Prove(t.Context(), x.scope(t), o)
			if err != nil || res.Certificate.Outcome != Violated {
				t.Errorf("request %d, %+v: %v, %v", bad+1, o.Reductions, res.Certificate.Outcome, err)
			}
		}
	}
}
