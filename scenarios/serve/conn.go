package serve

import (
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"time"

	"zksim/model"
	"zksim/model/jute"
	"zksim/sim"
)

// conn is a connection of a client, with memory for what is to be written. A goroutine reads while the client sends
// something now and then. A connection that stays silent is parked, and costs no more than this struct.
type conn struct {
	e       *Ensemble
	sock    net.Conn
	since   int64 // nanoseconds since 1970
	frames  jute.Frames
	kept    int      // bytes of an incomplete packet
	burst   int      // packets so far
	session *session // under the lock of the ensemble, like all below; nil before the handshake and after the end
	stats   stats
	server  int  // index
	dirty   bool // in Ensemble.dirty
	old     bool // the client does not know read-only servers
	told    bool // it has sent a four-letter word and got its answer

	mu       sync.Mutex
	drained  chan struct{} // closed when something below has changed; nil: nobody waits for that
	out      []byte        // to be written
	spare    []byte        // memory for the next out
	counted  int           // bytes of this connection in Ensemble.output
	parkedAt int64         // nanoseconds since 1970
	open     int32         // requests without an answer
	writing  int32         // bytes of a write in progress
	fd       int32         // of a connection that was ever parked; 0: none
	flushes  bool          // a goroutine is flushing
	parked   bool          // no goroutine reads
	ended    ending
}

// ending is how a connection ends once its output is written.
type ending uint8

const (
	goesOn ending = iota
	byFIN         // in order
	byRST         // unread data is lost
	torn          // in the middle of a packet
)

const (
	// Bytes that may wait for one client before the server stops reading from it.
	maxWaiting = 1 << 20
	// Bytes that may wait for one client, or for all together, before a connection is ended.
	maxOutput      = 32 << 20
	maxTotalOutput = 256 << 20
	// Bytes that incomplete packets of all clients may take. Above that, a connection with a long one ends.
	maxTotalInput = 64 << 20
	longInput     = 64 << 10
	// Identities of one client. An ACL that it sets may contain all of them.
	maxIdentities = 1000
	// Unanswered requests of one client. At this limit it has to wait.
	maxOpen = 1000
	// Requests of one client after which others get their turn. A busy goroutine would otherwise run for the 10 ms that Go
	// gives it.
	maxBurst = 16

	// Memory that a connection keeps for its next answers, unless it is parked.
	usualOut = 64 << 10

	readLen          = 4096
	smallLen         = 256 // a usual request
	handshakeTimeout = 10 * time.Second
	lastWordTimeout  = 2 * time.Second
)

var errEnded = errors.New("serve: the connection has ended")

func newConn(e *Ensemble, server int, sock net.Conn) *conn {
	return &conn{e: e, server: server, sock: sock, since: time.Now().UnixNano(),
		frames: jute.Frames{Max: e.options.MaxPacket}}
}

// buffers are for reading what does not fit into the small buffer of a reading goroutine.
var buffers = sync.Pool{New: func() any { b := make([]byte, readLen); return &b }}

// run starts a connection: it reads the handshake.
func (c *conn) run() {
	c.sock.SetReadDeadline(time.Now().Add(handshakeTimeout))
	if c.hello() != nil {
		c.closed()
		return
	}
	c.sock.SetReadDeadline(time.Time{})
	if !c.park() {
		c.serve(true)
	}
}

// serve reads until the client or the ensemble ends the connection, or it is parked. A connection that is not busy,
// because it was woken after a long time, for example by a ping, is parked at once; a busy one when nothing has come
// for a while.
func (c *conn) serve(busy bool) {
	small := make([]byte, smallLen)
	for {
		var err error
		if busy {
			err = c.listen(small)
		} else {
			err = c.read(small)
		}
		if err != nil {
			c.closed()
			return
		}
		if c.park() {
			return
		}
		busy = true
	}
}

// listen reads until nothing comes for a while.
func (c *conn) listen(small []byte) error {
	for {
		if parks {
			c.sock.SetReadDeadline(time.Now().Add(idleTime))
		}
		heard := false
		for {
			err := c.read(small)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			if err != nil {
				return err
			}
			heard = true
		}
		if !heard {
			c.sock.SetReadDeadline(time.Time{})
			return nil
		}
	}
}

