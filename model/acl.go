package model

import (
	"crypto/sha1"
	"encoding/base64"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"
)

// ID is an identity of a connection: its address (scheme ip) and what it has
// authenticated as.
type ID struct{ Scheme, ID string }

// DigestID returns the identity that user:password stands for in the digest
// scheme: the password is hashed, the user is not.
func DigestID(userPassword string) ID {
	user, _, _ := strings.Cut(userPassword, ":")
	sum := sha1.Sum([]byte(userPassword))
	return ID{"digest", user + ":" + base64.StdEncoding.EncodeToString(sum[:])}
}

// Authenticate adds the identity of an auth packet to ids, or returns
// AuthFailed, upon which the server closes the connection. A digest always
// succeeds: there is no table of users.
func Authenticate(ids []ID, scheme string, auth []byte) ([]ID, Code) {
	switch scheme {
	case "ip": // the address is known already
		return ids, OK
	case "digest":
		id := DigestID(string(auth))
		if !slices.Contains(ids, id) {
			ids = append(slices.Clone(ids), id)
		}
		return ids, OK
	}
	return ids, AuthFailed
}

// acl is a shared, immutable access control list.
type acl struct {
	list []zk.ACL
	open bool // grants everything to everybody
}

var openACL = &acl{list: zk.WorldACL(zk.PermAll), open: true}

// allows reports whether one of ids has one of perms. An empty list allows all.
func (a *acl) allows(perms int32, ids []ID) bool {
	if a.open || len(a.list) == 0 {
		return true
	}
	for _, e := range a.list {
		if e.Perms&perms == 0 {
			continue
		}
		if e.Scheme == "world" && e.ID == "anyone" {
			return true
		}
		for _, id := range ids {
			if id.Scheme == e.Scheme && matches(id, e.ID) {
				return true
			}
		}
	}
	return false
}

func matches(id ID, expr string) bool {
	if id.Scheme != "ip" {
		return id.ID == expr
	}
	addr, err := netip.ParseAddr(id.ID)
	prefix, ok := parseIP(expr)
	return err == nil && ok && prefix.Contains(addr)
}

// parseIP reads the id of an ip entry, address or address/bits.
func parseIP(expr string) (netip.Prefix, bool) {
	host, bits, found := strings.Cut(expr, "/")
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Prefix{}, false
	}
	n := addr.BitLen()
	if found {
		if n, err = strconv.Atoi(bits); err != nil || n < 0 || n > addr.BitLen() {
			return netip.Prefix{}, false
		}
	}
	return netip.PrefixFrom(addr, n), true
}

// fixACL turns the list of a request into the one to store: duplicates go, and
// an auth entry becomes the digest identities of the connection
// (PrepRequestProcessor.fixupACL). It returns nil for an invalid list.
func fixACL(list []zk.ACL, ids []ID) *acl {
	if len(list) == 1 && list[0] == openACL.list[0] {
		return openACL
	}
	var fixed []zk.ACL
	add := func(e zk.ACL) {
		if !slices.Contains(fixed, e) {
			fixed = append(fixed, e)
		}
	}
	for _, e := range list {
		switch {
		case e.Scheme == "world" && e.ID == "anyone":
			add(e)
		case e.Scheme == "auth":
			found := false
			for _, id := range ids {
				if id.Scheme == "digest" {
					add(zk.ACL{Perms: e.Perms, Scheme: id.Scheme, ID: id.ID})
					found = true
				}
			}
			if !found {
				return nil
			}
		case e.Scheme == "digest" && strings.Count(e.ID, ":") == 1:
			add(e)
		case e.Scheme == "ip":
			if _, ok := parseIP(e.ID); !ok {
				return nil
			}
			add(e)
		default:
			return nil
		}
	}
	if fixed == nil {
		return nil
	}
	return &acl{list: fixed}
}

// masked hides the digests from a reader that may not administer the znode.
func (a *acl) masked() []zk.ACL {
	list := slices.Clone(a.list)
	for i, e := range list {
		if user, _, ok := strings.Cut(e.ID, ":"); ok && e.Scheme == "digest" {
			list[i].ID = user + ":x"
		}
	}
	return list
}
