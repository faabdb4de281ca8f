package reports

import (
	"fmt"
	"slices"
	"strings"

	"zksim/model/history"
)

// folded is the height of the lane of clients that are idle.
const folded = 20.0

// clients draws the lanes of the clients. Idle neighbours share one.
func (p *picture) clients(s *spans) {
	_, marked := p.f.place()
	var idle []int32
	fold := func() {
		if len(idle) > 0 {
			p.fold(idle)
		}
		idle = nil
	}
	for c := int32(1); int(c) <= p.f.History.Clients; c++ {
		if !slices.Contains(marked, c) && p.idle(c, s) {
			idle = append(idle, c)
			continue
		}
		fold()
		p.client(c, s)
	}
	fold()
}

// idle reports whether a client does nothing in the steps shown: nothing happens to it, and it has nothing under way.
func (p *picture) idle(c int32, s *spans) bool {
	for i := range p.f.History.Events {
		if e := &p.f.History.Events[i]; e.Client == c && p.visible(int(e.Step)) {
			return false
		}
	}
	all := slices.Concat(s.beliefs, s.operations, s.calls)
	return !slices.ContainsFunc(all, func(x span) bool { return x.client == c && p.shows(x) })
}

// fold makes one lane of clients that are idle.
func (p *picture) fold(idle []int32) {
	names := make([]string, len(idle))
	for i, c := range idle {
		names[i] = client(c)
	}
	label, what := names[0], "is idle"
	if last := len(names) - 1; last > 0 {
		label, what = fmt.Sprintf("%s–%d", names[0], idle[last]), "are idle"
	}
	text := strings.Join(names, ", ") + " " + what + " in the steps shown"
	if len(names) > 4 {
		text = fmt.Sprintf("%s, %s to %s, %s in the steps shown", history.Counted(len(names), "client"), names[0],
			names[len(names)-1],
			what)
	}
	p.add(shape{Kind: "text", Class: "axis start", X: leftMargin, Y: p.Height + folded/2, Text: text, Step: p.first})
	p.lane(label, 0, folded)
}
