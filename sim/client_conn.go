package sim

import (
	"bytes"
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/jute"
)

// Conn is a client's connection. Its methods have the signatures and the behaviour of [zk.Conn] v1.0.4. Only the
// client's own code may call them. It implements recipes.Conn.
type Conn struct{ c *Client }

// Conn returns the client's connection.
func (c *Client) Conn() Conn { return Conn{c} }

// Env returns the client's environment.
func (c *Client) Env() Env { return Env{c} }

// LeaveWatches makes the library set no watches again on a new connection, as that of Kazoo: they end then.
func (k Conn) LeaveWatches() {
	k.c.Own()
	k.c.leaves = true
	k.c.invalidate()
}

// begin returns the calling coroutine's request, set up anew.
func (k Conn) begin(op model.Op, path string) *request {
	r := &k.c.here().req
	r.req = model.Request{Op: op, Path: path, Version: -1}
	r.watch = noWatch
	return r
}

// do runs the request to its end.
func (k Conn) do(r *request) error {
	k.c.submit(r)
	return r.result()
}

// stat returns the stat that the library returns along with err: nil if the connection was lost, else that of the
// answer, which is zero after an error.
func (r *request) stat(err error) *zk.Stat {
	if err == zk.ErrConnectionClosed {
		return nil
	}
	s := new(zk.Stat)
	if err == nil {
		*s = r.res.Stat
	}
	return s
}

// refuse returns an error of the library itself, after letting others move.
func (k Conn) refuse(err error) error {
	k.c.yield()
	return err
}

// Create is [zk.Conn.Create].
func (k Conn) Create(path string, data []byte, flags int32, acl []zk.ACL) (string, error) {
	if err := checkCreate(path, flags); err != nil {
		return "", k.refuse(err)
	}
	if isTTL(flags) {
		return "", k.refuse(fmt.Errorf("Create with TTL flag disallowed: %w", zk.ErrInvalidFlags))
	}
	return k.create(model.OpCreate, path, data, flags, acl, 0)
}

// CreateContainer is [zk.Conn.CreateContainer].
func (k Conn) CreateContainer(path string, data []byte, flags int32, acl []zk.ACL) (string, error) {
	if err := checkCreate(path, flags); err != nil {
		return "", k.refuse(err)
	}
	if flags != zk.FlagContainer {
		return "", k.refuse(fmt.Errorf("CreateContainer requires container flag: %w", zk.ErrInvalidFlags))
	}
	return k.create(model.OpCreateContainer, path, data, flags, acl, 0)
}

// CreateTTL is [zk.Conn.CreateTTL].
func (k Conn) CreateTTL(path string, data []byte, flags int32, acl []zk.ACL, ttl time.Duration) (string, error) {
	if err := checkCreate(path, flags); err != nil {
		return "", k.refuse(err)
	}
	if !isTTL(flags) {
		return "", k.refuse(fmt.Errorf("CreateTTL requires TTL flag: %w", zk.ErrInvalidFlags))
	}
	return k.create(model.OpCreateTTL, path, data, flags, acl, ttl.Milliseconds())
}

func isTTL(flags int32) bool {
	return flags == zk.FlagTTL || flags == zk.FlagPersistentSequentialWithTTL
}

func checkCreate(path string, flags int32) error {
	if flags < 0 || flags > 6 {
		return fmt.Errorf("invalid flag value: [%v]", flags)
	}
	if !clientPath(path, flags&zk.FlagSequence != 0) {
		return zk.ErrInvalidPath
	}
	return nil
}

func (k Conn) create(op model.Op, path string, data []byte, flags int32, acl []zk.ACL, ttl int64) (string, error) {
	r := k.begin(op, path)
	r.req.Data, r.req.Flags, r.req.ACL, r.req.TTL = bytes.Clone(data), flags, copyACL(acl, javaText), ttl
	if err := k.do(r); err != nil {
		return "", err
	}
	return r.res.Path, nil
}

// Delete is [zk.Conn.Delete].
func (k Conn) Delete(path string, version int32) error {
	if !clientPath(path, false) {
		return k.refuse(zk.ErrInvalidPath)
	}
	r := k.begin(model.OpDelete, path)
	r.req.Version = version
	return k.do(r)
}

// Set is [zk.Conn.Set].
func (k Conn) Set(path string, data []byte, version int32) (*zk.Stat, error) {
	if !clientPath(path, false) {
		return nil, k.refuse(zk.ErrInvalidPath)
	}
	r := k.begin(model.OpSetData, path)
	r.req.Data, r.req.Version = bytes.Clone(data), version
	err := k.do(r)
	return r.stat(err), err
}

// read is the common part of all reads of a znode.
func (k Conn) read(op model.Op, path string, w watchKind) (*request, error) {
	if !clientPath(path, false) {
		return nil, k.refuse(zk.ErrInvalidPath)
	}
	r := k.begin(op, path)
	r.req.Watch, r.watch = w != noWatch, w
	return r, k.do(r)
}

// Get is [zk.Conn.Get].
func (k Conn) Get(path string) ([]byte, *zk.Stat, error) {
	r, err := k.read(model.OpGetData, path, noWatch)
	if r == nil {
		return nil, nil, err
	}
	return r.data(err), r.stat(err), err
}

func (r *request) data(err error) []byte {
	if err != nil {
		return nil
	}
	return bytes.Clone(r.res.Data)
}

// GetW is [zk.Conn.GetW].
func (k Conn) GetW(path string) ([]byte, *zk.Stat, <-chan zk.Event, error) {
	r, err := k.read(model.OpGetData, path, dataWatch)
	if err != nil {
		return nil, nil, nil, err
	}
	return r.data(nil), r.stat(nil), r.ch, nil
}

