package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"zksim/reports/plots"
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
	{"seed", "", func(m *herd.Measurement) string { return strconv.FormatUint(m.Seed, 10) }},
	{"events", "events", func(m *herd.Measurement) string { return strconv.Itoa(m.Events) }},
	{"notifications", "notifications", func(m *herd.Measurement) string { return number(m.Notifications) }},
	{"burst", "at once", func(m *herd.Measurement) string { return strconv.Itoa(m.Burst) }},
	{"wasted", "in vain", func(m *herd.Measurement) string { return number(m.Wasted) }},
	{"requests", "requests", func(m *herd.Measurement) string { return number(m.Requests) }},
	{"txns", "txns", func(m *herd.Measurement) string { return number(m.Txns) }},
	{"messages", "messages", func(m *herd.Measurement) string { return number(m.Messages) }},
	{"watches", "watches", func(m *herd.Measurement) string { return strconv.Itoa(m.Watches) }},
	{"handover_p50_ms", "hand-over p50 ms", func(m *herd.Measurement) string { return number(ms(m.P50)) }},
	{"handover_p99_ms", "hand-over p99 ms", func(m *herd.Measurement) string { return number(ms(m.P99)) }},
	{"read_quiet_ms", "read, quiet ms", func(m *herd.Measurement) string { return number(ms(m.Quiet)) }},
	{"read_spike_ms", "read, spike ms", func(m *herd.Measurement) string { return number(ms(m.Spike)) }},
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// short is number for people.
func short(s string) string {
	if x, err := strconv.ParseFloat(s, 64); err == nil && x != float64(int64(x)) {
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return s
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// table is what people see of the measurements.
func table(all []herd.Measurement) (titles []string, rows [][]string) {
	rows = make([][]string, len(all))
	for _, c := range herdColumns {
		if c.title == "" {
			continue
		}
		titles = append(titles, c.title)
		for i := range all {
			rows[i] = append(rows[i], short(c.of(&all[i])))
		}
	}
	return titles, rows
}

// publish prints the table and writes the files.
func publish(a *app, dir string, all []herd.Measurement) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	titles, rows := table(all)
	for _, row := range append([][]string{titles}, rows...) {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	page := herdPage(all)
	page.Columns, page.Rows = titles, rows
	files := map[string]func(io.Writer) error{
		"herd.html": page.Write,
		"herd.json": func(w io.Writer) error { return json.NewEncoder(w).Encode(all) },
		"herd.csv":  func(w io.Writer) error { return writeCSV(w, all) },
	}
	for _, f := range page.Figures {
		files[f.Name+".svg"], files[f.Name+".png"] = f.SVG, f.PNG
	}
	for name, write := range files {
		if err := writeFile(filepath.Join(dir, name), write); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(a.out, "\n%s\n", filepath.Join(dir, "herd.html"))
	return err
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := write(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return f.Close()
}

func writeCSV(w io.Writer, all []herd.Measurement) error {
	c := csv.NewWriter(w)
	var head []string
	for _, x := range herdColumns {
		head = append(head, x.name)
	}
	c.Write(head) // Error tells
	for i := range all {
		var row []string
		for _, x := range herdColumns {
			row = append(row, x.of(&all[i]))
		}
		c.Write(row)
	}
	c.Flush()
	return c.Error()
}

// herdPage is the page without its table.
func herdPage(all []herd.Measurement) plots.Page {
	page := plots.Page{Title: "The herd effect", Lead: herdLead}
	for _, f := range herdFigures {
		figure := f.draw(all)
		if !figure.Empty() {
			page.Figures = append(page.Figures, figure)
		}
	}
	for i := range herd.All {
		v := &herd.All[i]
		if slices.ContainsFunc(all, func(m herd.Measurement) bool { return m.Variant == v.Name }) {
			page.Terms = append(page.Terms, plots.Term{Name: v.Name, Text: describeVariant(v)})
		}
	}
	return page
}

// describeVariant says what a variant is, what is counted by, and what it promises.
func describeVariant(v *herd.Variant) string {
	var promises []string
	for _, c := range v.Claims {
		promises = append(promises, c.Doc)
	}
	text := fmt.Sprintf("%s. Counted by: %s.", upper(v.Doc), v.Goes)
	if len(promises) > 0 {
		text += " Promised: " + strings.Join(promises, "; ") + "."
	}
	if v.Most > 0 {
		text += fmt.Sprintf(" Measured with up to %d clients, since its work grows with their square.", v.Most)
	}
	return text
}

// upper makes the first letter one that begins a sentence.
func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
