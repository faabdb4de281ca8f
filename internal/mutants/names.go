package mutants

import (
	"context"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// The flaws of name services.
const (
	// AssumeOwn takes a name that exists after a create whose answer was lost for its own.
	AssumeOwn Flaw = 160
	// DeleteAgain deletes a name by its version and tries again after a lost answer. A name that another client has
	// registered meanwhile has the same version.
	DeleteAgain Flaw = 161
	// PrefixOwner takes the mark of any owner whose name begins with its own for its own, and unregisters what another
	// has registered.
	PrefixOwner Flaw = 175
	// NoTicket registers again in a new session, while the first try may still be executed in the previous one.
	NoTicket Flaw = 220
)

// Owned is recipes.Names with the flaw PrefixOwner.
type Owned struct {
	*recipes.Names
	patient
	dir, owner string
}

// NewOwned returns the name service in dir, with the flaw PrefixOwner, for an owner.
func NewOwned(conn recipes.Conn, env recipes.Env, dir, owner string) *Owned {
	return &Owned{recipes.NewNames(conn, env, dir, recipes.NamesOptions{Owner: owner}), patient{conn, env}, dir, owner}
}

// Unregister removes a name that the owner, or one whose name begins with the owner's, has registered.
func (n *Owned) Unregister(ctx context.Context, name string) error {
	path := n.dir + "/" + name
	err := n.synced(ctx, path, func() error {
		marks, _, err := n.conn.Children(path)
		for _, m := range marks {
			if strings.HasPrefix(m, "_o_"+n.owner) {
				_, err := n.conn.Multi(&zk.DeleteRequest{Path: path + "/" + m, Version: -1},
					&zk.DeleteRequest{Path: path, Version: -1})
				return err
			}
		}
		if err == nil {
			err = recipes.ErrNotOwner
		}
		return err
	})
	if err == zk.ErrNoNode {
		return recipes.ErrNoName
	}
	return err
}

// Hasty is recipes.Names with the flaw NoTicket.
type Hasty struct {
	*recipes.Names
	patient
	dir, owner string
}

// NewHasty returns the name service in dir, which must exist, with the flaw NoTicket.
func NewHasty(conn recipes.Conn, env recipes.Env, dir string) *Hasty {
	owner := env.UUID()
	return &Hasty{recipes.NewNames(conn, env, dir, recipes.NamesOptions{Owner: owner}), patient{conn, env}, dir, owner}
}

// Register registers a name.
func (n *Hasty) Register(ctx context.Context, name string, data []byte) error {
	path := n.dir + "/" + name
	mark := path + "/_o_" + n.owner + "-" + n.env.UUID()
	for {
		_, err := n.conn.Multi(
			&zk.CreateRequest{Path: path, Data: data, Acl: everybody},
			&zk.CreateRequest{Path: mark, Acl: everybody})
		switch {
		case err == zk.ErrNodeExists:
			return recipes.ErrNameTaken
		case !interrupted(err):
			return err
		}
		executed := false
		err = n.synced(ctx, n.dir, func() (err error) {
			executed, _, err = n.conn.Exists(mark)
			return err
		})
		if executed || err != nil {
			return err
		}
	}
}

// Names is a name service with one flaw. Otherwise it follows the protocol of recipes.Names in the plainest way: the
// mark that proves a registration is beside the name.
type Names struct {
	patient
	dir   string
	flaw  Flaw
	marks map[string]string // name -> path of the mark
}

// NewNames returns the name service in dir, which must exist, with the given flaw.
func NewNames(conn recipes.Conn, env recipes.Env, dir string, flaw Flaw) *Names {
	return &Names{patient{conn, env}, dir, flaw, map[string]string{}}
}

// Register registers a name.
func (n *Names) Register(ctx context.Context, name string, data []byte) error {
	path, mark := n.dir+"/"+name, n.dir+"/_"+n.env.UUID()
	tries := 0
	err := n.until(ctx, func() error {
		tries++
		_, err := n.conn.Multi(
			&zk.CreateRequest{Path: path, Data: data, Acl: everybody},
			&zk.CreateRequest{Path: mark, Acl: everybody})
		return err
	})
	if err == zk.ErrNodeExists && !(n.flaw == AssumeOwn && tries > 1) {
		err = n.synced(ctx, n.dir, func() error {
			ok, _, err := n.conn.Exists(mark)
			if err == nil && !ok {
				err = recipes.ErrNameTaken
			}
			return err
		})
	} else if err == zk.ErrNodeExists {
		err = nil
	}
	if err == nil {
		n.marks[name] = mark
	}
	return err
}

// Unregister removes a name that the object has registered.
func (n *Names) Unregister(ctx context.Context, name string) error {
	path, mark := n.dir+"/"+name, n.marks[name]
	var err error
	if n.flaw == DeleteAgain {
		err = n.until(ctx, func() error { return n.conn.Delete(path, 0) })
	} else {
		err = n.until(ctx, func() error {
			_, err := n.conn.Multi(
				&zk.DeleteRequest{Path: mark, Version: -1},
				&zk.DeleteRequest{Path: path, Version: -1})
			return err
		})
	}
	if err == zk.ErrNoNode {
		return nil
	}
	return err
}

// Resolve returns the data of a name.
func (n *Names) Resolve(ctx context.Context, name string) (data []byte, err error) {
	err = n.synced(ctx, n.dir, func() (err error) {
		data, _, err = n.conn.Get(n.dir + "/" + name)
		return err
	})
	if err == zk.ErrNoNode {
		return nil, recipes.ErrNoName
	}
	return data, err
}
