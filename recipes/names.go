package recipes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

// Errors of the name service.
var (
	// ErrNameTaken is returned by Register when the name is registered, even by the same owner, and by [Group.Join] when
	// there is a member of that name.
	ErrNameTaken = errors.New("recipes: name is taken")
	// ErrNoName is returned when the name is not registered.
	ErrNoName = errors.New("recipes: no such name")
	// ErrNotOwner is returned by Unregister when the name belongs to another owner.
	ErrNotOwner = errors.New("recipes: name was registered by another")
)

// NamesOptions are the options of a name service. The zero value is fine.
type NamesOptions struct {
	ACL []zk.ACL // of the znodes made; nil: everything for everybody
	// Owner is who registers: a word without a slash that is different for each client and the same after a restart.
	// Empty: each object has a word of its own, so that only the object can unregister what it has registered.
	Owner string
}

// Names is a name service: the recipe "Name Service" of the ZooKeeper
// documentation. It maps names to data; a name stays registered, whatever
// becomes of the client, until its owner unregisters it.
//
// # Protocol
//
// To register, create dir/_c_GUID-ticket, ephemeral. Then delete that and create dir/NAME with the data and, empty,
// dir/NAME/_o_OWNER-GUID, in one multi. If dir/NAME exists, the name is taken. If the answer is lost, fence and look
// for the mark below dir/NAME: the multi may have succeeded. If it has not, try it again. If that fails because the
// ticket is gone, the first try was executed meanwhile or the ticket's session has ended: look again. If it fails
// because the name is now taken, delete the ticket, so that the first try cannot be executed once the name is free
// again, and look once more.
//
// To unregister, list dir/NAME, find the mark with its own OWNER, and delete both in one multi, the mark first. If
// the answer is lost, try again: the mark's name never comes again, so a late or repeated delete cannot hit a later
// registration. If the mark is gone at the first try, begin again.
//
// To register with a number from the server, make the ticket sequential, and
// register PREFIX with the number that the server has appended.
//
// # What the text leaves out
//
// The page says that ZooKeeper provides this directly: create is "register". If the answer to a create is lost and
// the retry fails because the name exists, the page does not say whose it is (mutant assume-own). Nor does it say how
// to delete only one's own name: a delete can name a version, but what another client has registered meanwhile has
// the same version, 0 (mutant delete-again), and reading its czxid first is no condition. After a lost answer a
// sequential znode could only be recognized by a GUID in its name, which would be part of the registered name. Nor
// does the page say that a request whose answer was lost may be executed late: when the client has a new session and
// the old one still lives, the name may have been registered by a second try and unregistered again. The ticket
// prevents that.
//
// # Fan-out
//
// None, nobody watches.
//
// A Names may be used by several goroutines at once.
type Names struct {
	session
	dir string
	opt NamesOptions
}

const ownerPrefix = "_o_"

// NewNames returns the name service in the znode dir, which must not be "/" and
// should be used for nothing else. Register creates it when it is missing.
func NewNames(conn Conn, env Env, dir string, opt NamesOptions) *Names {
	opt.ACL = open(opt.ACL)
	if opt.Owner == "" {
		opt.Owner = env.UUID()
	}
	return &Names{session{conn, env}, dir, opt}
}

// Register registers a name, or returns ErrNameTaken if it is registered already. The name must be one that a znode
// can have and must not begin with "_c_"; else the error is zk.ErrInvalidPath. When ctx is done before the outcome is
// known, what may have been registered is removed in the background; until then the name may be taken. If the
// connection is closed meanwhile, the name may stay registered.
func (n *Names) Register(ctx context.Context, name string, data []byte) error {
	if !n.valid(name) {
		return zk.ErrInvalidPath
	}
	return n.register(ctx, &name, data, func(ctx context.Context) (string, error) {
		return n.ticket(ctx, n.dir, n.opt.ACL)
	})
}

// register registers a name, which may be another one with each ticket.
func (n *Names) register(
	ctx context.Context, name *string, data []byte, take func(ctx context.Context) (ticket string, err error),
) (err error) {
	guid := n.env.UUID()
	defer Forget(n.env)(&guid, name, &err)
	path := func() string { return n.dir + "/" + *name }
	mark := func() string { return path() + "/" + ownerPrefix + n.opt.Owner + "-" + guid }
	err = n.ticketed(ctx, take, creation{what: "name", kept: []any{name},
		done: func(ctx context.Context) (bool, error) { return n.exists(ctx, mark()) },
		undo: func(ctx context.Context) { n.removeMarked(ctx, path(), mark()) },
	}, func(ticket *zk.DeleteRequest) ([]zk.MultiResponse, error) {
		return n.on(ctx).Multi(ticket,
			&zk.CreateRequest{Path: path(), Data: data, Acl: n.opt.ACL},
			&zk.CreateRequest{Path: mark(), Acl: n.opt.ACL})
	})
	if err == zk.ErrNodeExists {
		return ErrNameTaken
	}
	return err
}

