package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"zksim/model/history"
)

// picture is a stack of lanes over the steps: faults, servers, clients. Its parts are plain shapes, which the template
// of the page writes as SVG.
type picture struct {
	*names
	f           *Failure
	first, last int // steps shown
	Pitch       float64
	Left        float64 // where the first step begins
	Width       float64
	Height      float64
	Timed       bool // virtual time goes on
	Lanes       []lane
	Shapes      []shape
}

// lane is a horizontal strip with a label.
type lane struct {
	Client    int32
	Label     string
	Y, Height float64
	Marked    bool // the violation shows here
	Scaled    bool // from 0 to 100%
}

// LabelY is the middle of the first row, or of a scale.
func (l lane) LabelY() float64 {
	if l.Scaled {
		return l.Y + l.Height/2
	}
	return l.Y + min(14, l.Height/2)
}

// ScaleTop and ScaleBottom are where 100% and 0% are.
func (l lane) ScaleTop() float64    { return l.Y + curveMargin }
func (l lane) ScaleBottom() float64 { return l.Y + l.Height - curveMargin }

// shape is a part of the picture.
type shape struct {
	Kind       string // rect, text, line, mark, area
	Class      string
	X, Y, W, H float64 // of a line: W and H are its end; of a mark: W is its radius
	Text       string
	Title      string
	Client     int32
	Step       int    // for the script: what a click selects
	Points     string // of an area: its corners
}

// Measures in pixels.
const (
	pictureWidth = 1176
	leftMargin   = 14
	rightMargin  = 30
	minPitch     = 13.0 // if all steps fit so
	widePitch    = 18.0 // if they do not
	maxPitch     = 44.0
	letter       = 6.65 // of the picture's font
	rowHeight    = 18.0
	barHeight    = 15.0
	axisHeight   = 48.0
	stripHeight  = 5.0
	radius       = 6.5   // of a mark
	repeated     = 560.0 // from one label of a bar to the next
	gap          = 7.0   // between a label and the next mark
)

func (p *picture) x(step int) float64 { return leftMargin + (float64(step-p.first)+0.5)*p.Pitch }

// step returns the step at x.
func (p *picture) step(x float64) int { return p.first + int((x-leftMargin)/p.Pitch) }

// width returns the width of a label with its margin.
func (p *picture) width(label string) float64 {
	return 4 + letter*float64(utf8.RuneCountInString(p.text(label)))
}

// draw makes the picture of the steps first to last.
func draw(f *Failure, n *names, first, last int) *picture {
	p := &picture{names: n, f: f, first: first, last: last, Left: leftMargin}
	count := float64(last - first + 1)
	if p.Pitch = math.Floor(min(maxPitch, (pictureWidth-leftMargin-rightMargin)/count)); p.Pitch < minPitch {
		p.Pitch = widePitch
	}
	p.Width = max(pictureWidth, leftMargin+count*p.Pitch+rightMargin)
	p.Height = axisHeight
	p.chances()
	p.faults()
	tops := map[int64]float64{}
	if !f.live() {
		p.servers(tops)
	}
	s := newSpans(f)
	p.clients(s)
	p.arrows(tops)
	p.axis()
	p.violation()
	return p
}

func (p *picture) add(s shape) {
	s.Text, s.Title = p.text(s.Text), p.text(s.Title)
	for _, v := range []*float64{&s.X, &s.Y, &s.W, &s.H} {
		*v = math.Round(*v*10) / 10
	}
	p.Shapes = append(p.Shapes, s)
}

// lane ends a lane below the others, after what is in it.
func (p *picture) lane(label string, client int32, height float64) {
	p.Lanes = append(p.Lanes, lane{Client: client, Label: label, Y: p.Height, Height: height})
	p.Height += height
}

// visible reports whether a step is in the picture.
func (p *picture) visible(step int) bool { return step >= p.first && step <= p.last }

// shows reports whether a part of a span is in the picture.
func (p *picture) shows(x span) bool { return x.to >= p.first && x.from <= p.last }

// faults draws the lane of what was injected.
func (p *picture) faults() {
	l := p.newLabels()
	for i := range p.f.History.Events {
		e := &p.f.History.Events[i]
		if !p.visible(int(e.Step)) {
			continue
		}
		switch e.Kind {
		case history.Fault:
			p.mark(l, shape{Class: "fault", Text: e.Op, Title: e.Op + ": " + p.f.Trace.Steps[e.Step-1].Did, Client: e.Client,
				Step: int(e.Step)}, "!")
		case history.Calm:
			p.mark(l, shape{Class: "calm", Text: "no more faults", Title: "no more faults from here on", Step: int(e.Step)}, "○")
		}
	}
	p.lane("faults", 0, l.height())
}

