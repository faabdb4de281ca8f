package checkers

import (
	"errors"
	"math/rand/v2"

	"zksim/model/history"
)

var namesFamily = workload{name: "names", checker: Names{}, naive: misnamed, next: nextName,
	end: func(*rand.Rand, *history.History) {}}

// misnamed looks at each two answers, and whether the name was given up between them, and at each end of a name and
// what comes after it.
func misnamed(h *history.History) Level {
	begin := func(i int) int {
		for k := i - 1; ; k-- {
			if e := &h.Events[k]; e.Kind == history.Invoke && e.Object == h.Events[i].Object {
				return k
			}
		}
	}
	answers := func(i int, op string) bool {
		e := &h.Events[i]
		return e.Kind == history.Return && e.Op == op && e.Err == nil
	}
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Return && e.Op == "unregister" {
			switch own := nameOf(h.Events[:begin(i)], &h.Events[begin(i)]); {
			case own != 0 && e.Err != nil && e.OK:
				return Violated
			case own != 0 && e.Err == nil:
				for k := range h.Events {
					if answers(k, "resolve") && i < begin(k) && h.Events[k].Path == e.Path && h.Events[k].Value == own {
						return Violated
					}
				}
			}
		}
		if answers(i, "unregister") && !perhapsRegistered(h.Events[:i], &h.Events[i]) {
			return Violated
		}
		for k := range h.Events[:i] {
			own, e := &h.Events[k], &h.Events[i]
			if !answers(k, "register") || own.Path != e.Path {
				continue
			}
			kept := true
			for _, x := range h.Events[k:i] {
				kept = kept && (x.Kind != history.Invoke || x.Op != "unregister" || x.Path != own.Path || x.Object != own.Object)
			}
			switch value := h.Events[begin(k)].Value; {
			case !kept:
			case answers(i, "register"), answers(i, "unregister") && k < begin(i) && own.Object != e.Object,
				answers(i, "resolve") && k < begin(i) && e.Value != value:
				return Violated
			}
		}
	}
	return OK
}

// nameOf returns what the name of e resolves to if it belongs to the object of e after events; else 0.
func nameOf(events []history.Event, e *history.Event) (value int64) {
	asked := int64(0)
	for _, x := range events {
		if x.Object != e.Object {
			continue
		}
		switch {
		case x.Kind == history.Invoke && x.Op == "register":
			asked = x.Value
		case x.Kind == history.Invoke && x.Op == "unregister" && x.Path == e.Path:
			value = 0
		case x.Kind == history.Return && x.Op == "register" && x.Err == nil && x.Path == e.Path:
			value = asked
		}
	}
	return value
}

// perhapsRegistered reports whether after events the client of e has perhaps registered the name that it unregisters.
func perhapsRegistered(events []history.Event, e *history.Event) bool {
	for k := range events {
		x := &events[k]
		if x.Kind != history.Invoke || x.Op != "register" || x.Client != e.Client {
			continue
		}
		refused := false
		for _, y := range events[k:] {
			if y.Kind == history.Crashed && y.Client == x.Client {
				break
			}
			if y.Kind == history.Return && y.Object == x.Object {
				refused = y.Err != nil && y.OK || y.Path != "" && y.Path != e.Path
				break
			}
		}
		if !refused {
			return true
		}
	}
	return false
}

func nextName(r *rand.Rand, h *history.History) history.Event {
	names := []string{"a", "b"}
	object, begun := anyObject(r, h)
	switch {
	case object == 0:
		return history.Event{Kind: history.Calm}
	case r.IntN(40) == 0:
		return history.Event{Kind: history.Crashed, Client: (object-1)%3 + 1}
	case begun == nil:
		e := history.Event{Kind: history.Invoke, Object: object, Op: []string{"register", "resolve", "unregister"}[r.IntN(3)]}
		if e.Op == "register" {
			e.Value = 1 + registrations(h) // no other one's
		} else {
			e.Path = names[r.IntN(2)]
		}
		return e
	}
	e := history.Event{Kind: history.Return, Object: object, Op: begun.Op, Path: begun.Path}
	switch {
	case r.IntN(8) == 0:
		e.Err = errors.New("canceled")
	case e.Op == "register":
		if e.Path = names[r.IntN(2)]; belongs(h, e.Path) != 0 && r.IntN(3) > 0 {
			e.Path, e.Err, e.OK = "", errors.New("taken"), true
		}
	case e.Op == "unregister":
		if e.Client = (object-1)%3 + 1; !perhapsRegistered(h.Events, &e) && r.IntN(8) > 0 {
			e.Err, e.OK = errors.New("not the owner"), true
		}
	case e.Op == "resolve":
		if e.Value = belongs(h, e.Path); r.IntN(6) == 0 {
			e.Value = r.Int64N(1 + registrations(h))
		}
	}
	return e
}

// registrations returns how many were begun.
func registrations(h *history.History) (n int64) {
	for _, e := range h.Events {
		if e.Kind == history.Invoke && e.Op == "register" {
			n++
		}
	}
	return n
}

// belongs returns what a name resolves to, 0 if it may belong to nobody.
func belongs(h *history.History, name string) (value int64) {
	registering := map[int32]int64{}
	for _, e := range h.Events {
		switch {
		case e.Kind == history.Invoke && e.Op == "register":
			registering[e.Object] = e.Value
		case e.Kind == history.Invoke && e.Op == "unregister" && e.Path == name:
			value = 0
		case e.Kind == history.Return && e.Op == "register" && e.Err == nil && e.Path == name:
			value = registering[e.Object]
		}
	}
	return value
}
