package scenarios_test

import (
	"context"
	"strconv"
	"testing"
	"time"

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
func leases(name string, env func(p *scenarios.Process) recipes.Env, caught ...string) scenarios.Scenario {
	return scenarios.Scenario{Name: name, Clients: 2, Caught: caught,
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

// TestClocksDifferOnlyIfAProgramHasAnEnvOfItsOwn finds out that a lease by the clock needs clocks that agree.
func TestClocksDifferOnlyIfAProgramHasAnEnvOfItsOwn(t *testing.T) {
	one := func(p *scenarios.Process) recipes.Env { return p.Env }
	other := func(p *scenarios.Process) recipes.Env {
		return ahead{p.Env, time.Duration(p.Choose(2)) * 500 * time.Millisecond}
	}
	scenarios.Check(t, leases("my/one-clock", one))
	scenarios.Check(t, leases("my/clocks", other, "always"))
	scenarios.Prove(t, leases("my/one-clock", one))
	scenarios.Prove(t, leases("my/clocks", other, "always"))
}
