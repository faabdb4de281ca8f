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
