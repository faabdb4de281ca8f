package model

import (
	"fmt"
	"strings"
)

// Like says which server's semantics a replica has.
type Like uint8

// The servers. Three things have changed in ZooKeeper that a client of go-zookeeper can see; see docs/releases.md:
//
//   - A watch says nothing to a client that must not read the znode (CVE-2024-23944, from 3.8.4 and 3.9.2 on). Debian
//     has this in its 3.8.0, which [ZooKeeper] is.
//   - exists needs the right to read (ZOOKEEPER-2590, also from 3.8.4 and 3.9.2 on).
//   - A multi is refused as a whole, before any of it is done, if a create in it has flags that mean nothing.
//
// ClickHouse Keeper speaks ZooKeeper's protocol. This package has these of its differences; docs/keeper.md has the
// source of each:
//
//   - A change of a child's data counts in the Cversion of its parent.
//   - The deletion of a child does not change the Pzxid of its parent, so a client that reconnects does not hear of
//     it.
//   - A client that reconnects hears of a child that was created meanwhile by an event that says that data changed.
const (
	ZooKeeper   Like = iota // 3.8.0 of Debian
	Keeper                  // ClickHouse Keeper
	ZooKeeper39             // 3.8.4, 3.9.2 and later
	ZooKeeper36             // 3.6.4 and other releases without the mend of CVE-2024-23944
)

var likes = [...]string{ZooKeeper: "zookeeper", Keeper: "keeper", ZooKeeper39: "zookeeper-3.9",
	ZooKeeper36: "zookeeper-3.6"}

// Likes returns the names of the servers.
func Likes() []string { return likes[:] }

// String returns the name of the server.
func (l Like) String() string { return likes[l] }

// Clause returns ", like keeper" and so on, to end a sentence about runs; "" for [ZooKeeper].
func (l Like) Clause() string {
	if l == ZooKeeper {
		return ""
	}
	return ", like " + l.String()
}

// ParseLike returns the server of that name.
func ParseLike(name string) (Like, error) {
	for i, x := range likes {
		if x == name {
			return Like(i), nil
		}
	}
	return 0, fmt.Errorf("the server is %s or %s, not %.60q",
		strings.Join(likes[:len(likes)-1], ", "), likes[len(likes)-1], name)
}
