package catalog

import (
	"context"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/scenarios/engine"
)

func TestWhatLeavesMoreAtEachCallIsNoticed(t *testing.T) {
	var kept <-chan zk.Event
	for _, x := range []struct {
		name  string
		call  func(p *engine.Process, dir string) (<-chan zk.Event, error)
		fault bool
	}{
		{"a watch each time", func(p *engine.Process, dir string) (<-chan zk.Event, error) {
			_, _, ch, err := p.Conn.ExistsW(dir)
			return ch, err
		}, true},
		{"a channel each time", func(p *engine.Process, _ string) (<-chan zk.Event, error) {
			return p.Env.SessionEvents(), nil
		}, true},
		{"a watch that has fired before the next", func(p *engine.Process, dir string) (<-chan zk.Event, error) {
			_, _, ch, err := p.Conn.ChildrenW(dir)
			p.Conn.Create(dir+"/child-", nil, zk.FlagSequence, zk.WorldACL(zk.PermAll))
			return ch, err
		}, false},
		{"a watch that is kept", func(p *engine.Process, dir string) (ch <-chan zk.Event, err error) {
			if kept == nil {
				_, _, kept, err = p.Conn.ExistsW(dir)
			}
			return kept, err
		}, false},
		{"nothing", func(p *engine.Process, dir string) (<-chan zk.Event, error) { return nil, nil }, false},
	} {
		s := aloneScenario("test/meter", x.name, func(a alone) {
			kept = nil
			a.frugal(usage{x.name, func(p *engine.Process, dir string) func(ctx context.Context) error {
				a.create(dir, "")
				return func(context.Context) error {
					_, err := x.call(p, dir)
					return err
				}
			}})
		})
		r := engine.NewRunner()
		s.Faults = nil
		v := r.Seed(&s, 1).Verdict
		r.Close()
		if found := strings.Contains(v.Message, "leaves no watch or channel more each time"); found != x.fault {
			t.Errorf("%s: %+v", x.name, v)
		}
	}
}
