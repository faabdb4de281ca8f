package model

import (
	"fmt"
	"strings"
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

// The orders are those of a real server. Its set has 16 buckets at first, and 32 with twelve identities, of which the
// address is one.
func TestIdentitiesAreInTheOrderOfARealServer(t *testing.T) {
	for _, x := range []struct {
		user string
		n    int
		want string
	}{
		{"u", 8, "2 3 0 1 6 5 7 4"},
		{"u", 11, "3 5 7 9 2 8 0 1 6 4 10"},
		{"a", 11, "8 2 7 5 9 4 3 1 6 10 0"}, // without a transfer's reversal: 8 2 5 7
		{"u", 23, "3 20 5 14 8 0 1 4 10 18 17 7 11 19 9 15 2 12 13 6 21 16 22"},
		{"u", 60, "58 28 37 33 14 8 0 36 23 35 51 25 29 4 39 57 10 44 18 50 17 32 7 56 11 53 54 9 12 41 13 46 21 47 16 " +
			"45 22 3 20 52 5 31 26 1 48 49 40 59 27 55 43 34 19 42 30 38 15 2 6 24"},
	} {
		ids := []ID{{"ip", "127.0.0.1"}}
		for i := range x.n {
			ids, _ = Authenticate(ids, "digest", fmt.Appendf(nil, "%s%d:p", x.user, i))
		}
		var got []string
		for _, id := range ids {
			if user, _, _ := strings.Cut(id.ID, ":"); id.Scheme == "digest" {
				got = append(got, user[1:])
			}
		}
		if strings.Join(got, " ") != x.want {
			t.Errorf("%d of %s: %s, expected %s", x.n, x.user, strings.Join(got, " "), x.want)
		}
	}
}

// A packet of 1 MB has room for 50,000 entries, and a client of serve for 1,000 identities.
func TestAuthEntriesOfManyIdentitiesComeToAnEnd(t *testing.T) {
	var ids []ID
	for i := range 100 {
		ids = append(ids, ID{"digest", fmt.Sprintf("u%d:x", i)})
	}
	list := make([]zk.ACL, 50_000)
	for i := range list {
		list[i] = zk.ACL{Perms: int32(i), Scheme: "auth"}
	}
	if a, code := fixACL(list[:maxACL/100], ids); code != OK || len(a.list) != maxACL {
		t.Errorf("%s, expected %d entries", code, maxACL)
	}
	if _, code := fixACL(list, ids); code != InvalidACL {
		t.Errorf("%s, expected InvalidACL", code)
	}
}

// The answers are those of a real server, which replaces by a regular expression.
func TestADigestIsMaskedUpToTheEndOfItsLine(t *testing.T) {
	for id, want := range map[string]string{"a:b": "a:x", "a:b:": "a:x", ":": ":x", "a:b\nc": "a:x\nc", "a\nx:b": "a\nx:x",
		"a:\n:": "a:x\n:x", "a:b\r\nc\u0085d\u2028e\u2029f": "a:x\r\nc\u0085d\u2028e\u2029f"} {
		a := acl{list: []zk.ACL{{Perms: zk.PermRead, Scheme: "digest", ID: id}, {Scheme: "ip", ID: "1:2"}}}
		if got := a.masked(); got[0].ID != want || got[1].ID != "1:2" {
			t.Errorf("%q: %q, expected %q", id, got, want)
		}
	}
}