func (n *Names) valid(name string) bool { return mayRegister(name) && isName(n.opt.Owner) }

// mayRegister reports whether an owner can register that name.
func mayRegister(name string) bool { return isName(name) && !strings.HasPrefix(name, ticketPrefix) }

// isName reports whether a znode can have that name.
func isName(s string) bool {
	return s != "" && s != "." && s != ".." && !strings.ContainsFunc(s, func(r rune) bool {
		return r == '/' || r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0
	})
}

// RegisterNext registers prefix followed by a number of at least ten digits, and returns the name. The server gives
// each number once, and higher ones later. Its errors are those of Register; ErrNameTaken says that the numbers are
// used up, after two billion. They begin again if dir is deleted and created again.
func (n *Names) RegisterNext(ctx context.Context, prefix string, data []byte) (name string, err error) {
	if !n.valid(prefix + "0") {
		return "", zk.ErrInvalidPath
	}
	defer Forget(n.env)(&name, &err)
	tickets := newPlace(n.session, n.dir, "name", LockOptions{ACL: n.opt.ACL}, nil)
	for {
		var number int64
		var next string // not the name of the try before, which may still have to be removed
		err := n.register(ctx, &next, data, func(ctx context.Context) (ticket string, err error) {
			if err := tickets.enqueue(ctx); err != nil {
				return "", err
			}
			ticket = tickets.nodes[0]
			if _, number = contender(ticket); repeats(number) { // others get it too
				n.abandon(ctx, "ticket", n.dir+"/"+ticket)
				return "", ErrNameTaken
			}
			next = fmt.Sprintf("%s%010d", prefix, number)
			return n.dir + "/" + ticket, nil
		})
		if err == nil {
			return next, nil
		}
		if err != ErrNameTaken || repeats(number) { // else somebody has chosen that name
			return "", err
		}
	}
}

// Resolve returns the data of a name, or ErrNoName. It knows of every registration and unregistration before the
// call. For a name that Register refuses the error is zk.ErrInvalidPath.
func (n *Names) Resolve(ctx context.Context, name string) (data []byte, err error) {
	if !n.valid(name) {
		return nil, zk.ErrInvalidPath
	}
	defer Forget(n.env)(&data, &err)
	path := n.dir + "/" + name
	err = n.fresh(ctx, func() (err error) {
		data, _, err = n.on(ctx).Get(path)
		return err
	}, &data)
	if err == zk.ErrNoNode {
		return nil, ErrNoName
	}
	return data, err
}

// List returns the names in order, as up to date as Resolve.
func (n *Names) List(ctx context.Context) (names []string, err error) {
	defer Forget(n.env)(&names, &err)
	err = n.fresh(ctx, func() (err error) {
		names, _, err = n.on(ctx).Children(n.dir)
		return err
	}, &names)
	if err == zk.ErrNoNode {
		return nil, nil
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !mayRegister(name) })
	slices.Sort(names)
	return names, err
}

// Unregister removes a name that the owner has registered. It returns ErrNoName or ErrNotOwner when there is nothing
// to remove, but nil if the answer was lost and the same owner has removed the name elsewhere before the retry. For a
// name that Register refuses the error is zk.ErrInvalidPath. When ctx is done first, the name may still be registered;
// Unregister may be called again.
func (n *Names) Unregister(ctx context.Context, name string) (err error) {
	defer Forget(n.env)(&err)
	if !n.valid(name) {
		return zk.ErrInvalidPath
	}
	path := n.dir + "/" + name
	var mark string
	err = n.fresh(ctx, func() error {
		marks, _, err := n.on(ctx).Children(path)
		mark = ""
		for _, m := range marks {
			if i := strings.LastIndexByte(m, '-'); i >= 0 && m[:i] == ownerPrefix+n.opt.Owner {
				mark = path + "/" + m
			}
		}
		return err
	}, &mark)
	switch {
	case err == zk.ErrNoNode:
		return ErrNoName
	case err != nil:
		return err
	case mark == "":
		return ErrNotOwner
	}
	err = n.removeMarked(ctx, path, mark)
	if err == zk.ErrNoNode { // the same owner was first
		return n.Unregister(ctx, name)
	}
	return err
}

// removeMarked deletes the znodes of one registration. It returns zk.ErrNoNode if others were first, but nil if an
// earlier try of its own may have deleted them.
func (n *Names) removeMarked(ctx context.Context, path, mark string) (err error) {
	lost := false
	defer Forget(n.env)(&err)
	err = n.retry(ctx, func() error {
		_, err := n.on(ctx).Multi(
			&zk.DeleteRequest{Path: mark, Version: -1},
			&zk.DeleteRequest{Path: path, Version: -1})
		lost = lost || unanswered(err)
		return err
	}, &lost)
	if err == zk.ErrNoNode && lost {
		return nil
	}
	return err
}
