package conform

import (
	"strings"

	"github.com/go-zookeeper/zk"
)

// The identities of the sequences. The connection that cleans up after them has the last one.
const (
	firstUser   = "ann:secret"
	secondUser  = "bob:hidden"
	cleanerUser = "conform:cleaner"
)

func user(userPassword string) string {
	name, password, ok := strings.Cut(userPassword, ":")
	if !ok {
		panic("conform: a user without a password: " + userPassword)
	}
	return zk.DigestACL(zk.PermAll, name, password)[0].ID
}

// cleaner is part of every list that takes rights away, so that no znode is left behind on a server that others use.
var cleaner = zk.ACL{Perms: zk.PermAll, Scheme: "digest", ID: user(cleanerUser)}

func world(perms int32) []zk.ACL {
	return []zk.ACL{{Perms: perms, Scheme: "world", ID: "anyone"}, cleaner}
}

func digest(perms int32, userPassword string) zk.ACL {
	return zk.ACL{Perms: perms, Scheme: "digest", ID: user(userPassword)}
}

// acls are the access control lists that operations can name.
var acls = map[string][]zk.ACL{
	"": zk.WorldACL(zk.PermAll),

	"no-read":   world(zk.PermAll &^ zk.PermRead),
	"no-write":  world(zk.PermAll &^ zk.PermWrite),
	"no-create": world(zk.PermAll &^ zk.PermCreate),
	"no-delete": world(zk.PermAll &^ zk.PermDelete),
	"no-admin":  world(zk.PermAll &^ zk.PermAdmin),
	"read-only": world(zk.PermRead),
	"nothing":   world(0),
	"ann":       {digest(zk.PermAll, firstUser), cleaner},
	"ann-bob":   {digest(zk.PermAll, firstUser), digest(zk.PermRead|zk.PermWrite, secondUser), cleaner},
	"doubled":   {digest(zk.PermAll, firstUser), digest(zk.PermAll, firstUser), cleaner},
	"auth":      {{Perms: zk.PermAll, Scheme: "auth", ID: ""}, cleaner},
	"loopback":  {{Perms: zk.PermAll, Scheme: "ip", ID: "127.0.0.1"}, cleaner},
	"net":       {{Perms: zk.PermRead | zk.PermAdmin, Scheme: "ip", ID: "127.0.0.0/8"}, cleaner},
	"elsewhere": {{Perms: zk.PermAll, Scheme: "ip", ID: "10.1.2.3"}, cleaner},

	"empty":          {},
	"unknown-scheme": {{Perms: zk.PermAll, Scheme: "nobody", ID: "anyone"}},
	"bad-world":      {{Perms: zk.PermAll, Scheme: "world", ID: "someone"}},
	"bad-digest":     {{Perms: zk.PermAll, Scheme: "digest", ID: "no-colon"}},
	"bad-ip":         {{Perms: zk.PermAll, Scheme: "ip", ID: "300.0.0.1"}},
}

// The names by purpose. A list that depends on the client's address can only be used when that address is known.
var (
	guardedACLs = []string{"no-read", "no-write", "no-create", "no-delete", "no-admin", "read-only", "nothing", "ann",
		"ann-bob", "doubled", "auth"}
	addressACLs = []string{"loopback", "net", "elsewhere"}
	invalidACLs = []string{"empty", "unknown-scheme", "bad-world", "bad-digest", "bad-ip"}
)
