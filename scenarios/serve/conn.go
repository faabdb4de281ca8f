package serve

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"zksim/model"
	"zksim/model/jute"
)

// conn is a connection of a client: a goroutine that reads, and memory for what is to be written. One that has nothing
// to say costs no more than that.
type conn struct {
	e       *Ensemble
	server  int // index
	sock    net.Conn
	since   time.Time
	frames  jute.Frames
	session *session // under the lock of the ensemble, as the rest of these; nil before the handshake and after the end
	dirty   bool     // in Ensemble.dirty
	old     bool     // the client knows no read-only servers
	stats   stats
	tags    uint64 // requests so far

	mu      sync.Mutex
	drained sync.Cond // what is below has changed
	out     []byte    // to be written
	spare   []byte    // memory for it
	open    int       // requests without an answer
	writing int       // bytes of a write in progress
	flushes bool      // somebody does
	ended   ending
}

// ending is how a connection ends once what it has to say is written.
type ending uint8

const (
	goesOn ending = iota
	byFIN         // in order
	byRST         // what the client has not read is gone
	torn          // in the middle of a packet
)

const (
	// A client that does not read is not listened to.
	maxWaiting = 1 << 20
	// ... and loses its connection when this much has been said to it, or all together wait for that much.
	maxOutput      = 32 << 20
	maxTotalOutput = 256 << 20
	// Requests of one client without an answer, behind which it has to wait.
	maxOpen = 1000

	// Memory that a connection keeps for its next answers.
	usualOut = 64 << 10

	readLen          = 4096
	handshakeTimeout = 10 * time.Second
	lastWordTimeout  = 2 * time.Second
)

var errEnded = errors.New("serve: the connection has ended")

func newConn(e *Ensemble, server int, sock net.Conn) *conn {
	c := &conn{e: e, server: server, sock: sock, since: time.Now(), frames: jute.Frames{Max: e.options.MaxPacket}}
	c.drained.L = &c.mu
	return c
}

// buffers are for reading. A connection on which nothing comes in for a while holds one all the same.
var buffers = sync.Pool{New: func() any { b := make([]byte, readLen); return &b }}

// run reads until the connection ends, by the client or by the ensemble.
func (c *conn) run() {
	defer c.e.running.Done()
	c.sock.SetReadDeadline(time.Now().Add(handshakeTimeout))
	if c.hello() == nil {
		c.sock.SetReadDeadline(time.Time{})
		buffer := buffers.Get().(*[]byte)
		for {
			n, err := c.sock.Read(*buffer)
			if err == nil {
				err = c.frames.Feed((*buffer)[:n], c.packet)
			}
			if err != nil {
				break
			}
		}
		buffers.Put(buffer)
	}
	c.gone()
}

// hello reads a four-letter word, and answers it, or the handshake.
func (c *conn) hello() error {
	head := make([]byte, 4)
	if _, err := io.ReadFull(c.sock, head); err != nil {
		return err
	}
	if answer, known := words[string(head)]; known {
		c.word(answer)
		return errEnded
	}
	greeted := false
	greet := func(packet []byte) error {
		if greeted {
			return c.packet(packet)
		}
		greeted = true
		return c.handshake(packet)
	}
	if err := c.frames.Feed(head, greet); err != nil {
		return err
	}
	// No more than the handshake is expected now, so that little is read for those that send something else.
	for b := make([]byte, 64); !greeted; {
		n, err := c.sock.Read(b)
		if err != nil {
			return err
		}
		if err := c.frames.Feed(b[:n], greet); err != nil {
			return err
		}
	}
	return nil
}

// packet executes a request.
func (c *conn) packet(packet []byte) error {
	if err := c.mayGoOn(); err != nil {
		return err
	}
	xid, q, err := jute.ParseRequest(packet)
	if errors.Is(err, jute.ErrHeader) {
		return err
	}
	q = admitted(q, err)
	return c.e.do(c, func() error {
		c.e.awaitServer(c.server)
		s := c.session
		if s == nil {
			return errEnded
		}
		c.received(&q)
		s.touch()
		s.requests++
		c.e.activity++
		c.e.last = time.Now()
		c.mu.Lock()
		c.open++
		c.mu.Unlock()
		tag := newTag(xid, q.Op)
		q.Op = plain(q.Op)
		c.e.record.asked(s, &q)
		s.client.Send(uint64(tag), q)
		return nil
	})
}

// mayGoOn waits until the client has read, and been told, enough to ask for more.
func (c *conn) mayGoOn() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.ended == goesOn && (len(c.out) > maxWaiting || c.open >= maxOpen) {
		c.drained.Wait()
	}
	if c.ended != goesOn {
		return errEnded
	}
	return nil
}

// awaitServer waits, with the ensemble unlocked, as long as the server is stopped.
func (e *Ensemble) awaitServer(k int) {
	for e.nodes[k].stopped && !e.closed {
		e.nodes[k].goes.Wait()
	}
}

