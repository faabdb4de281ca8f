package conform

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/model"
)

// sketch is what a generator knows about the state: enough to make operations that mostly succeed, or fail for a chosen
// reason. It learns from outcomes and may be wrong.
type sketch struct {
	stage
	znodes map[string]*znode // by path; the root of the sequence is "/"
	users  map[int][]string  // identities of the clients: user:password
	wanted map[string]bool   // paths at which a client waits for a znode
}

// znode is one znode of a sketch.
type znode struct {
	version, aversion int32
	children          int
	creates           int // children ever created
	owner             int // client whose session owns it; 0: persistent
	acl               string
	author            []string // identities of the client that set acl
}

func newSketch() sketch {
	return sketch{znodes: map[string]*znode{"/": {}}, users: map[int][]string{}, wanted: map[string]bool{}}
}

func join(parent, name string) string {
	if parent == "/" {
		return "/" + name
	}
	return parent + "/" + name
}

// paths returns the paths of the znodes that fit, in order.
func (s *sketch) paths(fits func(path string, z *znode) bool) []string {
	var list []string
	for _, path := range slices.Sorted(maps.Keys(s.znodes)) {
		if fits(path, s.znodes[path]) {
			list = append(list, path)
		}
	}
	return list
}

// grants reports whether the client has one of the rights to the znode.
func (s *sketch) grants(z *znode, client int, perms int32) bool {
	for _, e := range acls[z.acl] {
		if e.Perms&perms == 0 {
			continue
		}
		switch e.Scheme {
		case "world":
			return true
		case "ip":
			if strings.HasPrefix(e.ID, "127.") {
				return true
			}
		case "auth":
			if slices.ContainsFunc(z.author, func(u string) bool { return slices.Contains(s.users[client], u) }) {
				return true
			}
		case "digest":
			if slices.ContainsFunc(s.users[client], func(u string) bool { return user(u) == e.ID }) {
				return true
			}
		}
	}
	return false
}

// learn records what an operation has done.
func (s *sketch) learn(o *Op, out *Outcome) {
	s.executed(o, out)
	if out.armed == existWatch {
		s.wanted[o.Path] = true
	}
	switch o.Kind {
	case Close:
		if s.clients[o.Session] == gone {
			s.forget(o.Session)
		}
	case Expire:
		s.forget(o.Session)
	case AddAuth:
		if out.Err == "" && o.Scheme == "digest" && s.clients[o.Session] == connected {
			s.users[o.Session] = append(s.users[o.Session], o.Auth)
		}
	case Multi:
		for i := range o.Ops {
			// A container among the parts makes the library lose the results.
			if i < len(out.Results) && out.Err == "" {
				s.changed(&o.Ops[i], o.Session, &out.Results[i], out.Results[i].Path)
			}
		}
	default:
		if out.Err == "" {
			s.changed(o, o.Session, &out.Result, out.Path)
		}
	}
}

// forget removes the ephemerals of a client.
func (s *sketch) forget(client int) {
	for _, path := range s.paths(func(_ string, z *znode) bool { return z.owner == client }) {
		s.remove(path)
	}
}

func (s *sketch) remove(path string) {
	if z := s.znodes[path]; z == nil || path == "/" {
		return
	}
	delete(s.znodes, path)
	if p := s.znodes[model.Folder(path)]; p != nil {
		p.children--
	}
}

// changed records a successful operation.
func (s *sketch) changed(o *Op, client int, r *Result, created string) {
	switch o.Kind {
	case Create, CreateContainer, CreateTTL:
		path := s.within(created)
		z := &znode{acl: o.ACL, author: s.users[client]}
		if o.Kind == Create && (o.Flags == zk.FlagEphemeral || o.Flags == zk.FlagEphemeralSequential) {
			z.owner = client
		}
		s.znodes[path] = z
		delete(s.wanted, path)
		if p := s.znodes[model.Folder(path)]; p != nil {
			p.children++
			p.creates++
		}
	case Delete:
		s.remove(o.Path)
	case Set:
		if z := s.znodes[o.Path]; z != nil && r.Stat != nil {
			z.version = r.Stat.Version
		}
	case SetACL:
		if z := s.znodes[o.Path]; z != nil && r.Stat != nil {
			z.aversion, z.acl, z.author = r.Stat.Aversion, o.ACL, s.users[client]
		}
	}
}

// within returns a path without the root of the sequence, which is one component.
func (s *sketch) within(path string) string {
	if i := strings.IndexByte(path[1:], '/'); i >= 0 {
		return path[1+i:]
	}
	return "/"
}

// upcoming returns the name of the next sequential znode under z, as far as is known.
func (z *znode) upcoming(prefix string) string { return fmt.Sprintf("%s%010d", prefix, z.creates) }

// afterNext returns a name that makes a later sequential create under z fail: making it by hand uses up one number.
func (z *znode) afterNext(prefix string) string { return fmt.Sprintf("%s%010d", prefix, z.creates+1) }
