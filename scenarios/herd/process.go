package herd

import (
	"context"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/scenarios"
)

// quietPath is what the bystander reads, and nobody else.
const quietPath = "/bystander"

// scenario is the workload with n clients, the driver and the bystander.
func (v *Variant) scenario(n int) scenarios.Scenario {
	setup := append([]model.Request{create(quietPath)}, v.Setup...)
	return scenarios.Scenario{Name: v.Name, Doc: v.Doc, Clients: n + 2, Setup: setup, Program: func(p *scenarios.Process) {
		q := &Process{Process: p, Object: p.Register(func() []string { return nil }), N: n, began: p.Env.Now()}
		switch {
		case p.ID <= n:
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

// create is a request that creates an open znode.
func create(path string) model.Request {
	return model.Request{Op: model.OpCreate, Path: path, ACL: zk.WorldACL(zk.PermAll)}
}

// stand is the program of the bystander.
func (p *Process) stand() {
	for {
		if _, _, err := p.Conn.Get(quietPath); err != nil {
			p.Fail(err)
			return
		}
		p.Rest(time.Millisecond)
	}
}

// Rest waits.
func (p *Process) Rest(d time.Duration) { p.Env.Sleep(context.Background(), d) }

// Opening waits until the measurement begins and so long after that. It returns at
// once if that time is over.
func (p *Process) Opening(after time.Duration) {
	if d := opening(p.N) + after - p.Env.Now().Sub(p.began); d > 0 {
		p.Rest(d)
	}
}

// Went records how an operation that waits has ended, and reports whether the client
// can go on.
func (p *Process) Went(err error) bool {
	if err != nil {
		p.Fail(err)
		return false
	}
	p.Acquired("", 0)
	return true
}