// read reads what has come in, until a read does not fill its buffer.
func (c *conn) read(small []byte) error {
	n, err := c.sock.Read(small)
	if err == nil {
		err = c.feed(small[:n])
	}
	if n < len(small) || err != nil {
		return err
	}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	for n = readLen; n == readLen && err == nil; {
		if n, err = c.sock.Read(*buffer); err == nil {
			err = c.feed((*buffer)[:n])
		}
	}
	return err
}

// feed takes bytes of the client. It fails if incomplete packets take too much memory.
func (c *conn) feed(b []byte) error {
	err := c.frames.Feed(b, c.packet)
	if c.keeps(c.frames.Pending()) > maxTotalInput && c.kept > longInput {
		return errEnded
	}
	return err
}

// keeps records how many bytes of an incomplete packet are kept, and returns the total of all connections.
func (c *conn) keeps(n int) int64 {
	delta := n - c.kept
	c.kept = n
	return c.e.input.Add(int64(delta))
}

// hello reads a four-letter word and answers it, or reads the handshake.
func (c *conn) hello() error {
	head := make([]byte, 4)
	if _, err := io.ReadFull(c.sock, head); err != nil {
		return err
	}
	if answer, known := words[string(head)]; known {
		c.word(string(head), answer)
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
	// Only the handshake is expected now, so read little from clients that send something else.
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
	if c.mayGoOn() != nil {
		return c.tooLate(packet)
	}
	if c.burst++; c.burst%maxBurst == 0 {
		runtime.Gosched()
	}
	xid, q, err := jute.ParseRequest(packet)
	if errors.Is(err, jute.ErrHeader) || err != nil && q.Op == model.OpAuth {
		return err
	}
	op := q.Op
	q = admitted(q, err)
	return c.e.do(c, func() error {
		c.e.awaitServer(c.server)
		s := c.session
		if s == nil || q.Op == model.OpAuth && len(s.client.ServerConn().Auth) >= maxIdentities {
			return errEnded
		}
		c.received(&q)
		s.touch()
		s.requests++
		s.over = q.Op == model.OpCloseSession
		c.e.activity++
		c.e.last = time.Now()
		c.mu.Lock()
		c.open++
		c.mu.Unlock()
		tag := newTag(xid, op)
		q.Op = plain(q.Op)
		c.e.record.asked(s, &q)
		s.client.Send(uint64(tag), q)
		return nil
	})
}

// tooLate takes a request after which the connection has ended because the client reset it. The C client does that when
// it closes a connection with unread answers. The request is not executed, but a client that asks for the end of its
// session counts as leaving nothing behind.
func (c *conn) tooLate(packet []byte) error {
	if _, q, err := jute.ParseRequest(packet); err != nil || q.Op != model.OpCloseSession {
		return err
	}
	return c.e.do(c, func() error {
		if s := c.session; s != nil {
			s.over = true
		}
		return errEnded
	})
}

// mayGoOn waits until the client has read, and was answered, enough to make another request.
func (c *conn) mayGoOn() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.ended == goesOn && (len(c.out) > maxWaiting || c.open >= maxOpen) {
		if c.drained == nil {
			c.drained = make(chan struct{})
		}
		changed := c.drained
		c.mu.Unlock()
		<-changed
		c.mu.Lock()
	}
	if c.ended != goesOn {
		return errEnded
	}
	return nil
}

// tally records how many bytes wait to be written. c.mu is held.
func (c *conn) tally() {
	n := len(c.out) + int(c.writing)
	c.e.output.Add(int64(n - c.counted))
	c.counted = n
}

// changed wakes goroutines that wait for a change.
func (c *conn) changed() {
	if c.drained != nil {
		close(c.drained)
		c.drained = nil
	}
}

// awaitServer waits, with the ensemble unlocked, while the server is stopped.
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

// plain returns the operation that the world gets for an operation that differs from it only in what its answer
// contains. So plans and histories have one word for both.
func plain(op model.Op) model.Op {
	switch op {
	case model.OpCreate2:
		return model.OpCreate
	case model.OpGetChildren:
		return model.OpGetChildren2
	}
	return op
}

