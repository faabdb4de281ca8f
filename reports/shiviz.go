package reports

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ShivizPattern is the regular expression with which ShiViz reads what WriteShiviz writes: an event is two lines.
const ShivizPattern = `(?<host>\S*) (?<clock>{.*})\n(?<event>.*)`

// WriteShiviz writes a run for ShiViz, with a vector clock for each event: the hosts are the faults, the servers and
// the clients.
func WriteShiviz(w io.Writer, f *Failure) error {
	x := newChart(f)
	b := bufio.NewWriter(w)
	clocks := make([][]int, len(x.moments))
	now := make([][]int, len(x.hosts))
	for h := range now {
		now[h] = make([]int, len(x.hosts))
	}
	for i := range x.moments {
		m := &x.moments[i]
		clock := now[m.host]
		for _, c := range m.after {
			for h, n := range clocks[c.moment] {
				clock[h] = max(clock[h], n)
			}
		}
		clock[m.host]++
		clocks[i] = slices.Clone(clock)
		var parts []string
		for h, n := range clock {
			if n > 0 {
				parts = append(parts, fmt.Sprintf("%q:%d", x.hosts[h], n))
			}
		}
		fmt.Fprintf(b, "%s {%s}\n%s\n", x.hosts[m.host], strings.Join(parts, ","), m.line())
	}
	return b.Flush()
}

// line describes a moment in one line that is not empty.
func (m *moment) line() string {
	text := cmp.Or(m.text, m.name)
	if m.step > 0 {
		return fmt.Sprintf("%d: %s", m.step, text)
	}
	return text
}
