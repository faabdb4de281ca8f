package serve

import (
	"fmt"
	"net"
	"slices"
	"testing"

	"zksim/internal/zkserver/zkservertest"
	"zksim/model"
	"zksim/model/jute"
)

// brood has names of several kinds, more than fit into the first size of a Java set, and some that share a bucket.
func brood() (names []string) {
	for i := range 12 {
		names = append(names, fmt.Sprintf("lock-%010d", i))
	}
	return append(names, "Aa", "BB", "zookeeper_limits", "zookeeper_stats", "é", "m0", "m16", "m32")
}

// listings has a client create ephemerals, and another one list them and watch what is deleted when their session ends.
func listings(t *testing.T, addr string) (listed, deleted []string) {
	owner, watcher := dialTo(t, addr), dialTo(t, addr)
	for _, sock := range []net.Conn{owner, watcher} {
		hello(t, sock, 0, make([]byte, jute.PasswordLen))
	}
	ask(t, watcher, model.Request{Op: model.OpCreate, Path: "/order", ACL: open})
	for _, name := range brood() {
		ask(t, owner, model.Request{Op: model.OpCreate, Path: "/order/" + name, Flags: 1, ACL: open})
		ask(t, watcher, model.Request{Op: model.OpExists, Path: "/order/" + name, Watch: true})
	}
	a, _ := ask(t, watcher, model.Request{Op: model.OpGetChildren, Path: "/order"})
	res, err := a.Response(model.OpGetChildren)
	if err != nil {
		t.Fatal(err)
	}
	ask(t, owner, model.Request{Op: model.OpCloseSession})
	_, events := ask(t, watcher, model.Request{Op: model.OpSync, Path: "/"})
	for _, ev := range events {
		deleted = append(deleted, ev.Path[len("/order/"):])
	}
	return res.Children, deleted
}

// Both are compared with a server that runs beside it.
func TestChildrenAreInTheOrderOfARealServerUnlessASeedDrawsIt(t *testing.T) {
	t.Parallel()
	listed, deleted := listings(t, start(t, Options{}).Addrs()[0])
	seeded, _ := listings(t, start(t, Options{Seed: 1}).Addrs()[0])
	if slices.Equal(seeded, listed) || len(seeded) != len(listed) {
		t.Errorf("with a seed: %q", seeded)
	}
	real, gone := listings(t, zkservertest.ForTest(t, 1).Addrs()[0])
	if len(real) != len(brood()) || !slices.Equal(listed, real) {
		t.Errorf("listed\n%q, a real server\n%q", listed, real)
	}
	if len(gone) != len(brood()) || !slices.Equal(deleted, gone) {
		t.Errorf("deleted\n%q, a real server\n%q", deleted, gone)
	}
}
