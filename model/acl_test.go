package model

import (
	"fmt"
	"testing"

	"github.com/go-zookeeper/zk"
)

// That a list is looked at once: with each entry compared with all before it, this would take minutes.
func TestALongACLLosesItsDuplicatesAndKeepsItsOrder(t *testing.T) {
	const n = 400_000
	var list []zk.ACL
	for i := range n {
		list = append(list, zk.ACL{Perms: zk.PermAll, Scheme: "digest", ID: fmt.Sprintf("u%d:x", i%(n/2))})
	}
	a, code := fixACL(list, nil)
	if code != OK || len(a.list) != n/2 || a.list[0] != list[0] || a.list[n/2-1] != list[n/2-1] {
		t.Errorf("expected the first %d entries", n/2)
	}
}
