package conform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes/live"
)

// patience bounds every wait for a real server.
const patience = 20 * time.Second

// ensemble is a real ensemble, with one connection to each of its servers for the work around the sequences.
type ensemble struct {
	servers []string
	admins  []*live.Client
}

func connect(ctx context.Context, servers []string) (*ensemble, error) {
	e := &ensemble{servers: servers}
	for _, addr := range servers {
		c, err := live.Dial(ctx, []string{addr}, live.Options{})
		if err == nil {
			e.admins = append(e.admins, c)
			err = c.AddAuth("digest", []byte(cleanerUser))
		}
		if err != nil {
			e.close()
			return nil, err
		}
	}
	return e, nil
}

func (e *ensemble) close() {
	for _, c := range e.admins {
		c.Close()
	}
}

// remove deletes a subtree and returns the first error.
func (e *ensemble) remove(path string) error {
	children, _, err := e.admins[0].Children(path)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	for _, name := range children {
		if err := e.remove(path + "/" + name); err != nil {
			return err
		}
	}
	if err = e.admins[0].Delete(path, -1); errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// liveSide is a real ensemble.
type liveSide struct {
	*observer
	*ensemble
	root    string
	clients map[int]*liveClient
}

// liveClient is a client with its network. Only the goroutine that executes the sequence uses its fields.
type liveClient struct {
	*live.Client
	wire          *wire
	ended, closed bool // its session was ended; Close was called
	down          bool // it has no connection
	identities    int  // number of identities that it has added
}

func newLiveSide(e *ensemble, root string) (*liveSide, error) {
	if _, err := e.admins[0].Create(root, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
		return nil, fmt.Errorf("preparing %s: %w", root, err)
	}
	return &liveSide{observer: newObserver(), ensemble: e, root: root, clients: map[int]*liveClient{}}, nil
}

// close ends all sessions, including those whose clients are gone, and removes the sequence's znodes.
func (s *liveSide) close() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var group sync.WaitGroup
	for _, c := range s.clients {
		group.Go(func() {
			if c.down && !c.ended {
				s.end(ctx, c, 0)
			}
			c.Client.Close()
		})
	}
	group.Wait()
	s.remove(s.root) // leftovers do not disturb anything
}

func (s *liveSide) do(ctx context.Context, step int, o *Op) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var out Outcome
	var w *watch
	var err error
	c := s.clients[o.Session]
	switch o.Kind {
	case Open:
		out.Session, err = s.open(ctx, o)
	case Reconnect:
		out.Session, err = s.reconnect(ctx, c, o)
	case Cut:
		c.down, err = true, c.wire.cut(ctx)
	case Expire:
		err = s.expire(ctx, c, o)
	case Close:
		c.Client.Close()
		c.closed = true
	default:
		out, w = call(c, o, s.root, s.owner)
		if o.Kind == AddAuth && out.Err == "" {
			c.identities++
		}
		err = s.settle(ctx, c, &out)
	}
	if err == nil && !o.isRead() {
		err = s.barrier(ctx)
	}
	if err != nil {
		return out, fmt.Errorf("%v: %w", *o, err)
	}
	if w != nil {
		w.step = step
		s.watches = append(s.watches, w)
	}
	s.take(&out)
	return out, nil
}

// settle waits for a connection to end if an answer announces that.
func (s *liveSide) settle(ctx context.Context, c *liveClient, out *Outcome) error {
	if c.closed || out.Err != zk.ErrConnectionClosed.Error() && out.Err != zk.ErrAuthFailed.Error() {
		return nil
	}
	c.down = true
	return c.wire.lost(ctx)
}

func (s *liveSide) open(ctx context.Context, o *Op) (string, error) {
	client, addr := o.Session, s.servers[o.Server]
	w := newWire(addr)
	// With a single address go-zookeeper believes it has tried all servers, and waits for 1 s before it tries again. An
	// expired session takes two attempts.
	c, err := live.Dial(ctx, []string{addr, addr, addr}, live.Options{
		Dial:      w.dial,
		OnWatch:   func(ev zk.Event) { s.heard(client, ev.Type, ev.Path) },
		OnSession: func(ev zk.Event) { s.entered(client, ev.State) },
	})
	if err != nil {
		return "", err
	}
	w.hold()
	s.clients[client] = &liveClient{Client: c, wire: w}
	if err := s.connected(ctx, client); err != nil {
		return "", err
	}
	return s.session(client, c.SessionID()), nil
}

// connected waits until the client has said, since the last take, that it has a session.
func (s *liveSide) connected(ctx context.Context, client int) error {
	return s.await(ctx, func() bool { return slices.Contains(s.states[client], zk.StateHasSession.String()) })
}

func (s *liveSide) reconnect(ctx context.Context, c *liveClient, o *Op) (string, error) {
	// A server that is behind what the client has seen would refuse the client.
	if _, err := s.admins[o.Server].Sync("/"); err != nil {
		return "", err
	}
	id := c.SessionID()
	c.wire.allow(s.servers[o.Server])
	if err := s.connected(ctx, o.Session); err != nil {
		return "", err
	}
	c.wire.hold()
	c.down, c.ended = false, false
	err := c.wire.resumed(ctx, c.identities, c.SessionID() == id && s.watching(o.Session))
	if err != nil {
		return "", err
	}
	return s.session(o.Session, c.SessionID()), nil
}

func (s *liveSide) expire(ctx context.Context, c *liveClient, o *Op) error {
	if !c.down {
		c.down = true
		if err := c.wire.cut(ctx); err != nil {
			return err
		}
	}
	return s.end(ctx, c, o.Server)
}

func (s *liveSide) end(ctx context.Context, c *liveClient, server int) error {
	c.ended = true
	id, secret := c.wire.identity()
	return endSession(ctx, s.servers[server], id, secret)
}

// barrier waits until all servers have applied what was committed and every client has received the consequences. It
// leaves no trace in the clients, because the zxids that they know decide what they are told after a reconnect.
func (s *liveSide) barrier(ctx context.Context) error {
	var syncs, pings []func() error
	for _, c := range s.admins {
		syncs = append(syncs, func() error {
			_, err := c.Sync("/")
			return err
		})
	}
	for _, c := range s.clients {
		if !c.down && !c.closed {
			pings = append(pings, func() error { return c.wire.ping(ctx) })
		}
	}
	if len(syncs) > 1 {
		if err := atOnce(syncs); err != nil {
			return err
		}
	}
	return atOnce(pings)
}

// atOnce calls all functions at the same time, and returns one of their errors.
func atOnce(list []func() error) error {
	errs := make([]error, len(list))
	var group sync.WaitGroup
	for i, f := range list {
		group.Go(func() { errs[i] = f() })
	}
	group.Wait()
	return cmp.Or(errs...)
}
