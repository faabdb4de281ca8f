package herd

import (
	"time"

	"zksim/model"
	"zksim/model/history"
	"zksim/scenarios/engine"
)

// QuietPath is what the bystander reads. Nobody else does.
const QuietPath = "/bystander"

// scenario is the workload with n clients, the driver and the bystander. Each gets a pace when it starts.
func (v *Variant) scenario(n int, newPace func(p *engine.Process) pace) engine.Scenario {
	setup := append([]model.Request{engine.Mkdir(QuietPath)}, v.Setup...)
	return engine.Scenario{Name: v.Name, Doc: v.Doc, Clients: n + 2, Setup: setup, Program: func(p *engine.Process) {
		q := &Process{Process: p, Object: p.Register(nil), N: n, pace: newPace(p)}
		switch {
		case p.ID <= n:
			q.pace.arrive(q)
			v.Program(q)
		case p.ID == n+1:
			if v.Drive != nil {
				v.Drive(q)
			}
		default:
			q.stand()
		}
	}}
}

// stand is the program of the bystander.
func (p *Process) stand() {
	for {
		if _, _, err := p.Conn.Get(p.Path(QuietPath)); err != nil {
			p.Fail(err)
			return
		}
		p.Rest(time.Millisecond)
	}
}

// Went records how a waiting operation has ended, and reports whether the client can go on.
func (p *Process) Went(err error) bool {
	if err != nil {
		p.Fail(err)
		return false
	}
	p.Acquired("", 0)
	return true
}

// Acquired records that the client can go on.
func (p *Process) Acquired(path string, token int64) {
	p.Record(history.Event{Kind: history.Acquired, Path: path, Value: token})
}

// Record records an event. What says that the client can go on is counted once the measurement has begun.
func (p *Process) Record(e history.Event) {
	p.Object.Record(e)
	if e.Kind == history.Acquired {
		p.pace.went(p)
	}
}