var signs = map[history.Kind]string{history.Created: "+", history.Changed: "~", history.Deleted: "−"}

// servers draws the lanes of the ensemble. It notes where the txns of the leader are, by zxid.
func (p *picture) servers(tops map[int64]float64) {
	l := p.newLabels()
	for i := range p.f.History.Events {
		e := &p.f.History.Events[i]
		sign, txn := signs[e.Kind]
		if !txn || !p.visible(int(e.Step)) {
			continue
		}
		p.mark(l, shape{Class: "txn " + e.Kind.String(), Text: e.Path, Title: committed(e), Client: e.Client,
			Step: int(e.Step)}, sign)
		tops[e.Zxid] = p.Shapes[len(p.Shapes)-1].Y
	}
	leader, first := "s1", 2
	if p.f.elects() {
		leader, first = "leader", 1
	}
	p.lane(leader, 0, l.height())
	for k := first; k <= p.f.Report.Servers; k++ {
		p.follower(k)
	}
}

// elects reports whether another server than s1 leads at some time.
func (f *Failure) elects() bool {
	return slices.ContainsFunc(f.Trace.Steps, func(s history.Step) bool {
		verb, _, _ := strings.Cut(s.Name, " ")
		return verb == "depose" || verb == "elect"
	})
}

// follower draws the lane of a server that lags: when it applied a txn, and when it was cut off.
func (p *picture) follower(k int) {
	name := fmt.Sprintf("s%d", k)
	y := p.Height + 10
	cut := 0
	back := func(step int) {
		p.bar(span{from: cut, to: step, class: "cutoff", text: "cut off", title: name + " is cut off from the leader"}, y-7)
	}
	for i := range p.f.Trace.Steps {
		step := &p.f.Trace.Steps[i]
		for _, r := range step.Rows {
			if r.Table != history.Servers || r.Key != name {
				continue
			}
			if off := r.Cells[1] == "yes"; off && cut == 0 {
				cut = i + 1
			} else if !off && cut > 0 {
				back(i + 1)
				cut = 0
			}
		}
		if step.Name == "replicate "+name && p.visible(i+1) {
			p.add(shape{Kind: "mark", Class: "applied", X: p.x(i + 1), Y: y, W: 2.5, Title: step.Did, Step: i + 1})
		}
	}
	if cut > 0 {
		back(p.last)
	}
	p.lane(name, 0, 20)
}

// client draws the lane of a client: its session, what it believes, what it does.
func (p *picture) client(c int32, s *spans) {
	y := p.Height + 6
	for _, x := range s.sessions {
		if x.client == c {
			p.strip(x, y)
		}
	}
	y += stripHeight + 4
	for _, list := range [][]span{s.beliefs, s.operations, s.calls} {
		var ends []int // of each row, by step
		for _, x := range list {
			if x.client != c || !p.shows(x) {
				continue
			}
			row := 0
			for row < len(ends) && ends[row] > x.from {
				row++
			}
			if row == len(ends) {
				ends = append(ends, 0)
			}
			ends[row] = max(x.to, x.from+1)
			if x.open { // it is drawn beyond its last step
				ends[row]++
			}
			if left, width := p.ends(x); x.class == "belief" { // its label may stand beside it
				ends[row] = max(ends[row], p.step(left+width+p.width(x.text)+gap)+1)
			}
			p.bar(x, y+rowHeight*float64(row))
		}
		y += rowHeight * float64(len(ends))
	}
	p.lane(client(c), c, y+6-p.Height)
}

// ends returns where a span begins and ends in the picture.
func (p *picture) ends(x span) (left, width float64) {
	left = p.x(max(x.from, p.first))
	if x.from < p.first {
		left -= p.Pitch / 2
	}
	right := p.x(min(x.to, p.last))
	if x.open || x.to > p.last {
		right += p.Pitch / 2
	}
	return left, max(right-left, 4)
}

func (p *picture) strip(x span, y float64) {
	if !p.shows(x) {
		return
	}
	left, width := p.ends(x)
	p.add(shape{Kind: "rect", Class: "strip " + x.class, X: left, Y: y, W: width, H: stripHeight, Title: x.title,
		Client: x.client, Step: max(x.from, p.first)})
}

