package checkers

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"zksim/model/history"
)

var namesFamily = workload{name: "names", checker: Names{}, naive: misnamed, next: nextName,
	end: endOfNames}

// endOfNames says how the run ended, who has come to its end and what is left.
func endOfNames(r *rand.Rand, h *history.History) {
	h.Tree, h.Finished = nil, make([]bool, 4)
	for c := range h.Finished {
		h.Finished[c] = r.IntN(2) == 0
	}
	for value := range registrations(h) {
		if r.IntN(4) == 0 {
			h.Tree = append(h.Tree, history.Node{Path: "/names/" + digits(int32(value)), Data: digits(int32(value + 1))})
		}
	}
	if h.Outcome = history.Quiet; r.IntN(3) > 0 {
		h.Outcome = history.Stopped
	}
}

// leftOver reports whether what a register that failed has made is there in the end.
func leftOver(h *history.History) bool {
	for i, e := range h.Events {
		if e.Kind != history.Invoke || e.Op != "register" || stillAt(h.Events, i) || stopped(h.Events, i) {
			continue
		}
		end := i + slices.IndexFunc(h.Events[i:], func(x history.Event) bool {
			return x.Kind == history.Return && x.Object == e.Object
		})
		left := slices.ContainsFunc(h.Tree, func(n history.Node) bool { return n.Data == digits(int32(e.Value)) })
		if h.Events[end].Err != nil && left && h.Finished[e.Client] && !crashedIn(h.Events, e.Client) {
			return true
		}
	}
	return false
}

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
			own, gives := nameOf(h.Events[:begin(i)], &h.Events[begin(i)])
			switch {
			case own != 0 && e.Err != nil && e.OK:
				return Violated
			case gives != 0 && e.Err == nil:
				for k := range h.Events {
					if answers(k, "resolve") && i < begin(k) && h.Events[k].Path == e.Path && h.Events[k].Value == gives {
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
			case answers(i, "register"), answers(i, "unregister") && k < begin(i) && own.Object != e.Object &&
				!endsAgain(h.Events[:begin(i)], e), answers(i, "resolve") && k < begin(i) && e.Value != value:
				return Violated
			}
		}
	}
	if h.Outcome == history.Quiet && leftOver(h) {
		return Violated
	}
	return OK
}

// nameOf returns what the name of e resolves to if it belongs to the object of e after events; else 0. It also returns
// what the object has registered last by that name.
func nameOf(events []history.Event, e *history.Event) (value, last int64) {
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
			value, last = asked, asked
		}
	}
	return value, last
}

// endsAgain reports whether the object of e has failed, in events, to give up its last registration of a name, and does
// not know yet that it is over.
func endsAgain(events []history.Event, e *history.Event) bool {
	has, failed := false, false
	for _, x := range events {
		switch {
		case x.Kind == history.Crashed && x.Client == e.Client:
			has = has && !failed // what was failed to be given up is forgotten
		case x.Object != e.Object || x.Path != e.Path || x.Kind != history.Return:
		case x.Op == "register" && x.Err == nil:
			has, failed = true, false
		case x.Op == "unregister":
			has, failed = has && x.Err != nil, x.Err != nil
		}
	}
	return has && failed
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

// TestWhichOfTwoRegistrationsWasGivenUpBeforeIsRemembered has a name be resolved between the ends of two of them.
func TestWhichOfTwoRegistrationsWasGivenUpBeforeIsRemembered(t *testing.T) {
	const given = `
		invoke c1 o1 register v1
		return c1 o1 register /a
		invoke c1 o1 unregister /a
		invoke c2 o2 register v2
		return c2 o2 register /a
		invoke c2 o2 unregister /a
	`
	const first, second, asked = `return c1 o1 unregister /a
	`, `return c2 o2 unregister /a
	`, `invoke c3 o3 resolve /a
	`
	hashes, levels := map[uint64]bool{}, map[Level]bool{}
	for _, text := range []string{first + asked + second, second + asked + first} {
		levels[Names{}.Check(script(t, given+text+"return c3 o3 resolve /a v1")).Level] = true
		m := Names{}.Monitor()
		if v := follow(script(t, given+text), m); v.Level != OK {
			t.Fatal(v)
		}
		hashes[digest(m)] = true
	}
	if len(hashes) < 2 || len(levels) < 2 {
		t.Error("the hash does not tell which of them may be an answer")
	}
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

func TestTheMonitorOfNamesTellsTheObjectsOfAClientApart(t *testing.T) {
	const past = `
		invoke c1 %[1]s register v1
		return c1 %[1]s register /a
		invoke c1 %[2]s resolve /b
		return c1 %[2]s resolve /b
	`
	remembersRare(t, Names{}, "which of two objects has registered",
		"invoke c1 o1 unregister /a\nreturn c1 o1 unregister /a", fmt.Sprintf(past, "o1", "o4"),
		fmt.Sprintf(past, "o4", "o1"))
}
