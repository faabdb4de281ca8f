package simrun

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"zksim/internal/plots"
	"zksim/scenarios/herd"
)

// memories measures what as many watches take as there are clients. Nothing else may
// run meanwhile.
func (s *sweep) memories() (all []herd.Memory) {
	var seen []int
	for _, j := range s.done() {
		if !slices.Contains(seen, j.clients) {
			seen = append(seen, j.clients)
		}
	}
	slices.Sort(seen)
	for _, n := range seen {
		all = append(all, herd.WatchMemory(n)...)
	}
	return all
}

func memoryFigure(all []herd.Memory) plots.Figure {
	chart := plots.Chart{Name: "memory", Title: "Memory of watches", X: "watches",
		Y: "memory in the model of a server (KB)"}
	for _, layout := range []string{herd.OwnZnodes, herd.OneZnode} {
		line := plots.Line{Name: layout}
		for _, m := range all {
			if m.Layout == layout {
				line.X, line.Y = append(line.X, float64(m.Watches)), append(line.Y, m.Bytes/1000)
			}
		}
		chart.Lines = append(chart.Lines, line)
	}
	return plots.Figure{Chart: chart, Text: "What watches cost while they wait: about a hundred bytes each in the " +
		"tables of this model, without the paths, whether they are on one znode or on many. " +
		"A herd does not take more memory than a queue; it takes the server's time. ZooKeeper's own figures tell the " +
		"number of watches (zk_watch_count) and not what they take."}
}

func memoryTable(all []herd.Memory) plots.Table {
	t := plots.Table{Title: "Memory of watches", Columns: []string{"layout", "watches", "bytes", "bytes a watch"}}
	for _, m := range all {
		t.Rows = append(t.Rows, []string{m.Layout, strconv.Itoa(m.Watches), fmt.Sprintf("%.0f", m.Bytes),
			fmt.Sprintf("%.0f", m.Bytes/float64(m.Watches))})
	}
	return t
}

func writeTable(w io.Writer, t plots.Table) error {
	c := csv.NewWriter(w)
	c.Write(t.Columns) // Error tells
	c.WriteAll(t.Rows) // and flushes
	return c.Error()
}
