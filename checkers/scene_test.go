package checkers

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"zksim/model/history"
)

// scene is as much of the world as random histories have to fit into, so that nobody
// answers who was not asked, and no znode is there twice. It follows from a history.
type scene struct {
	open      []history.Event // operations in progress: their Invoke
	znodes    []history.Event // that there are: their Created
	claims    []history.Event // that objects have: their Acquired, with the zxid of the znode
	changesOf []history.Event
	calm      bool
	zxid      int64
	last      history.Event
}

// ownerOf returns the client of an object: o1 and o4 are of c1.
func ownerOf(object int32) int32 { return (object-1)%3 + 1 }

// by picks the event of an object, path of a path.
func by(object int32) func(e history.Event) bool {
	return func(e history.Event) bool { return e.Object == object }
}

func at(path string) func(e history.Event) bool {
	return func(e history.Event) bool { return e.Path == path }
}

// fits reports whether e can happen.
func (s *scene) fits(e *history.Event) bool {
	if changesOf(e) && e.Zxid <= s.zxid && (e.Zxid != s.last.Zxid || e.Client != s.last.Client) {
		return false
	}
	if e.Object > 0 && e.Client != ownerOf(e.Object) || e.Client == 0 && e.Kind != history.Deleted &&
		e.Kind != history.Calm {
		return false
	}
	k := slices.IndexFunc(s.open, by(e.Object))
	switch e.Kind {
	case history.Invoke:
		return k < 0 && (e.Op != "acknowledge" || slices.ContainsFunc(s.claims, func(x history.Event) bool {
			return x.Object == e.Object && x.Path == e.Path && x.Value == e.Value
		}))
	case history.Return:
		if e.Op == "held" {
			return true
		}
		return k >= 0 && s.open[k].Op == e.Op && s.open[k].Path == e.Path &&
			(e.Op != "acknowledge" || s.open[k].Value == e.Value)
	case history.Acquired:
		for _, x := range slices.Backward(s.changesOf) {
			if x.Kind == history.Created && x.Path == e.Path { // the latest of that name
				return k < 0 && !slices.ContainsFunc(s.claims, by(e.Object)) && x.Client == e.Client && x.Zxid == e.Value
			}
		}
		return false
	case history.Released:
		return k < 0 && slices.ContainsFunc(s.claims, by(e.Object))
	case history.Created:
		return !slices.ContainsFunc(s.znodes, at(e.Path)) && !slices.ContainsFunc(s.claims, at(e.Path))
	case history.Deleted, history.Changed:
		return slices.ContainsFunc(s.znodes, at(e.Path))
	case history.Notify:
		return e.Zxid == 0 || slices.ContainsFunc(s.changesOf, func(x history.Event) bool {
			return x.Zxid == e.Zxid && (x.Path == e.Path && x.Kind.String() == e.Op || e.Op == "child" &&
				x.Kind != history.Changed && parent(x.Path) == e.Path)
		})
	case history.Calm:
		return !s.calm
	}
	return true
}

func changesOf(e *history.Event) bool {
	return e.Kind == history.Created || e.Kind == history.Deleted || e.Kind == history.Changed
}

// take notes that e has happened.
func (s *scene) take(e *history.Event) {
	switch e.Kind {
	case history.Invoke:
		s.open = append(s.open, *e)
	case history.Return:
		s.open = slices.DeleteFunc(s.open, by(e.Object))
	case history.Acquired:
		s.claims = append(s.claims, *e)
	case history.Released:
		s.claims = slices.DeleteFunc(s.claims, by(e.Object))
	case history.Created:
		s.znodes = append(s.znodes, *e)
	case history.Deleted:
		s.znodes = slices.DeleteFunc(s.znodes, at(e.Path))
	case history.Crashed:
		mine := func(x history.Event) bool { return x.Client == e.Client }
		s.open, s.claims = slices.DeleteFunc(s.open, mine), slices.DeleteFunc(s.claims, mine)
	case history.Calm:
		s.calm = true
	}
	if changesOf(e) {
		s.changesOf = append(s.changesOf, *e)
	}
	s.zxid = max(s.zxid, e.Zxid)
	s.last = *e
}

