package plots

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	_ "image/png"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

var chart = Chart{Name: "test", Title: "Cost & benefit", X: "clients", Y: "latency (ms)", Lines: []Line{
	{Name: "a<b", X: []float64{1, 10, 100}, Y: []float64{0, 3, 30}},
	{Name: "nothing", X: []float64{1, 2}, Y: []float64{0, 0}},
	{Name: "one", X: []float64{5}, Y: []float64{5}},
}}

func TestPNGIs800PixelsWideAndShowsEachLine(t *testing.T) {
	var b bytes.Buffer
	if err := chart.PNG(&b); err != nil {
		t.Fatal(err)
	}
	img, _, err := image.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if img.Bounds().Dx() != 800 {
		t.Errorf("%v", img.Bounds())
	}
	seen := make([]int, len(palette))
	for x := range img.Bounds().Dx() {
		for y := range img.Bounds().Dy() {
			r, g, b, _ := img.At(x, y).RGBA()
			for i, c := range palette {
				if uint8(r>>8) == c.R && uint8(g>>8) == c.G && uint8(b>>8) == c.B {
					seen[i]++
				}
			}
		}
	}
	if seen[0] < 100 || seen[1] > 0 || seen[2] < 20 || seen[3] > 0 {
		t.Errorf("pixels in the colours of the palette: %v", seen)
	}
}

func TestSVGIsWellFormedAndNamesWhatItShows(t *testing.T) {
	var b strings.Builder
	if err := chart.SVG(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"Cost &amp; benefit", "latency (ms)", ">clients<", "a&lt;b", ">one<", ">100<",
		"sans-serif"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(text, "nothing") || strings.Contains(text, "NaN") {
		t.Error("a line without points is in the legend, or a point is nowhere")
	}
	var again strings.Builder
	if chart.SVG(&again); again.String() != text {
		t.Error("drawn twice it is different")
	}
}

func TestEmpty(t *testing.T) {
	if chart.Empty() || !(&Chart{Lines: chart.Lines[1:2]}).Empty() || !(&Chart{}).Empty() {
		t.Error("a chart is empty if it has no positive points")
	}
}

func TestAxesAreWholeDecades(t *testing.T) {
	for _, c := range [][4]float64{{3, 30, 1, 100}, {1, 1, 1, 10}, {0.02, 10, 0.01, 10}} {
		p := plot.New()
		p.X.Min, p.X.Max = c[0], c[1]
		decades(&p.X)
		if math.Abs(p.X.Min-c[2]) > 1e-9 || p.X.Max != c[3] {
			t.Errorf("from %v to %v: %v to %v", c[0], c[1], p.X.Min, p.X.Max)
		}
	}
	for _, least := range []float64{0.01, 0.1, 1, 10} {
		labelled := map[string]bool{}
		for _, x := range (ticks{}).Ticks(least, 100) {
			labelled[x.Label] = true
		}
		if label := strconv.FormatFloat(least, 'f', -1, 64); !labelled[label] {
			t.Errorf("the axis from %s on has the labels %v", label, labelled)
		}
	}
	for _, x := range (ticks{}).Ticks(1, 1e7) {
		if strings.ContainsAny(x.Label, "e+") {
			t.Errorf("tick %q", x.Label)
		}
	}
}

func TestPageEscapesDataAndNeedsNoOtherFile(t *testing.T) {
	var b strings.Builder
	page := Page{Title: "<Herd>", Lead: []string{"a & b"}, Figures: []Figure{{chart, "means <i>this</i>"}},
		Terms: []Term{{"a<b", "less & more"}}, Tables: []Table{{"All <i>", "x & y", []string{"name", "<b>"},
			[][]string{{"<script>", "1"}}}}}
	if !strings.Contains(pageText, "prefers-color-scheme: dark") {
		t.Error("the page has no dark mode")
	}
	if err := page.Write(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{"<title>&lt;Herd&gt;", "a &amp; b", "means &lt;i&gt;", "<td>&lt;script&gt;</td>",
		`<figure id="test"`, "<code>a&lt;b</code>", "less &amp; more", "<svg ", "All &lt;i&gt;", "x &amp; y"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, not := range []string{"<?xml", "<script", "href=", "src=", "url("} {
		if strings.Contains(text, not) {
			t.Errorf("there is %s", not)
		}
	}
}

func TestALineHasItsOwnLookOrThatOfItsPlace(t *testing.T) {
	c := Chart{Lines: []Line{{}, {Look: Look{Color: 7, Marker: 2}}, {}}}
	if got := []Look{c.look(0), c.look(1), c.look(2)}; got[0] != (Look{1, 1}) || got[1] != (Look{7, 2}) ||
		got[2] != (Look{3, 3}) {
		t.Errorf("%+v", got)
	}
	many := Chart{Lines: make([]Line, 100)}
	if got := many.look(99); got.Color > Colors || got.Marker > Markers {
		t.Errorf("%+v", got)
	}
	moved := chart
	moved.Lines = append([]Line{}, chart.Lines...)
	moved.Lines[0].Look = Look{Color: 4, Marker: 3}
	var b bytes.Buffer
	if err := moved.PNG(&b); err != nil {
		t.Fatal(err)
	}
	img, _, err := image.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	first, fourth := 0, 0
	for x := range img.Bounds().Dx() {
		for y := range img.Bounds().Dy() {
			switch r, g, b, _ := img.At(x, y).RGBA(); (color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 0xff}) {
			case palette[0]:
				first++
			case palette[3]:
				fourth++
			}
		}
	}
	if first > 0 || fourth < 100 {
		t.Errorf("%d pixels in the colour of its place, %d in its own", first, fourth)
	}
}
