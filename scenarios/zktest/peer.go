package zktest

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"zksim/internal/hash"
	"zksim/model"
	"zksim/model/jute"
	"zksim/sim"
)

// peer is the servers' end of the connections of one client. The client uses one of them at a time.
type peer struct {
	c       *Cluster
	client  *sim.Client
	pipes   []*pipe // those that the client has not closed, oldest first
	at      *pipe   // the one with the session; nil: none
	asks    *pipe   // the one that waits for the answer to its handshake; nil: none
	hello   jute.ConnectRequest
	tags    uint64
	hangups bool // the connection must end after the step
	left    bool // the client has closed its session

	asked []time.Time // when the client sent each unanswered request, oldest first
	came  time.Time   // when something last arrived at the client, or nothing was on its way to it
}

// overdue reports whether something should have arrived by now: an answer, or the next message on its way to the
// client.
func (p *peer) overdue(now time.Time) bool {
	return len(p.asked) > 0 && now.Sub(p.asked[0]) >= latency || p.client.Arriving() && now.Sub(p.came) >= latency
}

// rests records the time if nothing is on its way, or a fault holds it back.
func (p *peer) rests(now time.Time) {
	held := p.client.Paused() || p.client.Delayed()
	if held || !p.client.Arriving() {
		p.came = now
	}
	if held {
		for i := range p.asked {
			p.asked[i] = now
		}
	}
}

// sent records that the client has sent something that needs an answer.
func (p *peer) sent() { p.asked = append(p.asked, time.Now()) }

// unsettled reports whether the client lacks the connection that it wants, or something is on its way.
func (p *peer) unsettled() bool {
	return slices.ContainsFunc(p.pipes, (*pipe).busy) || p.asks != nil || p.client.Orphaned() ||
		!p.left && (p.at == nil || !p.client.Settled())
}

// The session timeouts that are granted, in milliseconds: 2 and 20 of ZooKeeper's usual ticks.
const (
	minTimeout = 4_000
	maxTimeout = 40_000
)

// Connect implements [sim.Dialing]. It answers the handshake.
func (p *peer) Connect(server int) {
	line := p.asks
	p.asks = nil
	p.client.Unask()
	timeout := min(max(p.hello.Timeout, minTimeout), maxTimeout)
	fresh := p.hello.Session == 0 || p.c.world.Like == model.Keeper
	var err error
	switch {
	case fresh:
		_, err = p.client.Open(server, timeout)
	case p.hello.Session != p.client.Session() || string(p.hello.Password) != string(password(p.hello.Session)):
		p.expired(line)
		return
	default:
		err = p.client.Reattach(server, p.hello.LastZxid)
	}
	switch {
	case err == nil:
		p.at = line
		id := p.client.Session()
		p.greet(line, jute.ConnectResponse{Timeout: timeout, Session: id, Password: password(id), Old: p.hello.Old})
	case fresh || p.client.HasSession():
		line.hangUp()
	default:
		p.expired(line)
	}
}

// expired tells the client that its session is over.
func (p *peer) expired(line *pipe) {
	p.client.Expired()
	p.greet(line, jute.ConnectResponse{Password: make([]byte, jute.PasswordLen), Old: p.hello.Old})
	line.hangUp()
}

func (p *peer) greet(line *pipe, r jute.ConnectResponse) {
	p.asked = p.asked[:0]
	line.send(jute.EndFrame(r.Append(jute.StartFrame(nil)), 0))
}

// password returns the password of a session. It is not a secret.
func password(session int64) []byte {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(session)))
	return sum[:jute.PasswordLen]
}

// Refuse implements [sim.Dialing].
func (p *peer) Refuse() {
	p.asks.hangUp()
	p.asks, p.asked = nil, p.asked[:0]
	p.client.Unask()
}

// Reply implements [sim.Far].
func (p *peer) Reply(tag uint64, req *model.Request, res *model.Response) {
	p.came, p.asked = time.Now(), slices.Delete(p.asked, 0, 1)
	if !res.Silent {
		p.answer(int32(tag), req.Op, res)
	}
	p.hangups = p.hangups || res.Hangup && req.Op != model.OpCloseSession
}

func (p *peer) answer(xid int32, op model.Op, res *model.Response) {
	if op == model.OpPing {
		xid = jute.XidPing
	}
	p.at.send(jute.EndFrame(jute.AppendReply(jute.StartFrame(nil), xid, op, res), 0))
}

// ping is the ping of a client, with its length in front.
var ping = string(jute.EndFrame(
	jute.AppendRequest(jute.StartFrame(nil), jute.XidPing, &model.Request{Op: model.OpPing}), 0))

// quiet reports whether a ping is answered at once, because nothing else is on its way.
func (p *peer) quiet() bool { return p.client.Settled() && !p.client.Delayed() && !p.client.Paused() }

