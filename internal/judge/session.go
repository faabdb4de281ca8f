package judge

import (
	"bytes"
	"maps"
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/model/history"
	"zksim/model/jute"
)

// session is what a recorder knows of a session.
type session struct {
	client   int32
	password []byte
	open     []*Connection   // in the order in which it was opened or reopened there; a client is at the last
	left     bool            // its client ended the last one
	owns     map[string]bool // its ephemerals that exist
}

// owns records that an ephemeral of a session was made.
func (r *Recorder) owns(path string, id int64) {
	r.disowns(path)
	if s := r.sessions[id]; s != nil {
		r.owner[path], s.owns[path] = s, true
	}
}

// disowns records that a znode is gone.
func (r *Recorder) disowns(path string) {
	if s := r.owner[path]; s != nil {
		delete(s.owns, path)
		delete(r.owner, path)
	}
}

// isMute reports whether no client can say anything on the session's connections.
func (s *session) isMute() bool {
	return !slices.ContainsFunc(s.open, func(c *Connection) bool { return !c.mute })
}

// at returns the open connections of a session.
func (r *Recorder) at(id int64) []*Connection {
	if s := r.sessions[id]; s != nil {
		return s.open
	}
	return nil
}

// Muted records that the client sends no more. It may still get answers, but nothing keeps its session alive.
func (c *Connection) Muted() {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	c.mute = true
}

// Left records that the client has ended the connection. It may come back if its last ping was not answered.
func (c *Connection) Left() { c.ends("") }

// Dropped records that the server has ended the connection, or that it was lost on the way there. The client may come
// back.
func (c *Connection) Dropped() { c.ends(dropped) }

// The data of the event that a connection has ended, unless its client has just gone.
const (
	dropped = "dropped" // its client did not end it, or ended it because the server was silent
	resumed = "resumed" // of the event that a session is there: it was so before anything was heard of it
	closing = "closing" // the client asked to close its session, and no answer was heard: the C client waits for none
)

func (c *Connection) ends(how string) {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	open := c.r.at(c.session)
	at := slices.Index(open, c)
	if at < 0 { // no session, or one that is closed
		return
	}
	open = slices.Delete(open, at, at+1)
	s := c.r.sessions[c.session]
	s.open, s.left = open, how == "" && !c.pinged
	for _, other := range open {
		other.synced = false // what this one was told may be newer
	}
	if at == len(open) { // else the session goes on elsewhere
		if len(open) > 0 { // it may go on there
			how = dropped
		}
		c.r.add(c.ending(how))
	}
	c.session = 0
}

// ending returns the event that the connection has ended.
func (c *Connection) ending(how string) history.Event {
	switch {
	case c.closing:
		how = closing
	case c.pinged:
		how = dropped
	}
	return history.Event{Kind: history.Session, Client: c.client, Op: zk.StateDisconnected.String(), Session: c.session,
		Data: how}
}

// mute returns the ends of the connections whose clients send no more, and whose servers have not noticed that. The
// caller holds the lock.
func (r *Recorder) mute() (list []history.Event) {
	for _, id := range slices.Sorted(maps.Keys(r.sessions)) {
		if s := r.sessions[id]; len(s.open) > 0 && s.isMute() {
			list = append(list, s.open[len(s.open)-1].ending(""))
		}
	}
	return list
}

// wants handles the packet with which a client asks for a session. A client that asks for its own again has not gone. A
// request with another password is refused, which says nothing of the session.
func (c *Connection) wants(q *jute.ConnectRequest) {
	s := c.r.sessions[q.Session]
	if s != nil && !bytes.Equal(s.password, q.Password) {
		return
	}
	if c.wanted = q.Session; s != nil && s.isMute() && (s.left || len(s.open) > 0) {
		s.open, s.left = nil, false // the ends of those are no news any more
		c.r.add(history.Event{Kind: history.Session, Client: s.client, Op: zk.StateDisconnected.String(),
			Session: q.Session, Data: dropped})
	}
}

// welcome handles the packet that says which session the server has opened or reopened.
func (c *Connection) welcome(packet []byte) error {
	if isRefusal(packet) {
		return nil
	}
	w, err := jute.ParseConnectResponse(packet)
	if err == nil && w.Session == 0 {
		c.expired(c.wanted)
	}
	if err != nil || w.Session == 0 {
		return err
	}
	s := c.r.sessions[w.Session]
	known := s != nil
	if !known {
		s = &session{client: int32(len(c.r.sessions) + 1), password: slices.Clone(w.Password), owns: map[string]bool{}}
		c.r.sessions[w.Session] = s
	}
	c.session, c.client, s.open = w.Session, s.client, append(s.open, c)
	c.r.missed = nil // as while servers restart: nothing was said that was not heard
	e := history.Event{Kind: history.Session, Client: s.client, Op: zk.StateHasSession.String(), Session: w.Session,
		Value: int64(w.Timeout)}
	if !known && c.wanted == w.Session {
		e.Data = resumed
	}
	c.r.add(e)
	return nil
}

// isRefusal reports whether a server has answered a request for a session with nothing but an error, as a read-only one
// does. Its client asks another server.
func isRefusal(packet []byte) bool {
	a, err := jute.ParseReply(packet)
	return err == nil && a.Err != model.OK && len(a.Body) == 0
}

// expired records that a server no longer knows a session, and so has none of its ephemerals.
func (c *Connection) expired(id int64) {
	if s := c.r.sessions[id]; s != nil {
		c.r.add(history.Event{Kind: history.Session, Client: s.client, Op: zk.StateExpired.String(), Session: id})
		for path := range s.owns { // order-free: all of them
			c.r.disowns(path)
		}
	}
}

// ended records that a client has closed its session, and deletes its ephemerals. The event of its request is at a
// position.
func (c *Connection) ended(zxid int64, at int32) {
	s := c.r.sessions[c.session]
	if s != nil {
		for _, path := range slices.Sorted(maps.Keys(s.owns)) {
			c.r.add(history.Event{Kind: history.Deleted, Path: path, Zxid: zxid, Session: c.session, Step: at})
			c.r.disowns(path)
		}
		s.open = nil
	}
	c.r.add(history.Event{Kind: history.Session, Client: c.client, Op: history.Closed, Session: c.session})
}
