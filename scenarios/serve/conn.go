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

// conn is a connection of a client, and memory for what is to be written. A goroutine reads as long as something comes
// in now and then; one that has nothing to say is parked, and costs no more than this.
type conn struct {
	e       *Ensemble
	sock    net.Conn
	since   int64 // nanoseconds since 1970
	frames  jute.Frames
	kept    int      // bytes of a packet that is not whole
	burst   int      // packets so far
	session *session // under the lock of the ensemble, as all below; nil before the handshake and after the end
	stats   stats
	server  int  // index
	dirty   bool // in Ensemble.dirty
	old     bool // the client knows no read-only servers
	told    bool // it has sent a four-letter word, which was answered

	mu       sync.Mutex
	drained  chan struct{} // closed when what is below has changed; nil: nobody waits for that
	out      []byte        // to be written
	spare    []byte        // memory for it
	counted  int           // bytes of this connection in Ensemble.output
	parkedAt int64         // nanoseconds since 1970
	open     int32         // requests without an answer
	writing  int32         // bytes of a write in progress
	fd       int32         // of a connection that was parked once; 0: none
	flushes  bool          // somebody does
	parked   bool          // no goroutine reads
	ended    ending
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
	// Parts of packets that all together may keep; a connection with a long one ends when it is more.
	maxTotalInput = 64 << 20
	longInput     = 64 << 10
	// Identities of one client: an ACL that it sets may have all of them.
	maxIdentities = 1000
	// Requests of one client without an answer, behind which it has to wait.
	maxOpen = 1000
	// Requests of one client after which others have their turn: goroutines that have much to do would each run for the
	// 10 ms that Go gives them.
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

// buffers are for reading what does not fit into the small one of a goroutine that reads.
var buffers = sync.Pool{New: func() any { b := make([]byte, readLen); return &b }}

// run begins a connection: it reads the handshake.
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

// serve reads until the connection ends, by the client or by the ensemble, or is parked: at once when it was woken
// after a long time, as for a ping, and when nothing has come for a while if it is busy.
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

// read reads what comes in until nothing may be left of it.
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

// feed takes bytes of the client, and fails if too much is kept of packets that are not whole.
func (c *conn) feed(b []byte) error {
	err := c.frames.Feed(b, c.packet)
	if c.keeps(c.frames.Pending()) > maxTotalInput && c.kept > longInput {
		return errEnded
	}
	return err
}

// keeps notes how much is kept of a packet that is not whole, and returns how much that is of all connections.
func (c *conn) keeps(n int) int64 {
	delta := n - c.kept
	c.kept = n
	return c.e.input.Add(int64(delta))
}

// hello reads a four-letter word, and answers it, or the handshake.
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

// tooLate takes a request behind which the connection has ended: the client has reset it, as the C client does that
// closes it with answers unread. Nothing is done, but a client that asks for its session's end leaves nothing over.
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

// mayGoOn waits until the client has read, and been told, enough to ask for more.
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

// tally notes how much waits to be written. c.mu is held.
func (c *conn) tally() {
	n := len(c.out) + int(c.writing)
	c.e.output.Add(int64(n - c.counted))
	c.counted = n
}

// changed wakes those who wait for a change.
func (c *conn) changed() {
	if c.drained != nil {
		close(c.drained)
		c.drained = nil
	}
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

// event has a watch event written. It is called by the world.
func (c *conn) event(ev model.Event) {
	c.mu.Lock()
	at := len(c.out)
	c.out = jute.AppendEvent(jute.StartFrame(c.out), ev, jute.NoZxid)
	c.said(at)
	c.mu.Unlock()
	c.mark()
}

// said ends the packet that begins at an index of what is to be written. c.mu is held.
func (c *conn) said(at int) {
	c.out = jute.EndFrame(c.out, at)
	c.sent()
	c.tally()
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
		c.changed()
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
	case reset: // whoever reads finds requests that came before, and then that the client has ended the connection
		c.wake()
	case c.ended != goesOn:
		c.close()
	}
}

// close ends the connection as it is to end.
func (c *conn) close() {
	if tcp, ok := c.sock.(*net.TCPConn); ok && c.ended == byRST {
		tcp.SetLinger(0)
	} else if ok {
		tcp.CloseWrite() // else a request that was not read makes a reset of the end
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

// closed says that the connection has ended. Nothing reads it after that.
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

// suspended reports whether a fault or an order has stopped the connection or its server, so that a client that ends it
// may do so to find another one.
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
