package reports

// labels places the labels of the marks of a lane so that none lies on another. It takes as many rows as it needs, up
// to mostRows.
type labels struct {
	ends []float64 // of each row
	edge float64   // the right end of the picture
}

const mostRows = 6

func (p *picture) newLabels() *labels { return &labels{edge: p.Width - rightMargin/2} }

// place returns the row for a mark at x with a label of that width, and where the label begins. The label goes to the
// right of the mark if there is room. ok is false if there is no place for it.
func (l *labels) place(x, width float64) (row int, at float64, ok bool) {
	if at = x + 10; at+width > l.edge {
		at = x - 10 - width
	}
	for row = range l.ends {
		if l.ends[row]+gap < min(at, x-6) {
			l.ends[row] = max(at+width, x+6)
			return row, at, true
		}
	}
	if len(l.ends) == mostRows {
		return 0, 0, false
	}
	l.ends = append(l.ends, max(at+width, x+6))
	return len(l.ends) - 1, at, true
}

// height is the height of the lane.
func (l *labels) height() float64 { return 8 + rowHeight*float64(max(1, len(l.ends))) }

// mark adds a sign with a label to the open lane. Where there is no place for the label, it adds only the sign. A label
// that is wider than the wider side of the picture is cut, or it would begin outside.
func (p *picture) mark(l *labels, s shape, sign string) {
	x := p.x(s.Step)
	label := Within(p.text(s.Text), int((max(l.edge-x, x)-10)/letter))
	row, at, labelled := l.place(x, p.width(label)-4)
	if !labelled {
		row, _, _ = l.place(x, 0)
	}
	s.Kind, s.X, s.Y, s.W, s.Text = "mark", x, p.Height+4+rowHeight*float64(row)+rowHeight/2, radius, sign
	p.add(s)
	if labelled {
		p.add(shape{Kind: "text", Class: "label " + s.Class, X: at, Y: s.Y, Text: label, Title: s.Title, Client: s.Client,
			Step: s.Step})
	}
}
