package checkers

import (
	"fmt"
	"slices"
	"strings"

	"zksim/model/history"
)

// Link is a client that waits in vain.
type Link struct {
	Client int32
	Task   string   // the name of the goroutine that waits; empty for the program
	Paths  []string // of the watches that it waits for
	States []string // for each, the state of the znode: "which c2 has", or "which it has itself"
	Note   string   // how the watch on the first one missed its last change; may be empty
	Watch  string   // the same in short, without steps, if that znode is persistent
	Call   string   // without paths: the operation in which it waits; empty if none is known
	Asked  string   // if the znodes are not known: its last request; may be empty
	Became string   // the session state that it was told of after that; may be empty
	Circle bool     // the client that has what it waits for was named before
	Calls  []string // as in history.Waiting

	owner int32 // the client that has what this one waits for; 0 if there is none
	leads int   // the index of the path that the owner has
}

// Chain returns who holds everybody up in a run that has come to rest. It begins with a client that waits. Each next
// one has what the one before waits for. The last one waits for nobody or was named before. Chain is empty if nobody
// waits.
func Chain(h *history.History) (chain []Link) {
	if h.Outcome != history.Quiet || len(h.Waiting) == 0 {
		return nil
	}
	for x := cause(h); ; {
		l := linkOf(h, x)
		next := slices.IndexFunc(h.Waiting, func(y history.Waiting) bool { return y.Client == l.owner })
		l.Circle = next >= 0 && slices.ContainsFunc(chain, func(y Link) bool { return y.Client == h.Waiting[next].Client })
		chain = append(chain, l)
		if next < 0 || l.Circle || h.Waiting[next].Client == l.Client {
			return chain
		}
		x = h.Waiting[next]
	}
}

// Behind returns clients that wait for the first of a chain, directly or not. Each of them waits for what the next one
// has, and the last waits for what the first of the chain has.
func Behind(h *history.History, chain []Link) (behind []Link) {
	for seen := slices.Clone(chain); len(seen) > 0; {
		k := slices.IndexFunc(h.Waiting, func(x history.Waiting) bool {
			known := func(l Link) bool { return l.Client == x.Client }
			owner, _ := whoHas(h, x)
			return owner == seen[0].Client && !slices.ContainsFunc(seen, known)
		})
		if k < 0 {
			break
		}
		l := linkOf(h, h.Waiting[k])
		behind, seen = slices.Insert(behind, 0, l), slices.Insert(seen, 0, l)
	}
	return behind
}

func linkOf(h *history.History, x history.Waiting) Link {
	l := Link{Client: x.Client, Task: x.Where, Paths: x.Paths, Calls: x.Calls}
	l.owner, l.leads = whoHas(h, x)
	for _, p := range x.Paths {
		l.States = append(l.States, state(h, p, x.Client))
	}
	if k, left := leftIn(h, x); left != "" {
		l.States[k] += left
	}
	if len(x.Paths) > 0 {
		l.Note, l.Watch = missed(h, x.Client, x.Paths[0])
		if !slices.ContainsFunc(h.Tree, func(n history.Node) bool { return n.Path == x.Paths[0] && n.Owner == 0 }) {
			l.Watch = ""
		}
	} else {
		l.Call, l.Asked = callOf(h, x), LastRequest(h, x.Client)
		if l.Call == "" {
			l.Became = became(h, x.Client)
		}
	}
	return l
}

// became returns the last session state that a client was told of after its last request, or "" if it was told of none.
// Code that looks at the state and then asks for news misses what comes in between.
func became(h *history.History, client int32) string {
	for _, e := range slices.Backward(h.Events) {
		if e.Client != client {
			continue
		}
		switch e.Kind {
		case history.Session:
			return e.Op
		case history.Call:
			return ""
		}
	}
	return ""
}

// leftIn looks at the folders whose children a client waits for. It names the znode made last there that is ephemeral
// and that nobody knows, or persistent and made by a client whose sessions up to then are all over. Such a znode may
// stand for somebody who has gone. It also returns the index of the folder.
func leftIn(h *history.History, x history.Waiting) (folder int, left string) {
	last := -2
	for _, n := range h.Tree {
		k := slices.Index(x.Paths, parent(n.Path))
		if k < 0 || !waitsForChildren(h, x.Client, x.Paths[k]) {
			continue
		}
		made, text := len(h.Events)-1, ""
		for made >= 0 && (h.Events[made].Kind != history.Created || h.Events[made].Path != n.Path) {
			made--
		}
		if n.Owner != 0 && !h.Known[n.Path] {
			text = state(h, n.Path, x.Client)
		} else if c := pastAuthor(h, made); n.Owner == 0 && c != 0 {
			text = fmt.Sprintf("which c%d made in a session that is over", c)
		}
		if text != "" && made > last {
			folder, left, last = k, fmt.Sprintf(" and holds %s, %s", n.Path, text), made
		}
	}
	return folder, left
}

// waitsForChildren reports whether the last watch that a client asked for at path was on the children.
func waitsForChildren(h *history.History, client int32, path string) bool {
	for _, e := range slices.Backward(h.Events) {
		if e.Kind == history.Call && e.Client == client && e.Path == path && leavesWatch(e.Op) {
			return e.Op == callChildren
		}
	}
	return false
}

