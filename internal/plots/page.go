package plots

import (
	"bytes"
	_ "embed" // for the template
	"html/template"
	"io"
)

// Page is a page of figures and tables. It needs no other file.
type Page struct {
	Title   string
	Lead    []string // paragraphs
	Figures []Figure
	Terms   []Term
	Tables  []Table
}

// Table is a table and what it means.
type Table struct {
	Title, Text string
	Columns     []string
	Rows        [][]string
}

// Term is a name in the figures and what it stands for.
type Term struct{ Name, Text string }

// Figure is a chart and what it means.
type Figure struct {
	Chart
	Text string // a paragraph
}

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// Write writes the page.
func (p *Page) Write(w io.Writer) error { return pageTemplate.Execute(w, p) }

// Drawing is the figure as an element of a page.
func (f Figure) Drawing() (template.HTML, error) {
	var b bytes.Buffer
	if err := f.SVG(&b); err != nil {
		return "", err
	}
	_, svg, _ := bytes.Cut(b.Bytes(), []byte("<svg"))
	return template.HTML("<svg" + string(svg)), nil // names in it were escaped by the canvas
}
