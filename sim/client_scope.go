package sim

import (
	"slices"

	"github.com/go-zookeeper/zk"

	"zksim/internal/hash"
)

// scope is what code has seen since it called [Env.Forget], until it says what it keeps of that. Or it is what a
// goroutine knows that was started in such a scope: what its starter knew, until that says what it keeps, and what it
// has seen itself.
//
// Until the code of a client first calls Forget, its goroutines share one scope: all that any of them sees is
// in the client's root scope, in the order in which it happened.
type scope struct {
	parent *scope // nil: this is all that the client's code has seen
	seen   hash.Hash
	base   bool // the outermost scope of a goroutine that was started
	told   bool // seen includes what its starter knew, up to the parent
	closed bool
	number int64 // in the fingerprint being made
}

// within reports whether s is a part of outer.
func (s *scope) within(outer *scope) bool {
	for s != nil && s != outer {
		s = s.parent
	}
	return s == outer
}

// left returns the scope that s has become a part of, or s itself while it is open; nil for nil.
func (s *scope) left() *scope {
	for s != nil && s.closed {
		s = s.parent
	}
	return s
}

// Forget begins a scope. See recipes.Env.
func (e Env) Forget() func(kept ...any) {
	c, g := e.c, e.c.here()
	if !c.w.Detail.Forget {
		return keepAll
	}
	c.forgets = true
	s := &scope{parent: g.knows()}
	g.scope = s
	c.scopes = append(c.scopes, s)
	return func(kept ...any) {
		c.own()
		if !s.closed && !g.killed {
			c.leave(s, kept)
		}
	}
}

func keepAll(...any) {}

// knows returns the present scope of a coroutine.
func (g *coroutine) knows() *scope {
	g.scope = g.scope.left()
	return g.scope
}

// learn notes something that the coroutine's code has seen.
func (g *coroutine) learn(x uint64) {
	c := g.client
	c.observed = c.observed.Uint64(g.title).Uint64(x)
	g.draw(x)
}

// draw notes something that the coroutine's code has got and that follows from all that the client has seen. It counts
// only if some of that is forgotten.
func (g *coroutine) draw(x uint64) {
	if g.client.w.Detail.Forget {
		s := g.knows()
		s.seen = s.seen.Uint64(g.title).Uint64(x)
	}
}

// lookAround notes what code may look at when it continues: what other goroutines have written.
func (c *Client) lookAround(g *coroutine) {
	if c.forgets {
		c.share(g.knows())
		c.mingle(g)
	}
}

// share adds to a scope all that goroutines know which its own goroutine has started, directly or through others. Its
// code may look at what they have written.
func (c *Client) share(s *scope) {
	own := s.owner()
	for _, g := range c.coroutines {
		if g.base.startedBy(own) {
			s.seen = s.seen.Uint64(uint64(g.base.seen))
		}
	}
}

// mingle is for a goroutine outside of all code that began with Forget. It adds all that others know outside of such
// code: the goroutine may look at what they have written, and nobody says what such code keeps.
func (c *Client) mingle(g *coroutine) {
	s := g.knows()
	if s != g.base && s != &c.root {
		return
	}
	if s != &c.root {
		s.seen = s.seen.Uint64(uint64(c.root.seen))
	}
	for _, x := range c.scopes {
		if x.base && x != s {
			s.seen = s.seen.Uint64(uint64(x.seen))
		}
	}
}

// startedBy reports whether the goroutine of outermost scope s was started by that of another one, directly or through
// others; nil is the program's.
func (s *scope) startedBy(starter *scope) bool {
	for s != nil {
		if s = s.parent.left().owner(); s == starter {
			return true
		}
	}
	return false
}

// owner returns the outermost scope of the goroutine that s belongs to; nil for the program's.
func (s *scope) owner() *scope {
	for s != nil && !s.base {
		s = s.parent
	}
	return s
}

// arrive notes that something has arrived that code of a scope may look for without waiting.
func (c *Client) arrive(at *scope, x uint64) {
	at = at.left()
	if at == nil {
		return
	}
	if at.parent == nil {
		at.seen = at.seen.Uint64(x)
	}
	for _, s := range c.scopes {
		if s.within(at) {
			s.seen = s.seen.Uint64(x)
		}
	}
}

// Keep forgets in the middle of a scope. See recipes.Env.
func (e Env) Keep(kept ...any) {
	c, s := e.c, e.c.here().knows()
	if s.parent == nil {
		return
	}
	s.seen = c.keep(s, kept)
	c.tellStarted(s, s.seen)
	c.share(s)
}

// keep returns a hash of what code of a scope keeps, and drops the channels that are not part of it.
func (c *Client) keep(s *scope, kept []any) hash.Hash {
	k := &c.w.values
	k.reset(c)
	c.addKept(kept)
	for _, g := range c.coroutines {
		if g != c.w.current {
			k.channels = append(k.channels, g.chans...)
		}
	}
	drop := func(ch <-chan zk.Event, at **scope) {
		if (*at).left() == s && !slices.Contains(k.channels, ch) {
			*at = nil
		}
	}
	for i := range c.watchers {
		drop(c.watchers[i].ch, &c.watchers[i].scope)
	}
	for i := range c.sessionChans {
		drop(c.sessionChans[i].ch, &c.sessionChans[i].scope)
	}
	return k.sum
}