// bar draws a span with as much of its text as fits.
func (p *picture) bar(x span, y float64) {
	if !p.shows(x) {
		return
	}
	left, width := p.ends(x)
	width = max(width-1.5, 4)
	p.add(shape{Kind: "rect", Class: "bar " + x.class, X: left, Y: y, W: width, H: barHeight, Title: x.title,
		Client: x.client, Step: max(x.from, p.first)})
	text := p.text(x.text)
	letters, room, class := utf8.RuneCountInString(text), int((width-6)/letter), "in "+x.class
	if x.class == "belief" && letters > room && left+width+p.width(x.text) < p.Width {
		left, room, class = left+width, letters, "beside"
	}
	if room < 3 && letters > room {
		return
	}
	text = Within(text, room)
	again := max(repeated, 2*p.width(text))
	for at := left + 4; ; at += again { // a long bar can be read wherever one has scrolled to
		p.add(shape{Kind: "text", Class: class, X: at, Y: y + barHeight/2 + 0.5, Text: text, Title: x.title,
			Client: x.client, Step: max(x.from, p.first)})
		if class == "beside" || p.Width == pictureWidth || at+again+p.width(text) > left+width {
			return
		}
	}
}

// top is where a client's lane begins.
func (p *picture) top(c int32) float64 {
	for _, l := range p.Lanes {
		if l.Client == c && c > 0 {
			return l.Y
		}
	}
	return axisHeight
}

// arrows draws arrows from the txns to the clients that were told of them.
func (p *picture) arrows(tops map[int64]float64) {
	h := p.f.History
	from := map[int64]int{}
	for i := range h.Events {
		e := &h.Events[i]
		if _, txn := signs[e.Kind]; txn {
			from[e.Zxid] = int(e.Step)
		}
		if e.Kind != history.Notify || !p.visible(int(e.Step)) {
			continue
		}
		title, class := narrate(h, i)
		x, y := p.x(int(e.Step)), p.top(e.Client)+5
		arrow := shape{Kind: "line", Class: "arrow " + class, X: x, Y: y - 9, W: x, H: y, Title: title, Client: e.Client,
			Step: int(e.Step)}
		if start, known := from[e.Zxid]; known && p.visible(start) {
			arrow.X, arrow.Y = p.x(start), tops[e.Zxid]+radius
		}
		p.add(arrow)
		if class == wastedLine {
			p.add(shape{Kind: "mark", Class: wastedLine, X: x, Y: y + 2, W: radius, Text: "×", Title: title, Client: e.Client,
				Step: int(e.Step)})
		}
	}
}

// axis numbers the steps, and shows virtual time where it moves on.
func (p *picture) axis() {
	every := 1
	if p.Pitch < 30 {
		every = 5
	}
	now, end := p.f.Trace.Steps[p.first-1].Time, 0.0
	p.Timed = p.f.Trace.Steps[p.last-1].Time > 0
	if p.Timed {
		now--
	}
	for s := p.first; s <= p.last; s++ {
		if s%every == 0 || s == p.first {
			p.add(shape{Kind: "text", Class: "axis", X: p.x(s), Y: 38, Text: fmt.Sprint(s), Step: s})
		}
		if t := p.f.Trace.Steps[s-1].Time; t != now {
			if text := seconds(t); p.x(s) > end {
				p.add(shape{Kind: "text", Class: "time", X: p.x(s), Y: 24, Text: text, Step: s})
				end = p.x(s) + letter*float64(len(text)) + 12
			}
			now = t
		}
	}
}

// violation marks the step and the lanes in which the violation shows.
func (p *picture) violation() {
	step, clients := p.f.place()
	for i := range p.Lanes {
		p.Lanes[i].Marked = slices.Contains(clients, p.Lanes[i].Client)
	}
	text := "× " + p.f.Verdict.Checker + " violated"
	title := p.f.Verdict.Checker + ": " + p.f.Verdict.Message
	x, width := p.x(step)-p.Pitch/2, 1.12*letter*float64(len(text)) // it is bold
	p.add(shape{Kind: "rect", Class: "violation", X: x, W: p.Pitch, H: p.Height, Title: title, Step: step})
	last := len(p.Shapes) - 1 // behind everything, so that texts keep their colours
	p.Shapes = append([]shape{p.Shapes[last]}, p.Shapes[:last]...)
	p.add(shape{Kind: "text", Class: "flag", X: min(x, p.Width-width-6), Y: 10, Text: text, Title: title, Step: step})
}
