package reports

import (
	"fmt"
	"strings"
	"zksim/model/history"
)

// Measures of the lane of the chance of failure: the height of 100%, the margin, and how many letters of a transition's
// name are shown.
const (
	curveHeight = 30.0
	curveMargin = 9.0
	longestName = 40
)

// chances draws the lane of the chance of failure. In the column of a step it goes from the chance before the step to
// the chance after it.
func (p *picture) chances() {
	w := p.f.Report.Why
	if w == nil || !w.Known(p.first-1) {
		return
	}
	low := p.Height + curveMargin + curveHeight
	y := func(i int) float64 { return low - curveHeight*w.Chance(i) }
	left := p.x(p.first) - p.Pitch/2
	points, last := []string{point(left, low), point(left, y(p.first-1))}, p.first-1
	for s := p.first; s <= p.last && w.Known(s); s++ {
		points, last = append(points, point(p.x(s)+p.Pitch/2, y(s))), s
	}
	if points = append(points, point(p.x(last)+p.Pitch/2, low)); last >= p.first {
		p.add(shape{Kind: "area", Class: "chance", Points: strings.Join(points, " "),
			Title: fmt.Sprintf("the chance that a random run fails that goes on from here without further faults (%d were "+
				"tried after each step)", w.Of)})
	}
	for s := p.first; s <= last && s < len(w.Failed); s++ {
		class, title := "column", fmt.Sprintf("after step %d, %s of %d random futures fail", s, history.Percent(w.Chance(s)),
			w.Of)
		if s == w.Step {
			class = "column decisive"
		}
		p.add(shape{Kind: "rect", Class: class, X: p.x(s) - p.Pitch/2, Y: p.Height + 2, W: p.Pitch,
			H: curveHeight + 2*curveMargin - 4, Title: title, Step: s})
	}
	if p.visible(w.Step) {
		p.decision(w)
	}
	p.lane("chance", 0, curveHeight+2*curveMargin)
	p.Lanes[len(p.Lanes)-1].Scaled = true
}

// decision writes what the step that decides is, beside the step.
func (p *picture) decision(w *history.Futures) {
	name := Within(p.text(w.Name), longestName)
	text := fmt.Sprintf("decides: %s, from %s to %s", name, history.Percent(w.Chance(w.Step-1)),
		history.Percent(w.Chance(w.Step)))
	x := p.x(w.Step) + p.Pitch/2 + gap
	if width := 1.12 * p.width(text); x+width > p.Width { // it is bold
		x -= p.Pitch + 2*gap + width
	}
	p.add(shape{Kind: "text", Class: "decides", X: x, Y: p.Height + curveMargin + curveHeight/2, Text: text,
		Title: w.String(), Step: w.Step})
}

func point(x, y float64) string { return fmt.Sprintf("%.1f,%.1f", x, y) }
