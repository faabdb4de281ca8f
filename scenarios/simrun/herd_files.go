package simrun

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"zksim/internal/files"
	"zksim/internal/plots"
	"zksim/model/history"
	"zksim/scenarios/herd"
)

// column is one of the tables.
type column struct {
	name  string // in the CSV file
	title string // for people; empty: not for them
	of    func(m *herd.Measurement) string
}

var herdColumns = []column{
	{"variant", "variant", func(m *herd.Measurement) string { return m.Variant }},
	{"clients", "clients", func(m *herd.Measurement) string { return strconv.Itoa(m.Clients) }},
	{"backend", "", func(m *herd.Measurement) string { return m.Backend }},
	{"seed", "", func(m *herd.Measurement) string { return strconv.FormatUint(m.Seed, 10) }},
	{"events", "events", func(m *herd.Measurement) string { return strconv.Itoa(m.Events) }},
	{"notifications", "notifications", func(m *herd.Measurement) string { return number(m.Notifications) }},
	{"burst", "at once", func(m *herd.Measurement) string { return strconv.Itoa(m.Burst) }},
	{"wasted", "in vain", func(m *herd.Measurement) string { return number(m.Wasted) }},
	{"requests", "requests", func(m *herd.Measurement) string { return number(m.Requests) }},
	{"txns", "txns", func(m *herd.Measurement) string { return number(m.Txns) }},
	{"messages", "messages", func(m *herd.Measurement) string { return number(m.Messages) }},
	{"watches", "watches", func(m *herd.Measurement) string { return strconv.Itoa(m.Watches) }},
	{"request_rate", "", func(m *herd.Measurement) string { return number(m.Rate) }},
	{"handover_p50_ms", "hand-over p50 ms", func(m *herd.Measurement) string { return number(ms(m.P50)) }},
	{"handover_p99_ms", "hand-over p99 ms", func(m *herd.Measurement) string { return number(ms(m.P99)) }},
	{"read_quiet_ms", "read, quiet ms", func(m *herd.Measurement) string { return number(ms(m.Quiet)) }},
	{"read_spike_ms", "read, spike ms", func(m *herd.Measurement) string { return number(ms(m.Spike)) }},
	{"mntr_watches_fired", "", served(func(s *herd.Server) int { return s.Fired })},
	{"client_notifications", "", served(func(s *herd.Server) int { return s.Notifications })},
	{"mntr_packets_received", "", served(func(s *herd.Server) int { return s.Received })},
	{"client_packets_sent", "", served(func(s *herd.Server) int { return s.Sent })},
	{"mntr_watch_count", "", served(func(s *herd.Server) int { return s.Watches })},
	{"client_watches", "", served(func(s *herd.Server) int { return s.Expected })},
	{"mntr_approximate_data_size", "", served(func(s *herd.Server) int { return s.DataSize })},
}

