package checkers

import (
	"slices"

	"zksim/internal/hash"
	"zksim/model/history"
)

// lapses follows what clients believe they have by ephemeral znodes. It finds a session that ends while its client
// could know that it is disconnected, and still believes. A client that could not know is excused until its library
// hears something. The servers may still keep what a session owned that a library takes for over.
type lapses struct {
	believed  []claim
	deceived  deceived
	present   []lineOf
	claimants claimants
}

// lineOf is the session of a client's connection.
type lineOf struct {
	connection
	session int64
}

// begin notes that an object believes c from now on.
func (l *lapses) begin(c claim) {
	l.end(c.object)
	l.claimants.claims(c)
	if c.path != "" && !l.deceived.has(c.client) {
		l.believed = append(l.believed, c)
	}
}

// end notes that an object no longer believes anything.
func (l *lapses) end(object int32) {
	l.believed = withoutObject(l.believed, object)
	l.claimants.end(object)
}

// step takes an event into account that no program has made. If the event ends the session by which a client still
// believes that it has something, step returns that claim; otherwise nil.
func (l *lapses) step(e *history.Event) (lapsed *claim) {
	of := func(c claim) bool { return c.client == e.Client }
	l.deceived.step(e)
	switch e.Kind {
	case history.Exceeded:
		l.believed = drop(l.believed, of)
	case history.Session:
		c := connectionOf(e)
		recall(&l.present, func(x *lineOf) bool { return x.connection == c }, lineOf{connection: c}).session = e.Session
	case history.Crashed:
		l.claimants.crash(e.Client)
		l.believed = drop(l.believed, of)
	case history.Deleted:
		if e.Client == 0 && e.Session != 0 {
			for k, c := range l.believed {
				// Several may believe in one path, but at most one of them owns it.
				if c.path == e.Path && l.has(c.client, e.Session) {
					return &l.believed[k]
				}
			}
		}
		// Somebody deleted it, which is judged elsewhere; or it was another client's.
		l.believed = drop(l.believed, func(c claim) bool { return c.path == e.Path })
	}
	return nil
}

// has reports whether a library of a client takes a session for its own.
func (l *lapses) has(client int32, session int64) bool {
	return slices.ContainsFunc(l.present, func(x lineOf) bool { return x.client == client && x.session == session })
}

// reset forgets everything.
func (l *lapses) reset() {
	l.believed, l.deceived, l.present = l.believed[:0], l.deceived[:0], l.present[:0]
	l.claimants = l.claimants[:0]
}

// print returns a hash of what is remembered, in any order. The world knows which sessions libraries have.
func (l *lapses) print() hash.Hash {
	var believed hash.Hash
	for _, c := range l.believed {
		believed += l.claimants.print(c)
	}
	return believed.Uint64(uint64(l.deceived.print()))
}
