package catalog

import (
	"context"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/scenarios/engine"
)

func TestAnACLThatIsNotGivenToAllThatIsMadeIsNoticed(t *testing.T) {
	open := zk.WorldACL(zk.PermAll)
	for _, x := range []struct {
		name  string
		makes func(c recipes.Conn, dir string) error
		fault bool
	}{
		{"as it was given", func(c recipes.Conn, dir string) error {
			_, err := c.Multi(&zk.CreateRequest{Path: dir, Acl: givenACL}, &zk.CreateRequest{Path: dir + "/x", Acl: givenACL})
			return err
		}, false},
		{"open", func(c recipes.Conn, dir string) error {
			_, err := c.Create(dir, nil, 0, open)
			return err
		}, true},
		{"the second of a multi open", func(c recipes.Conn, dir string) error {
			_, err := c.Multi(&zk.CreateRequest{Path: dir, Acl: givenACL}, &zk.CreateRequest{Path: dir + "/x", Acl: open})
			return err
		}, true},
	} {
		s := aloneScenario("test/acl", x.name, func(a alone) {
			strike(a.p, operation{x.name, func(_ context.Context, p *engine.Process, dir string) error {
				return x.makes(p.Conn, dir)
			}}, a.path("acl"))
		})
		r := engine.NewRunner()
		s.Faults = nil
		v := r.Seed(&s, 1).Verdict
		r.Close()
		if found := strings.Contains(v.Message, "makes has the ACL that was given"); found != x.fault {
			t.Errorf("%s: %+v", x.name, v)
		}
	}
}

func TestACallThatEndsWithALostAnswerIsNoticed(t *testing.T) {
	found := map[string]bool{}
	s := aloneScenario("test/lost", "a write that is not tried again", func(a alone) {
		strike(a.p, operation{"write", func(_ context.Context, p *engine.Process, dir string) error {
			for {
				if _, err := p.Conn.Create(dir, nil, 0, givenACL); err != zk.ErrNodeExists && err != nil {
					return err
				}
			}
		}}, a.path("lost"))
	})
	s.Faults = nil
	r := engine.NewRunner()
	defer r.Close()
	for seed := range uint64(100) {
		_, loss, _ := strings.Cut(r.Seed(&s, seed).Verdict.Message, "does not end with ")
		found[strings.TrimSuffix(loss, "\" does not hold for c1")] = true
	}
	for _, err := range losses {
		if !found[err.Error()] {
			t.Errorf("%v is not noticed: %v", err, found)
		}
	}
}
