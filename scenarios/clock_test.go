package scenarios_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"zksim/faults"
	"zksim/recipes"
	"zksim/scenarios"
)

// ahead is an Env whose clock is not that of the others, as docs/adopt.md has it.
type ahead struct {
	recipes.Env
	by time.Duration
}

func (e ahead) Now() time.Time { return e.Env.Now().Add(e.by) }

// lease waits until the time that stands in /lease is over, and writes there when its own lease ends, a second later.
func lease(p *scenarios.Process) (token, until int64) {
	for {
		data, stat, err := p.Conn.Get(p.Path("/lease"))
		if err != nil {
			continue
		}
		ends, _ := strconv.ParseInt(string(data), 10, 64)
		now := p.Env.Now().UnixMilli()
		if now < ends {
			p.Env.Sleep(context.Background(), time.Duration(ends-now)*time.Millisecond)
			continue
		}
		until = now + 1000
		stat, err = p.Conn.Set(p.Path("/lease"), strconv.AppendInt(nil, until, 10), stat.Version)
		if err == nil {
			return int64(stat.Version), until
		}
	}
}

// leases says that a holder whose lease is not over by its own clock can write.
func leases(name, plan string, env func(p *scenarios.Process) recipes.Env, caught ...string) scenarios.Scenario {
	return scenarios.Scenario{Name: name, Clients: 2, Caught: caught, Faults: faults.MustParse(plan),
		Setup: []scenarios.Request{scenarios.Mkdir("/lease")},
		Program: func(p *scenarios.Process) {
			p.Env = env(p)
			token, until := lease(p)
			o := p.Register(nil)
			o.Acquired("", token)
			o.Write(token)
			p.Env.Sleep(context.Background(), 900*time.Millisecond)
			now := p.Env.Now().UnixMilli()
			p.Always("a holder can write", o.Write(token) || now >= until)
			o.Released()
		},
	}
}

// TestLeasesNeedClocksThatAgree has the clock of a client differ by the fault skew, and by an Env of the program's own.
func TestLeasesNeedClocksThatAgree(t *testing.T) {
	usual := func(p *scenarios.Process) recipes.Env { return p.Env }
	own := func(p *scenarios.Process) recipes.Env {
		return ahead{p.Env, time.Duration(p.Choose(2)) * 500 * time.Millisecond}
	}
	for _, s := range []scenarios.Scenario{
		leases("my/one-clock", "none", usual),
		leases("my/skew", "skew", usual, "always"),
		leases("my/clocks", "none", own, "always"),
	} {
		scenarios.Check(t, s)
		scenarios.Prove(t, s)
	}
}

// TestClocksThatDifferAreNoFaultForATimeout has code compare only its own times. The rule strikes, and nothing breaks.
func TestClocksThatDifferAreNoFaultForATimeout(t *testing.T) {
	s := scenarios.Scenario{Name: "my/timeout", Clients: 2, Faults: faults.MustParse("skew=2"),
		Program: func(p *scenarios.Process) {
			began := p.Env.Now()
			ctx, cancel := p.Env.WithTimeout(context.Background(), time.Second)
			defer cancel()
			at, _ := ctx.Deadline()
			p.Always("a deadline is by the clock of its client", at.Sub(began) >= time.Second && at.Sub(began) < time.Minute)
			p.Env.Sleep(ctx, time.Minute)
			p.Always("a timeout takes its time", !p.Env.Now().Before(at))
			p.Sometimes("a clock is ahead", began.Hour() > 0)
			p.Always("judges have one clock", p.Clock().Hour() == 0)
		}}
	scenarios.Check(t, s)
	scenarios.Prove(t, s, scenarios.Bounds{Faults: s.Faults.String()})
}