// pastAuthor returns the client that made a znode, at event made, if all sessions that it had had by then are over.
// Otherwise it returns 0.
func pastAuthor(h *history.History, made int) int32 {
	if made < 0 {
		return 0
	}
	author, over := h.Events[made].Client, false
	for _, e := range h.Events[:made] {
		if e.Kind == history.Session && e.Client == author && e.Session != 0 {
			if over = h.Sessions[e.Session] == 0; !over {
				return 0
			}
		}
	}
	if !over {
		return 0
	}
	return author
}

// LastRequest returns the last request of a client, such as "getW /a", or "" if it has made none.
func LastRequest(h *history.History, client int32) string {
	for _, e := range slices.Backward(h.Events) {
		if e.Kind == history.Call && e.Client == client {
			return strings.TrimRight(e.Op+" "+e.Path, " ")
		}
	}
	return ""
}

// callOf returns the latest operation that the goroutine of x has begun and not ended, or "".
func callOf(h *history.History, x history.Waiting) string {
	ended := map[int32]bool{} // objects whose operation ends later
	for _, e := range slices.Backward(h.Events) {
		switch {
		case e.Client != x.Client || e.Task != x.Where:
		case e.Kind == history.Return:
			ended[e.Object] = true
		case e.Kind == history.Invoke && !ended[e.Object]:
			return e.Op
		}
	}
	return ""
}

// whoHas returns the client that has what another waits for, and the index of that path; 0 if there is none. A client
// that also watches what it has itself, to learn that it is lost, waits for others.
func whoHas(h *history.History, x history.Waiting) (owner int32, path int) {
	for k, p := range x.Paths {
		i := slices.IndexFunc(h.Tree, func(n history.Node) bool { return n.Path == p })
		if i < 0 || !h.Known[p] {
			continue
		}
		if has := h.Sessions[h.Tree[i].Owner]; owner == 0 || has != x.Client {
			owner, path = has, k
		}
	}
	return owner, path
}

// missed says when a znode that nobody has was last changed, and when a client left its watch there: once with steps
// and once in short. Where txns are not recorded it says nothing.
func missed(h *history.History, client int32, path string) (note, short string) {
	asked, left, last, children := -1, -1, -1, false
	for i := range h.Events {
		e := &h.Events[i]
		if e.Client != client || e.Path != path || !leavesWatch(e.Op) {
			continue
		}
		switch e.Kind {
		case history.Call:
			asked, children = i, e.Op == callChildren
		case history.Reply:
			left = i
		}
	}
	if left < asked || asked < 0 || h.Known[path] {
		return "", ""
	}
	for i := range h.Events {
		e := &h.Events[i]
		list := e.Kind == history.Created || e.Kind == history.Deleted
		if e.Path == path && (list || e.Kind == history.Changed && !children) || list && children && parent(e.Path) == path {
			last = i
		}
	}
	if last < 0 {
		return "", ""
	}
	step := func(i int) int32 { return h.Events[i].Step }
	when := fmt.Sprintf("its last change was at step %d, ", step(last))
	by := ""
	if x := &h.Events[last]; x.Client != 0 {
		by = fmt.Sprintf(", by c%d", x.Client)
	} else if x.Session != 0 {
		by = ", by the end of a session"
	}
	switch {
	case last < asked:
		return when + fmt.Sprintf("before c%d asked for the watch, at step %d", client, step(asked)),
			"by a watch that it asked for after the last change" + by
	case last < left:
		return when + fmt.Sprintf("while c%d asked for the watch, at steps %d to %d", client, step(asked), step(left)),
			"by a watch that it asked for during the last change" + by
	}
	return when + fmt.Sprintf("after c%d had left the watch, at step %d", client, step(left)),
		"by a watch that it left before the last change" + by
}

// sentence returns a chain in words.
func sentence(chain []Link) string {
	var b strings.Builder
	for i, l := range chain {
		if i > 0 {
			b.WriteString("; ")
		}
		switch {
		case len(l.Paths) > 0:
			var waits []string
			for k, p := range l.Paths {
				if i == 0 || k == l.leads {
					waits = append(waits, p+", "+l.States[k])
				}
			}
			fmt.Fprintf(&b, "c%d waits for %s", l.Client, strings.Join(waits, ", and for "))
			if i == 0 && l.Watch != "" && len(waits) == 1 {
				b.WriteString(", " + l.Watch)
			}
		case i == 0:
			where := ""
			if l.Call != "" {
				where = " in its " + l.Call
			}
			fmt.Fprintf(&b, "c%d waits%s for something that will never happen, and for no watch", l.Client, where)
			if l.Asked != "" {
				fmt.Fprintf(&b, ", after its last request, %s", l.Asked)
			}
			if l.Became != "" {
				fmt.Fprintf(&b, ", and the news of its session, %s", l.Became)
			}
		default:
			fmt.Fprintf(&b, "c%d waits for no watch", l.Client)
		}
		if l.Circle {
			b.WriteString(": a circle")
		}
	}
	return b.String()
}