// served returns a column for a figure of a real ensemble.
func served(of func(s *herd.Server) int) func(m *herd.Measurement) string {
	return func(m *herd.Measurement) string {
		if m.Server == nil {
			return ""
		}
		return strconv.Itoa(of(m.Server))
	}
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// short is like number, for people.
func short(s string) string {
	if x, err := strconv.ParseFloat(s, 64); err == nil && x != float64(int64(x)) {
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return s
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// table shows the measurements to people. If there is a real measurement, a cell has the simulated and the real value,
// or one value if they are equal.
func (s *sweep) table() plots.Table {
	t := plots.Table{Title: "All numbers"}
	if s.real {
		t.Text = "One number if the simulation and the real ensemble agree, else both, the simulated one first."
	}
	for _, j := range s.done() {
		var row []string
		for _, c := range herdColumns {
			if c.title == "" {
				continue
			}
			cell := short(c.of(j.simulated))
			if j.live != nil {
				if real := short(c.of(j.live)); real != cell {
					cell += " / " + real
				}
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	for _, c := range herdColumns {
		if c.title != "" {
			t.Columns = append(t.Columns, c.title)
		}
	}
	return t
}

// measurements returns all finished measurements, each simulated one before its real one.
func (s *sweep) measurements() (all []herd.Measurement) {
	for _, j := range s.done() {
		all = append(all, *j.simulated)
		if j.live != nil {
			all = append(all, *j.live)
		}
	}
	return all
}

// publish prints the tables and writes the files. It returns the exit status: a forbidden difference is a violation.
func (s *sweep) publish(a *app, dir string) (int, error) {
	page := s.page()
	memories := s.memories()
	page.Figures = append(page.Figures, memoryFigure(memories))
	differences, code := s.differences()
	if s.real {
		page.Tables = append(page.Tables, comparison(differences, false))
	}
	page.Tables = append(page.Tables, s.table(), memoryTable(memories))
	if err := print(a.out, s.table()); err != nil {
		return 0, err
	}
	if s.real {
		s.explain(a, differences)
	}
	all := s.measurements()
	contents := map[string]func(io.Writer) error{
		"herd.html": page.Write,
		"herd.json": func(w io.Writer) error { return json.NewEncoder(w).Encode(all) },
		"herd.csv":  func(w io.Writer) error { return writeCSV(w, all) },

		"memory.json": func(w io.Writer) error { return json.NewEncoder(w).Encode(memories) },
		"memory.csv":  func(w io.Writer) error { return writeTable(w, memoryTable(memories)) },
	}
	if s.real {
		contents["compare.json"] = func(w io.Writer) error { return json.NewEncoder(w).Encode(differences) }
		contents["compare.csv"] = func(w io.Writer) error { return writeTable(w, comparison(differences, true)) }
	}
	for _, f := range page.Figures {
		contents[f.Name+".svg"], contents[f.Name+".png"] = f.SVG, f.PNG
	}
	for _, name := range s.occasional() {
		if contents[name] == nil {
			if err := files.Remove(filepath.Join(dir, name)); err != nil {
				return 0, err
			}
		}
	}
	for name, write := range contents {
		if err := files.Save(dir, name, write); err != nil {
			return 0, err
		}
	}
	_, err := fmt.Fprintf(a.out, "\n%s\n", filepath.Join(dir, "herd.html"))
	return code, err
}

// occasional are the files that only some runs write. One of an earlier run would look like one of this run.
func (s *sweep) occasional() []string {
	names := []string{"compare.json", "compare.csv"}
	for _, f := range s.figures() {
		names = append(names, f.name+".svg", f.name+".png")
	}
	return names
}

// print prints a table for people.
func print(out io.Writer, t plots.Table) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{t.Columns}, t.Rows...) {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

func writeCSV(w io.Writer, all []herd.Measurement) error {
	var t plots.Table
	for _, x := range herdColumns {
		t.Columns = append(t.Columns, x.name)
	}
	for i := range all {
		var row []string
		for _, x := range herdColumns {
			row = append(row, x.of(&all[i]))
		}
		t.Rows = append(t.Rows, row)
	}
	return writeTable(w, t)
}

// page is the page without its tables.
func (s *sweep) page() plots.Page {
	page := plots.Page{Title: "The herd effect", Lead: herdLead}
	if s.real {
		page.Lead = append(page.Lead[:len(page.Lead):len(page.Lead)], herdReal)
	}
	jobs := s.done()
	for _, f := range s.figures() {
		if figure := f.draw(jobs); !figure.Empty() {
			page.Figures = append(page.Figures, figure)
		}
	}
	for _, v := range s.variants {
		if slices.ContainsFunc(jobs, func(j *job) bool { return j.Variant == v }) {
			page.Terms = append(page.Terms, plots.Term{Name: v.Name, Text: describeVariant(v)})
		}
	}
	return page
}

// describeVariant says what a variant is, what it is counted by, and what it promises, as far as it says so.
func describeVariant(v *herd.Variant) string {
	var promises []string
	for _, c := range v.Claims {
		promises = append(promises, c.Doc)
	}
	var says []string
	if v.Doc != "" {
		says = append(says, upper(v.Doc)+".")
	}
	if v.Goes != "" {
		says = append(says, "Counted by: "+v.Goes+".")
	}
	if len(promises) > 0 {
		says = append(says, "Promised: "+strings.Join(promises, "; ")+".")
	}
	if v.Most > 0 {
		says = append(says, fmt.Sprintf("Measured with up to %s; with more it would take too long.",
			history.Counted(v.Most, "client")))
	}
	return strings.Join(says, " ")
}

// upper capitalizes the first letter of a text, which is not empty.
func upper(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// memories measures the memory of as many watches as there are clients. Nothing else may run meanwhile.
func (s *sweep) memories() (all []herd.Memory) {
	var sizes []int
	for _, j := range s.done() {
		sizes = append(sizes, j.clients)
	}
	slices.Sort(sizes)
	for _, n := range slices.Compact(sizes) {
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
		"tables of this model, without the paths, whether they are on one znode or on many. A herd costs no more memory " +
		"than a queue; it costs the server's time. ZooKeeper reports the number of watches (zk_watch_count), but not " +
		"their memory."}
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
