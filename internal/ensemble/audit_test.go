package ensemble

import (
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/internal/zkserver"
	"zksim/recipes/live"
	"zksim/scenarios/serve"
)

// After a leader was stopped, a server of 3.8.7 had a znode that its log had not any more, and only the clients that
// were connected to it could see that: so each server is asked.
func TestEachServerIsAudited(t *testing.T) {
	var addrs []string
	for _, setup := range [][]string{{"/run"}, {"/run", "/run/ghost"}, {"/run"}} {
		e, err := serve.Start(serve.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		addrs = append(addrs, e.Addrs()...)
		err = administer(t.Context(), LiveOptions{Servers: e.Addrs()}, live.Options{}, func(c *live.Client) error {
			for _, path := range setup {
				if _, err := c.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	x := &liveRun{host: &liveHost{root: "/run"}, o: LiveOptions{Servers: addrs, Ours: &zkserver.Ensemble{}}}
	looks, err := x.audit(t.Context())
	ghost := func(l look) bool { return l.path == "/run/ghost" && l.stat != nil }
	if len(looks) != 4 || !slices.ContainsFunc(looks, ghost) || err != nil {
		t.Errorf("%+v, %v", looks, err)
	}
}
