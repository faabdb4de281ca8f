package model

import (
	"cmp"
	"crypto/sha1"
	"encoding/base64"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"
)

// ID is an identity of a connection: its address (scheme ip) or one that it has authenticated as.
type ID struct{ Scheme, ID string }

// bucket returns the identity's place in the Java set that holds a connection's identities. whoAmI and the auth
// scheme list them in the order of that set.
func (id ID) bucket(buckets uint32) uint32 {
	h := 37*(37*17+stringHash(id.Scheme)) + stringHash(id.ID)
	return spread(h) % buckets
}

// addID adds an identity to such a set, a ConcurrentHashMap. It doubles its buckets as soon as three quarters are
// full. In each bucket, the entries before the last run that stays together are then reversed
// (ConcurrentHashMap.transfer).
func addID(ids []ID, id ID) []ID {
	buckets := uint32(16)
	for len(ids) >= int(buckets/4*3) {
		buckets *= 2
	}
	ids = append(slices.Clone(ids), id)
	sortIDs(ids, buckets)
	if len(ids) < int(buckets/4*3) {
		return ids
	}
	for rest := ids; len(rest) > 0; {
		n, run := 1, 0
		for ; n < len(rest) && rest[n].bucket(buckets) == rest[0].bucket(buckets); n++ {
			if rest[n].bucket(2*buckets) != rest[run].bucket(2*buckets) {
				run = n
			}
		}
		slices.Reverse(rest[:run])
		rest = rest[n:]
	}
	sortIDs(ids, 2*buckets)
	return ids
}

func sortIDs(ids []ID, buckets uint32) {
	slices.SortStableFunc(ids, func(a, b ID) int { return cmp.Compare(a.bucket(buckets), b.bucket(buckets)) })
}

// DigestID returns the digest identity for user:password, which is user:HASH with the base64 of the SHA-1 of
// user:password (DigestAuthenticationProvider.generateDigest).
func DigestID(userPassword string) ID {
	user, _, _ := strings.Cut(userPassword, ":")
	sum := sha1.Sum([]byte(userPassword))
	return ID{"digest", user + ":" + base64.StdEncoding.EncodeToString(sum[:])}
}

// Authenticate adds the identity of an auth packet to ids, or returns AuthFailed, and then the server closes the
// connection. A digest always succeeds unless it is null, because there is no table of users.
func Authenticate(ids []ID, scheme string, auth []byte) ([]ID, Code) {
	switch scheme {
	case "ip": // the address is already known
		return ids, OK
	case "digest":
		if auth == nil { // DigestAuthenticationProvider throws
			return ids, AuthFailed
		}
		id := DigestID(string(auth))
		if !slices.Contains(ids, id) {
			ids = addID(ids, id)
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
	addr, _, known := parseIP(id.ID)
	net, bits, ok := parseIP(expr)
	return known && ok && (addr^net)>>(32-bits) == 0
}

// parseIP parses the id of an ip entry, address or address/bits. 3.8.0 knows only IPv4.
func parseIP(expr string) (addr uint32, bits int, ok bool) {
	host, size, found := strings.Cut(expr, "/")
	parts := strings.Split(host, ".")
	for _, p := range parts {
		v, err := strconv.Atoi(p)
		if err != nil || v < 0 || v > 255 {
			return 0, 0, false
		}
		addr = addr<<8 | uint32(v)
	}
	bits = 32
	if found {
		var err error
		if bits, err = strconv.Atoi(size); err != nil || bits < 0 || bits > 32 {
			return 0, 0, false
		}
	}
	return addr, bits, len(parts) == 4
}

// maxACL is how many entries a list may have because of its auth entries; it is more than fit into a packet. Each
// auth entry stands for all identities, and a real server runs out of memory somewhere above this number.
const maxACL = 100_000

// fixACL turns the list of a request into the list to store: it drops duplicates, and replaces an auth entry by the
// digest identities of the connection (PrepRequestProcessor.fixupACL).
func fixACL(list []zk.ACL, ids []ID) (*acl, Code) {
	if len(list) == 1 && list[0] == openACL.list[0] {
		return openACL, OK
	}
	if comparesNull(list) {
		return nil, MarshallingError
	}
	var fixed []zk.ACL
	seen := make(map[zk.ACL]bool, len(list)) // a packet has room for tens of thousands of entries
	for _, e := range list {
		twice := seen[e]
		seen[e] = true
		switch {
		case twice:
		case e.Scheme == "world" && e.ID == "anyone":
			fixed = append(fixed, e)
		case e.Scheme == "auth":
			found := false
			for _, id := range ids {
				if id.Scheme == "digest" {
					fixed = append(fixed, zk.ACL{Perms: e.Perms, Scheme: id.Scheme, ID: id.ID})
					found = true
				}
			}
			if !found || len(fixed) > maxACL {
				return nil, InvalidACL
			}
		case e.ID == Null && (e.Scheme == "world" || e.Scheme == "digest" || e.Scheme == "ip"):
			return nil, MarshallingError
		case e.Scheme == "digest" && strings.Count(strings.TrimRight(e.ID, ":"), ":") == 1:
			fixed = append(fixed, e)
		case e.Scheme == "ip":
			if _, _, ok := parseIP(e.ID); !ok {
				return nil, InvalidACL
			}
			fixed = append(fixed, e)
		default:
			return nil, InvalidACL
		}
	}
	if fixed == nil {
		return nil, InvalidACL
	}
	return &acl{list: fixed}, OK
}

// comparesNull reports whether the search for duplicates fails. It compares each entry with the earlier ones, first
// the permissions, then the scheme, then the id, and fails if a field that it has to compare is null (Id.equals).
func comparesNull(list []zk.ACL) bool {
	hasNull := func(e zk.ACL) bool { return e.Scheme == Null || e.ID == Null }
	if !slices.ContainsFunc(list, hasNull) {
		return false
	}
	seen := map[zk.ACL]bool{}
	for _, e := range list {
		perms, scheme := zk.ACL{Perms: e.Perms, Scheme: Null}, zk.ACL{Perms: e.Perms, Scheme: e.Scheme, ID: Null}
		if e.Scheme == Null && seen[perms] || e.Scheme != Null && e.ID == Null && seen[scheme] {
			return true
		}
		seen[perms], seen[scheme] = true, true
	}
	return false
}

// secret is what a reader does not see of a digest identity. As Java's dot matches no line terminator, it ends there.
var secret = regexp.MustCompile(":[^\n\r\u0085\u2028\u2029]*")

// masked returns the list without the digests, for a reader that may not administer the znode.
func (a *acl) masked() []zk.ACL {
	list := slices.Clone(a.list)
	for i, e := range list {
		if e.Scheme == "digest" {
			list[i].ID = secret.ReplaceAllString(e.ID, ":x")
		}
	}
	return list
}
