package zktest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"zksim/internal/stacks"
)

// outlook is what is known about the events that goroutines wait for.
type outlook uint8

const (
	maybe outlook = iota // it may come
	never                // nothing more can happen
)

// waits says what goroutines wait for, except those of the client library.
func waits(list []stacks.Goroutine, o outlook) string {
	var text []string
	for _, g := range list {
		if strings.HasPrefix(g.State, "synctest.") { // ours
			continue
		}
		if frames := codeOf(&g); len(frames) > 0 {
			text = append(text, wait(&g, frames, o))
		}
	}
	return together(text)
}

// mostWaits limits how many different ways of waiting are named.
const mostWaits = 3

// together joins the texts about goroutines, and counts equal ones.
func together(text []string) string {
	slices.Sort(text)
	var list []string
	for len(text) > 0 && len(list) < mostWaits {
		n := len(text)
		if i := slices.IndexFunc(text, func(x string) bool { return x != text[0] }); i > 0 {
			n = i
		}
		list = append(list, text[0])
		switch n {
		case 1:
		case 2:
			list[len(list)-1] += ", and 1 more does"
		default:
			list[len(list)-1] += fmt.Sprintf(", and %d more do", n-1)
		}
		text = text[n:]
	}
	switch n := len(text); n {
	case 0:
	case 1:
		list = append(list, "1 more is elsewhere")
	default:
		list = append(list, fmt.Sprintf("%d more are elsewhere", n))
	}
	return strings.Join(list, "; ")
}

// wait says what one goroutine waits for, as in "c2 waits in pool.go:88 for a channel that nobody will send to". A
// goroutine is named by the pprof label client, which the goroutines that it starts inherit.
func wait(g *stacks.Goroutine, frames []stacks.Frame, o outlook) string {
	who := "a goroutine"
	if _, name, ok := strings.Cut(g.Labels, `"client": "`); ok {
		who, _, _ = strings.Cut(name, `"`)
	}
	if strings.HasPrefix(g.State, "runn") { // running, runnable
		return fmt.Sprintf("%s goes on in %s", who, calls(frames))
	}
	where := path.Base(frames[0].Func) // the place is in the text already
	if len(frames) > 1 {
		where += calledBy + calls(frames[1:])
	}
	return fmt.Sprintf("%s waits in %s:%d %s (%s)", who, path.Base(frames[0].File), frames[0].Line, object(g.State, o),
		where)
}

// objects lists what a goroutine in a state waits for, and why in vain if nothing else will happen.
var objects = []struct{ state, object, vain string }{
	{"chan receive", "for a channel", " that nobody will send to"},
	{"chan send", "for a channel", " that nobody will receive from"},
	{"select", "for channels", " of which none will be ready"},
	{"sync.Mutex", "for a mutex", " that nobody will unlock"},
	{"sync.RWMutex", "for a mutex", " that nobody will unlock"},
	{"sync.WaitGroup", "for a WaitGroup", " that nobody will complete"},
	{"sync.Cond", "for a condition", " that nobody will signal"},
	{coroutine, "for the other side of an iter.Pull", ""},
	{"sleep", "for time to pass", ""},
	{"IO wait", "for a file or a socket", ""},
}

func object(state string, o outlook) string {
	for _, x := range objects {
		switch {
		case !strings.HasPrefix(state, x.state):
		case o == never:
			return x.object + x.vain
		default:
			return x.object
		}
	}
	return "(" + state + ")"
}
