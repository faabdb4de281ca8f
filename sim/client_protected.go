package sim

import (
	"strings"

	"github.com/go-zookeeper/zk"
)

const (
	// protectedPrefix begins the names of protected znodes; the 32 digits of a GUID and a dash follow.
	protectedPrefix = "_c_"
	protectedTries  = 3
)

// CreateProtectedEphemeralSequential is [zk.Conn.CreateProtectedEphemeralSequential]: after a lost connection it looks
// for a znode with its GUID among the siblings. As in the library, it gives up after three tries that have not found
// it. An error of the listing is returned although the znode may exist.
func (k Conn) CreateProtectedEphemeralSequential(path string, data []byte, acl []zk.ACL) (string, error) {
	if !clientPath(path, true) {
		return "", k.refuse(zk.ErrInvalidPath)
	}
	cut := strings.LastIndexByte(path, '/')
	parent, own := path[:cut], protectedPrefix+Env(k).UUID()+"-"
	var err error
	for range protectedTries {
		var made string
		made, err = k.Create(parent+"/"+own+path[cut+1:], data, zk.FlagEphemeral|zk.FlagSequence, acl)
		switch err {
		case nil:
			return made, nil
		case zk.ErrSessionExpired: // it went with the session
		case zk.ErrConnectionClosed:
			siblings, _, err := k.Children(parent)
			if err != nil {
				return "", err
			}
			for _, name := range siblings {
				if strings.HasPrefix(name, protectedPrefix) && // it panics where less than a GUID follows
					name[len(protectedPrefix):len(own)-1] == own[len(protectedPrefix):len(own)-1] {
					return parent + "/" + name, nil
				}
			}
		default:
			return "", err
		}
	}
	return "", err
}