// pongs answers a ping.
func (p *peer) pongs() {
	p.answer(jute.XidPing, model.OpPing,
		&model.Response{Op: model.OpPing, Zxid: p.c.world.Stores()[p.client.Server()].Zxid()})
}

// pong answers a ping in the client's Write, if time passes and nothing else is to be done. It saves work because most
// of what clients send are pings. It reports whether it did.
func (p *peer) pong(line *pipe) bool {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	if !p.c.passing || p.at != line || p.hangups || !p.quiet() || !line.idle() {
		return false
	}
	if !line.heard() {
		p.pongs()
	}
	return true
}

// Event implements [sim.Far].
func (p *peer) Event(ev model.Event) {
	p.came = time.Now()
	p.at.send(jute.EndFrame(jute.AppendEvent(jute.StartFrame(nil), ev, jute.NoZxid), 0))
}

// End implements [sim.Far].
func (p *peer) End() {
	p.at.hangUp()
	p.at, p.asked = nil, p.asked[:0]
}

// Reset implements [sim.Resetting].
func (p *peer) Reset() { p.at.reset() }

// collect takes what the client has sent and closed since the last call. It reports whether there was anything, and
// whether there was more than a ping.
func (p *peer) collect() (any, more bool) {
	if p.hangups {
		if p.hangups = false; p.client.Connected() {
			p.client.Drop()
		}
		any = true
	}
	kept := p.pipes[:0]
	for _, line := range p.pipes {
		out, closed := line.take(p.client.Paused())
		if len(out) > 0 {
			any = true
			err := line.frames.Feed(out, func(packet []byte) error {
				pinged, err := p.packet(line, packet)
				more = more || !pinged
				return err
			})
			if err != nil {
				line.hangUp()
				closed = true
			}
		}
		if q := line.peer; q != p { // another client of the same dialer
			q.pipes = append(q.pipes, line)
			continue
		}
		if !closed {
			kept = append(kept, line)
			continue
		}
		any, more = true, true
		switch line {
		case p.at:
			p.client.Cut()
		case p.asks:
			p.asks, p.asked = nil, p.asked[:0]
			p.client.Unask()
		}
	}
	p.pipes = kept
	return any, more
}

// whose returns the client that a handshake belongs to. A library may make several connections with the dialer of p,
// and each open session is a client of its own.
func (p *peer) whose(hello *jute.ConnectRequest) *peer {
	if hello.Session != 0 {
		keeper := p.c.world.Like == model.Keeper // which would not end an old connection
		of := func(q *peer) bool { return q.client.Session() == hello.Session && !(keeper && q.open()) }
		if i := slices.IndexFunc(p.c.peers, of); i >= 0 {
			return p.c.peers[i]
		}
	}
	if p.asks != nil || p.at != nil || p.client.HasSession() {
		return p.c.join()
	}
	return p
}

// open reports whether the client has a connection that it has not closed. That it has closed one may still have to be
// collected.
func (p *peer) open() bool { return p.at != nil && !p.at.shut() }

// packet takes a packet of the client. It reports whether it was a ping that is already answered.
func (p *peer) packet(line *pipe, packet []byte) (pinged bool, err error) {
	switch line {
	case p.asks: // no packet may come before the answer to the handshake
		return false, jute.ErrHeader
	case p.at:
	default:
		hello, err := jute.ParseConnectRequest(packet)
		if err != nil {
			return false, err
		}
		q := p.whose(&hello)
		line.peer, q.hello, q.asks, q.left = q, hello, line, false
		q.sent()
		if line.server == q.client.Server() { // it has asked all others that it knows: no fault can send it to one of them
			q.client.Unbind()
		}
		q.client.Ask(line.server)
		return false, nil
	}
	xid, q, err := jute.ParseRequest(packet)
	if err != nil {
		return false, err
	}
	if q.Op == model.OpPing && p.quiet() {
		p.pongs()
		return true, nil
	}
	p.left = q.Op == model.OpCloseSession
	p.tags++
	p.sent()
	if w := q.Watches; w != nil {
		for _, list := range [][]string{w.Data, w.Exist, w.Child, w.Persistent, w.Recursive} {
			p.mapped(list)
		}
	}
	p.client.Send(p.tags<<32|uint64(uint32(xid)), q)
	return false, nil
}

// mapped puts paths into an order that the run draws. The client library keeps them in a map, so it lists them in an
// order that Go draws.
func (p *peer) mapped(paths []string) {
	slices.Sort(paths)
	order := p.c.world.Order
	if order < sim.FirstDrawn {
		return
	}
	salt := hash.Hash(hash.Mix(order ^ p.tags<<32 ^ uint64(p.client.ID())))
	place := func(path string) uint64 { return hash.Mix(uint64(salt.String(path))) }
	slices.SortStableFunc(paths, func(a, b string) int { return cmp.Compare(place(a), place(b)) })
}