// addKept adds values to the hash of what is kept. If one cannot be read the run ends with a [Misuse].
func (c *Client) addKept(kept []any) {
	defer func() {
		r := recover()
		if twins, ok := r.(hash.Twins); ok {
			r = refusal(c.Name() + " keeps something of a type that cannot be told from another one: " + twins.String())
		}
		if why, ok := r.(refusal); ok {
			c.w.misuse = &Misuse{c.host.id, string(why), clientStack()}
			c.w.current.park(runnable)
		} else if r != nil {
			panic(r)
		}
	}()
	c.w.values.sum = c.w.values.sum.Int(int64(len(kept)))
	for _, x := range kept {
		c.w.values.addAny(x)
	}
}

// leave ends a scope and those that were begun in it and have not ended.
func (c *Client) leave(s *scope, kept []any) {
	what := c.keep(s, kept)
	for x := c.w.current.knows(); x != s && !x.base && x.parent != nil; x = x.parent { // forgotten
		c.closeScope(x, what)
	}
	c.closeScope(s, what)
	outer := s.parent.left()
	outer.seen = outer.seen.Uint64(uint64(what))
	c.share(outer)
}

// closeScope makes a scope a part of its parent.
func (c *Client) closeScope(s *scope, kept hash.Hash) {
	c.tellStarted(s, kept)
	s.closed = true
	open := c.scopes[:0]
	for _, x := range c.scopes {
		if x.closed {
			continue
		}
		open = append(open, x)
		if x.parent == s { // it learns what it knew of the outer scope when that says what it keeps
			x.parent, x.told = s.parent, s.base && s.told
		}
	}
	clear(c.scopes[len(open):])
	c.scopes = open
}

// tellStarted adds what a scope keeps to the goroutines that were started in it.
func (c *Client) tellStarted(s *scope, kept hash.Hash) {
	for _, x := range c.scopes {
		if x.parent == s && x.base && !x.told {
			x.told = true
			x.seen = kept.Uint64(uint64(x.seen))
		}
	}
}

// begin gives a new goroutine its outermost scope, a part of its starter's scope.
func (g *coroutine) begin(starter *coroutine) {
	c := g.client
	g.scope, g.base = &c.root, nil
	if starter == nil || !c.forgets {
		return
	}
	g.base = &scope{parent: starter.knows(), base: true}
	g.scope = g.base
	c.scopes = append(c.scopes, g.base)
}

// end adds to the starter what the goroutine has seen: the starter may look at what the goroutine has written.
func (g *coroutine) end() {
	for s := g.scope.left(); g.base != nil && s.within(g.base); s = s.parent {
		g.client.closeScope(s, s.seen)
		outer := s.parent.left()
		outer.seen = outer.seen.Uint64(uint64(s.seen))
	}
	g.scope, g.base = nil, nil
}

// forgetAll notes that the code of a client has ended. Of what it has seen only what it leaves to the judges still
// matters, and nobody has its channels.
func (c *Client) forgetAll() {
	if !c.w.Detail.Forget || c.w.Residual == nil {
		return
	}
	c.root.seen = c.w.Residual(0, c)
	c.sessionChans = c.sessionChans[:0]
	for i := range c.watchers {
		c.watchers[i].scope = nil
	}
}

// sessionChan is a channel for the next change of the session's state.
type sessionChan struct {
	ch    chan zk.Event
	scope *scope // of the code that asked for it; nil: the code has dropped it
}

// firedChan is a channel that has got its event.
type firedChan struct {
	ch   chan zk.Event
	what uint64
}

func eventHash(ev zk.Event) uint64 {
	if ev == (zk.Event{}) {
		return 0
	}
	h := hash.Hash(0).Int(int64(ev.Type)).Int(int64(ev.State)).Uint64(failure(ev.Err))
	return uint64(h.String(ev.Path).String(ev.Server))
}

// knowledge appends what the client's code knows, and what decides how that will grow.
func (c *Client) knowledge(h hash.Hash) hash.Hash {
	switch {
	case c.w.Detail.Forget && len(c.coroutines) == 0:
		return h.Uint64(uint64(c.root.seen))
	case !c.w.Detail.Forget:
		return h.Uint64(c.lingered).Uint64(c.uuids).Uint64(uint64(c.observed))
	}
	h = h.Uint64(c.lingered).Uint64(c.uuids).Bool(c.forgets).Uint64(uint64(c.judged))
	c.root.number = 1
	next := int64(2)
	for _, s := range c.scopes {
		s.number = 0
	}
	h = h.Uint64(uint64(c.root.seen))
	for _, g := range c.coroutines {
		for s := g.scope.left(); s != nil; s = s.parent {
			if s.number == 0 {
				s.number = next
				next++
				h = h.Uint64(uint64(s.seen)).Bool(s.base).Bool(s.told)
			}
			h = h.Int(s.number)
		}
	}
	for i := range c.sessionChans {
		if at := c.sessionChans[i].scope; at.left() != nil { // else nobody receives its event
			h = h.Int(numberOf(at))
		}
	}
	if c.interrupt != nil {
		h = h.Int(numberOf(c.offered))
	}
	return h
}

// numberOf returns the number of a scope in the fingerprint being made; 0 for nil.
func numberOf(s *scope) int64 {
	if s = s.left(); s == nil {
		return 0
	}
	return s.number
}