// Exists is [zk.Conn.Exists].
func (k Conn) Exists(path string) (bool, *zk.Stat, error) {
	r, err := k.read(model.OpExists, path, noWatch)
	if r == nil || err == zk.ErrConnectionClosed {
		return false, nil, err
	}
	if err == zk.ErrNoNode {
		return false, r.stat(err), nil
	}
	// With any other error the library returns true: a quirk to beware of.
	return true, r.stat(err), err
}

// ExistsW is [zk.Conn.ExistsW].
func (k Conn) ExistsW(path string) (bool, *zk.Stat, <-chan zk.Event, error) {
	r, err := k.read(model.OpExists, path, existWatch)
	if err == zk.ErrNoNode {
		return false, r.stat(err), r.ch, nil
	}
	if err != nil {
		return false, nil, nil, err
	}
	return true, r.stat(nil), r.ch, nil
}

// Children is [zk.Conn.Children].
func (k Conn) Children(path string) ([]string, *zk.Stat, error) {
	r, err := k.read(model.OpGetChildren2, path, noWatch)
	if r == nil {
		return nil, nil, err
	}
	if err != nil {
		return nil, r.stat(err), err
	}
	return k.c.childNames(r), r.stat(nil), nil
}

// ChildrenW is [zk.Conn.ChildrenW].
func (k Conn) ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error) {
	r, err := k.read(model.OpGetChildren2, path, childWatch)
	if err != nil {
		return nil, nil, nil, err
	}
	return r.res.Children, r.stat(nil), r.ch, nil
}

// Sync is [zk.Conn.Sync].
func (k Conn) Sync(path string) (string, error) {
	r, err := k.read(model.OpSync, path, noWatch)
	if err != nil {
		return "", err
	}
	return wireText(r.res.Path), nil
}

// GetACL is [zk.Conn.GetACL].
func (k Conn) GetACL(path string) ([]zk.ACL, *zk.Stat, error) {
	r, err := k.read(model.OpGetACL, path, noWatch)
	if r == nil {
		return nil, nil, err
	}
	if err != nil {
		return nil, r.stat(err), err
	}
	return copyACL(r.res.ACL, wireText), r.stat(nil), nil
}

// SetACL is [zk.Conn.SetACL].
func (k Conn) SetACL(path string, acl []zk.ACL, version int32) (*zk.Stat, error) {
	if !clientPath(path, false) {
		return nil, k.refuse(zk.ErrInvalidPath)
	}
	r := k.begin(model.OpSetACL, path)
	r.req.ACL, r.req.Version = copyACL(acl, javaText), version
	err := k.do(r)
	return r.stat(err), err
}

// AddAuth is [zk.Conn.AddAuth]; the credentials are sent again after a reconnect.
func (k Conn) AddAuth(scheme string, auth []byte) error {
	r := k.begin(model.OpAuth, scheme)
	r.req.Data = bytes.Clone(jute.ValidText(auth))
	if err := k.do(r); err != nil {
		return err
	}
	k.c.auth = append(k.c.auth, credential{scheme, auth})
	return nil
}

// SessionID is [zk.Conn.SessionID]; 0 if there is no session.
func (k Conn) SessionID() int64 {
	k.c.look()
	k.c.here().learn(uint64(k.c.session))
	return k.c.session
}

// State is [zk.Conn.State].
func (k Conn) State() zk.State {
	k.c.look()
	k.c.here().learn(uint64(uint32(k.c.state)))
	return k.c.state
}

// Close is [zk.Conn.Close]. Without a connection it leaves the session to expire; go-zookeeper instead ends a handshake
// first, sends what waits, and closes the session, unless its dialer has ended that connection, as package live does.
// The calls of other goroutines end with zk.ErrConnectionClosed at once, although they may be executed before the
// session ends (conn.go, request).
func (k Conn) Close() {
	k.c.own()
	k.c.here().learn(bit(k.c.closed) | bit(k.c.connected)<<1 | bit(k.c.closing)<<2)
	switch {
	case k.c.closed:
		k.c.yield()
		return
	case k.c.closing: // by sync.Once, where a second caller waits for the first
		for !k.c.closed {
			Env(k).Await(context.Background(), Env(k).SessionEvents())
		}
		return
	}
	k.c.closing = true
	k.c.abandon()
	if k.c.connected && k.c.unaware == 0 {
		k.do(k.begin(model.OpCloseSession, ""))
	}
	k.c.end()
}

// look is yield for code that looks at the library's state.
func (c *Client) look() {
	if c.unaware > 0 {
		c.unaware--
		return
	}
	c.yield()
}

// clientPath is the library's own check of a path, made before anything is sent. It accepts some characters that the
// server refuses.
func clientPath(path string, sequential bool) bool {
	if path == "" || path[0] != '/' {
		return false
	}
	start := 1 // of a component
	for i := 1; i < len(path); {
		b := path[i]
		switch {
		case b == '/':
			if part := path[start:i]; !component(part) && (part != "." || start > 1) { // it accepts "/./x"
				return false
			}
			start = i + 1
			i++
		case b >= 0x20 && b < 0x7f:
			i++
		default:
			r, n := utf8.DecodeRuneInString(path[i:])
			if r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xf000 && r <= 0xf8ff || r >= 0xfff0 && r < 0xffff {
				return false
			}
			i += n
		}
	}
	last := path[start:]
	return component(last) || last == "" && (sequential || path == "/")
}

// component reports whether a path may have this part between slashes.
func component(s string) bool { return s != "" && s != "." && s != ".." }
