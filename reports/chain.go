package reports

import (
	"fmt"

	"zksim/checkers"
	"zksim/model/history"
)

// chain is the drawing of who waits for what: a box for each client, one below the other. The last client is the one
// that holds everybody up. What a client waits for stands in words beside its box. The drawing fits into a narrow
// window.
type chain struct {
	Width, Height int
	Boxes         []box
	More          string // who is not drawn
}

// box is a client of a chain.
type box struct {
	Client string
	Y      int      // where it begins
	Low    int      // where the next one begins; 0: it is the last
	Root   bool     // it holds everybody up
	Lines  []lineAt // beside it
}

// Foot is where the box ends.
func (b box) Foot() int { return b.Y + chainBox }

type lineAt struct {
	Y     int
	Text  string
	Class string
}

// Measures of a chain. A letter of its text is 6.7 wide.
const (
	chainWidth  = 372
	chainRoom   = 46 // letters in a line
	chainLine   = 16
	chainBox    = 26
	chainLength = 6 // boxes that are drawn at most
)

// drawChain draws why nobody goes on. It returns nil if nobody waits.
func drawChain(h *history.History, n *names) *chain {
	front := checkers.Chain(h)
	if len(front) == 0 {
		return nil
	}
	all := append(checkers.Behind(h, front), front...)
	first := len(all) - len(front) // of those that hold everybody up: one, or all of a circle
	circle := front[len(front)-1].Circle
	c := &chain{Width: chainWidth, Height: 4}
	waiting := map[int32]bool{}
	for _, x := range h.Waiting {
		waiting[x.Client] = true
	}
	drop := max(0, len(all)-chainLength)
	for i, l := range all[drop:] {
		c.add(l, n, drop+i == len(all)-1 || circle && drop+i >= first)
	}
	switch more := len(waiting) - len(c.Boxes); {
	case more == 1:
		c.More = "1 more client waits in vain"
	case more > 1:
		c.More = fmt.Sprintf("%d more clients wait in vain", more)
	}
	return c
}

// add adds a box below the others.
func (c *chain) add(l checkers.Link, n *names, root bool) {
	if k := len(c.Boxes); k > 0 {
		c.Boxes[k-1].Low = c.Height
	}
	b := box{Client: client(l.Client), Y: c.Height, Root: root}
	y := c.Height + chainBox/2
	write := func(class, text string) {
		for _, line := range fold(text, chainRoom) {
			b.Lines = append(b.Lines, lineAt{y, line, class})
			y += chainLine
		}
	}
	if len(l.Paths) == 0 {
		write("waits", "waits for no watch")
	}
	for k, p := range l.Paths {
		write("waits", n.text(fmt.Sprintf("waits for %s, %s", p, l.States[k])))
	}
	if l.Note != "" {
		write("note", l.Note)
	}
	if l.Circle {
		write("note", "which has been here before: a circle")
	}
	c.Boxes = append(c.Boxes, b)
	c.Height = max(y, b.Y+chainBox+chainLine/2) + chainLine/2
}