// stageOf returns the scene after a history, and whether all of it fits.
func stageOf(events []history.Event) (s *scene, fits bool) {
	s = &scene{}
	for i := range events {
		if !s.fits(&events[i]) {
			return s, false
		}
		s.take(&events[i])
	}
	return s, true
}

// key says what the world knows: what is in progress, which znodes there are, in the order
// of their creation, and those that clients have in hand among these.
func (s *scene) key() string {
	var b strings.Builder
	open := slices.SortedFunc(slices.Values(s.open),
		func(x, y history.Event) int { return cmp.Compare(x.Object, y.Object) })
	for _, e := range open {
		fmt.Fprintf(&b, "o%d %s %s, ", e.Object, e.Op, e.Path)
	}
	type entry struct {
		zxid int64
		text string
	}
	var list []entry
	for _, e := range s.znodes {
		author := e.Client
		if e.Session == 0 {
			author = 0 // forgotten
		}
		list = append(list, entry{e.Zxid, fmt.Sprintf("%s of c%d, ", e.Path, author)})
	}
	for _, e := range s.claims {
		list = append(list, entry{e.Value, fmt.Sprintf("%s claimed by o%d, ", e.Path, e.Object)})
	}
	slices.SortFunc(list, func(x, y entry) int { return cmp.Or(cmp.Compare(x.zxid, y.zxid), cmp.Compare(x.text, y.text)) })
	for _, x := range list {
		b.WriteString(x.text)
	}
	fmt.Fprintln(&b, s.calm)
	return b.String()
}

// pick returns an element of list, and whether there is one.
func pick[T any](r *rand.Rand, list []T) (x T, ok bool) {
	if len(list) == 0 {
		return x, false
	}
	return list[r.IntN(len(list))], true
}

// idle returns the objects without an operation.
func (s *scene) idle() (list []int32) {
	for o := int32(1); o <= 4; o++ {
		if !slices.ContainsFunc(s.open, by(o)) {
			list = append(list, o)
		}
	}
	return list
}

// create makes a znode, now and then in the txn of the one before.
func (s *scene) create(r *rand.Rand, path string) history.Event {
	e := history.Event{Kind: history.Created, Client: 1 + r.Int32N(3), Path: path, Zxid: s.zxid + 1}
	if r.IntN(8) > 0 {
		e.Session = int64(10 + e.Client)
	}
	if s.last.Kind == history.Created && r.IntN(3) == 0 {
		e.Client, e.Zxid, e.Session = s.last.Client, s.last.Zxid, s.last.Session
	}
	return e
}

// remove deletes a znode that there is: its maker does, another, or the end of the session.
func (s *scene) remove(r *rand.Rand) history.Event {
	e, _ := pick(r, s.znodes)
	if r.IntN(3) == 0 {
		e.Client = r.Int32N(4)
	}
	return history.Event{Kind: history.Deleted, Client: e.Client, Path: e.Path, Session: e.Session, Zxid: s.zxid + 1}
}

// invoke begins an operation.
func (s *scene) invoke(r *rand.Rand, op, path string) history.Event {
	o, ok := pick(r, s.idle())
	if !ok {
		return s.answer(r, nil)
	}
	return history.Event{Kind: history.Invoke, Client: ownerOf(o), Object: o, Op: op, Path: path}
}

// answer ends an operation, with no error or that one, which is a legal answer.
func (s *scene) answer(r *rand.Rand, err error) history.Event {
	e, ok := pick(r, s.open)
	if !ok {
		return history.Event{Kind: history.Fault, Op: "none"}
	}
	e.Kind, e.Err, e.OK = history.Return, err, err != nil
	return e
}