// tag is what the world keeps with a request: its xid and its operation.
type tag uint64

func newTag(xid int32, op model.Op) tag { return tag(uint32(op))<<32 | tag(uint32(xid)) }
func (t tag) xid() int32                { return int32(uint32(t)) }
func (t tag) op() model.Op              { return model.Op(int32(t >> 32)) }

// plain returns the operation that the world gets for one that differs from it in nothing but what its answer tells. So
// plans and histories have one word for both.
func plain(op model.Op) model.Op {
	switch op {
	case model.OpCreate2:
		return model.OpCreate
	case model.OpGetChildren:
		return model.OpGetChildren2
	}
	return op
}

// reply has the answer to a request written. It is called by the world.
func (c *conn) reply(t tag, res *model.Response) {
	c.mu.Lock()
	c.open--
	if c.open == maxOpen-1 {
		c.drained.Broadcast()
	}
	if !res.Silent {
		xid := t.xid()
		if t.op() == model.OpPing {
			xid = jute.XidPing
		}
		at := len(c.out)
		c.out = jute.EndFrame(jute.AppendReply(jute.StartFrame(c.out), xid, t.op(), res), at)
		c.sent()
	}
	c.mu.Unlock()
	c.mark()
}

// event has a watch event written. It is called by the world.
func (c *conn) event(ev model.Event) {
	c.mu.Lock()
	at := len(c.out)
	c.out = jute.EndFrame(jute.AppendEvent(jute.StartFrame(c.out), ev, jute.NoZxid), at)
	c.sent()
	c.mu.Unlock()
	c.mark()
}

// end has the connection end when all of that is written.
func (c *conn) end(how ending) {
	c.mu.Lock()
	if c.ended == goesOn {
		c.ended = how
		if how == torn { // of an answer that would have come
			c.out = append(c.out, 0, 0, 0, 16, 0, 0)
		}
		c.sock.SetWriteDeadline(time.Now().Add(lastWordTimeout))
		c.drained.Broadcast()
	}
	c.mu.Unlock()
	c.mark()
}

// mark has the connection flushed when the step is over.
func (c *conn) mark() {
	if !c.dirty {
		c.dirty = true
		c.e.dirty = append(c.e.dirty, c)
	}
}

// flush writes what there is to write, unless that is being done already, and then ends what is to end.
func (c *conn) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flushes {
		return
	}
	c.flushes = true
	for len(c.out) > 0 {
		b := c.out
		c.out, c.spare, c.writing = c.spare[:0], nil, len(b)
		c.mu.Unlock()
		_, err := c.sock.Write(b)
		c.mu.Lock()
		c.writing = 0
		if cap(b) <= usualOut {
			c.spare = b[:0]
		}
		c.drained.Broadcast()
		if err != nil {
			c.out = nil
			c.ended = max(c.ended, byFIN)
		}
	}
	c.flushes = false
	if c.ended != goesOn {
		c.close()
	}
}

// close ends the connection as it is to end.
func (c *conn) close() {
	if tcp, ok := c.sock.(*net.TCPConn); ok && c.ended == byRST {
		tcp.SetLinger(0)
	}
	c.sock.Close()
}

// abort ends the connection at once.
func (c *conn) abort() {
	c.mu.Lock()
	c.ended, c.out = byRST, nil
	c.drained.Broadcast()
	c.close()
	c.mu.Unlock()
}

// gone says that the connection has ended.
func (c *conn) gone() {
	c.mu.Lock()
	c.ended = max(c.ended, byFIN)
	if len(c.out) == 0 && !c.flushes {
		c.close()
	} else {
		c.sock.SetWriteDeadline(time.Now().Add(lastWordTimeout))
	}
	c.mu.Unlock()
	c.e.do(c, func() error {
		if s := c.session; s != nil {
			s.client.Cut()
		}
		delete(c.e.conns, c)
		c.mark()
		return nil
	})
}

// limitOutput ends the connections of clients that do not read, when too much waits for them.
func (e *Ensemble) limitOutput() {
	much := false
	for _, c := range e.dirty {
		n := c.waiting()
		much = much || n > maxWaiting
		if n > maxOutput {
			c.abort()
		}
	}
	if !much {
		return
	}
	var largest *conn
	most, total := 0, 0
	for c := range e.conns {
		n := c.waiting()
		if total += n; n > most {
			largest, most = c, n
		}
	}
	if total > maxTotalOutput {
		largest.abort()
	}
}

// waiting returns how many bytes wait to be written.
func (c *conn) waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.out) + c.writing
}

// remote is the address of the client as an identity.
func (c *conn) remote() []model.ID {
	addr, err := netip.ParseAddrPort(c.sock.RemoteAddr().String())
	if err != nil {
		return nil
	}
	return []model.ID{{Scheme: "ip", ID: addr.Addr().Unmap().String()}}
}