// reply queues the answer to a request. The world calls it.
func (c *conn) reply(t tag, res *model.Response) {
	c.mu.Lock()
	c.open--
	if c.open == maxOpen-1 {
		c.changed()
	}
	switch at := len(c.out); {
	case res.Silent:
	case t.op() == model.OpCreateSession && res.Err == model.OK: // answered as a handshake
		w := c.connectResponse(c.session)
		c.out = w.Append(jute.StartFrame(c.out))
		c.said(at)
	default:
		xid := t.xid()
		if t.op() == model.OpPing {
			xid = jute.XidPing
		}
		c.out = jute.AppendReply(jute.StartFrame(c.out), xid, t.op(), res)
		c.said(at)
		if lastOps[t.op()] != "" {
			c.stats.answered(xid, res.Zxid, time.Since(c.e.born))
		}
	}
	c.mu.Unlock()
	c.mark()
}

// event queues a watch event. The world calls it. Since 3.9 the header has the zxid of the txn that has fired it.
func (c *conn) event(ev model.Event) {
	zxid := int64(jute.NoZxid)
	if c.e.options.Like == model.ZooKeeper39 && !ev.Caught {
		zxid = ev.Zxid
	}
	c.mu.Lock()
	at := len(c.out)
	c.out = jute.AppendEvent(jute.StartFrame(c.out), ev, zxid)
	c.said(at)
	c.mu.Unlock()
	c.mark()
}

// said completes the queued packet that begins at an index. c.mu is held.
func (c *conn) said(at int) {
	c.out = jute.EndFrame(c.out, at)
	c.sent()
	c.tally()
}

// end makes the connection end when its output is written.
func (c *conn) end(how ending) {
	c.mu.Lock()
	if c.ended == goesOn {
		c.ended = how
		if how == torn { // the beginning of an answer
			c.out = append(c.out, 0, 0, 0, 16, 0, 0)
		}
		c.sock.SetWriteDeadline(time.Now().Add(lastWordTimeout))
		c.changed()
	}
	c.mu.Unlock()
	c.mark()
}

// mark makes the connection be flushed when the step is over.
func (c *conn) mark() {
	if !c.dirty {
		c.dirty = true
		c.e.dirty = append(c.e.dirty, c)
	}
}

// flush writes the output, unless another goroutine does, and then ends the connection if it must end.
func (c *conn) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flushes {
		return
	}
	c.flushes = true
	reset := false
	for len(c.out) > 0 {
		b := c.out
		c.out, c.spare, c.writing = c.spare[:0], nil, int32(len(b))
		c.mu.Unlock()
		_, err := c.sock.Write(b)
		c.mu.Lock()
		c.writing = 0
		if cap(b) <= usualOut && !c.parked {
			c.spare = b[:0]
		}
		c.changed()
		if err != nil {
			c.out = nil
			reset = c.ended == goesOn
			c.ended = max(c.ended, byFIN)
		}
		c.tally()
	}
	c.flushes = false
	switch {
	case reset: // the reader finds the earlier requests, and then that the client has ended the connection
		c.wake()
	case c.ended != goesOn:
		c.close()
	}
}

// close ends the connection in the way that was decided.
func (c *conn) close() {
	if tcp, ok := c.sock.(*net.TCPConn); ok && c.ended == byRST {
		tcp.SetLinger(0)
	} else if ok {
		finish(tcp)
	}
	c.leave()
	c.sock.Close()
}

// abort ends the connection at once.
func (c *conn) abort() {
	c.mu.Lock()
	c.ended, c.out = byRST, nil
	c.tally()
	c.changed()
	c.close()
	c.mu.Unlock()
}

// closed handles the end of the connection. Nothing reads it afterwards.
func (c *conn) closed() {
	defer c.e.running.Done()
	c.keeps(0)
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
			s.quit = !c.suspended()
			c.e.record.note("disconnect %s", s.client.Name())
			s.client.Cut()
		}
		delete(c.e.conns, c)
		c.mark()
		return nil
	})
}

// suspended reports whether a fault or an order has stopped the connection or its server. A client that then ends the
// connection may do so to find another one.
func (c *conn) suspended() bool {
	e := c.e
	_, slow := e.hold[sim.Transition{Kind: sim.Undelay, Client: uint32(c.session.client.ID())}]
	return slow || e.nodes[c.server].down() || e.world.Deposed() == c.server || e.world.Frozen(c.server)
}

// waiting returns how many bytes wait to be written.
func (c *conn) waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.out) + int(c.writing)
}
