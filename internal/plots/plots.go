// Package plots draws measurements: lines on logarithmic axes, as SVG and PNG, and a page that shows and explains them.
// It is the only package that knows gonum.
package plots

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Chart is a figure with two logarithmic axes.
type Chart struct {
	Name  string // of its files, without extension
	Title string
	X, Y  string // labels of the axes, with units
	Lines []Line
	Over  string // in the legend: what the second series of the lines are
}

// Line is one series. Points that are not positive cannot be on logarithmic axes and are left out.
type Line struct {
	Name string // in the legend
	Look Look   // the zero value means the look for its place among the lines
	X, Y []float64

	// A second series of the line, drawn over the first with crosses and dots.
	OverX, OverY []float64
}

// Empty reports whether there is nothing to draw.
func (c *Chart) Empty() bool {
	return !slices.ContainsFunc(c.Lines, func(l Line) bool { return len(points(l.X, l.Y)) > 0 })
}

func points(xs, ys []float64) plotter.XYs {
	var all plotter.XYs
	for i, x := range xs {
		if x > 0 && ys[i] > 0 {
			all = append(all, plotter.XY{X: x, Y: ys[i]})
		}
	}
	return all
}

// The size: a PNG at 96 dpi is 800 pixels wide. The legend has its own column.
const (
	width   = 600 * vg.Length(1)
	height  = 330 * vg.Length(1)
	between = 14 * vg.Length(1) // plot and legend
)

// palette is the palette of Okabe and Ito, whose colours nearly everybody can tell apart, without its yellow, which is
// too pale for a line.
var palette = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff},
	{0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff}, {0x00, 0x00, 0x00, 0xff},
}

// markers alternate between solid ones of decreasing size and hollow ones of increasing size, so that overlapping
// markers can all be seen.
var markers = []draw.GlyphStyle{
	{Shape: draw.CircleGlyph{}, Radius: 4.5}, {Shape: outline(4), Radius: 6}, {Shape: draw.PyramidGlyph{}, Radius: 3.5},
	{Shape: outline(24), Radius: 7}, {Shape: draw.BoxGlyph{}, Radius: 1.8}, {Shape: outline(3), Radius: 9},
	{Shape: draw.CrossGlyph{}, Radius: 4}, {Shape: draw.PlusGlyph{}, Radius: 5},
}

// Look is the colour and the marker of a line, numbered from 1. A line whose marker has an even number is dashed, and
// lies above the others.
type Look struct{ Color, Marker int }

// How many colours and markers there are.
var (
	Colors  = len(palette)
	Markers = len(markers)
)

// look returns the look of line i.
func (c *Chart) look(i int) Look {
	if look := c.Lines[i].Look; look != (Look{}) {
		return look
	}
	return Look{i%Colors + 1, i%Markers + 1}
}

// otherFont is how much wider a text may become in a viewer that has none of the fonts of a drawing.
const otherFont = 1.17

var sans = font.Font{Typeface: "Liberation", Variant: "Sans"}

// PNG writes the figure, 800 pixels wide. The chart must not be empty.
func (c *Chart) PNG(w io.Writer) error {
	canvas := vgimg.New(width, height)
	if err := c.draw(draw.New(canvas), 1); err != nil {
		return err
	}
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}

// SVG writes the figure. The chart must not be empty.
func (c *Chart) SVG(w io.Writer) error {
	canvas := vgsvg.New(width, height)
	if err := c.draw(draw.New(canvas), otherFont); err != nil {
		return err
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	family := []byte("font-family:Liberation Sans")
	_, err := w.Write(bytes.ReplaceAll(b.Bytes(), family, append(family, ", Arial, Helvetica, sans-serif"...)))
	return err
}

// draw draws the figure, with room times the space that the legend should take.
func (c *Chart) draw(canvas draw.Canvas, room vg.Length) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text = c.Title, c.X
	p.Title.TextStyle.Font = font.From(sans, 13)
	p.Title.Padding = 8
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Scale, axis.Tick.Marker = plot.LogScale{}, ticks{}
		axis.Label.TextStyle.Font, axis.Tick.Label.Font = font.From(sans, 11), font.From(sans, 10)
		axis.Label.Padding = 4
	}
	legend, err := c.plot(p)
	if err != nil {
		return err
	}
	decades(&p.X)
	decades(&p.Y)
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Rectangle.Path())
	canvas = draw.Crop(canvas, 6, -6, 6, -6)
	box := legend.Rectangle(canvas)
	column := room * (box.Max.X - box.Min.X)
	legend.Draw(draw.Crop(canvas, canvas.Max.X-canvas.Min.X-column, 0, 0, -30))

	// The library would leave room for the label in the wrong place, because it does not know that the axis is
	// logarithmic.
	label := p.Y.Label.TextStyle
	label.Rotation, label.XAlign, label.YAlign = math.Pi/2, draw.XCenter, draw.YTop
	area := draw.Crop(canvas, label.Height(c.Y)+6, -column-between, 0, 0)
	data := p.DataCanvas(area)
	canvas.FillText(label, vg.Point{X: canvas.Min.X, Y: data.Center().Y}, c.Y)
	p.Draw(area)
	return nil
}

// plot adds the lines to a plot and to its legend. Dashed ones lie above the others.
func (c *Chart) plot(p *plot.Plot) (plot.Legend, error) {
	legend := plot.NewLegend()
	legend.TextStyle.Font = font.From(sans, 10)
	legend.Top, legend.Left, legend.Padding, legend.ThumbnailWidth = true, true, 5, 26
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{0xcc}, color.Gray{0xcc}
	p.Add(grid)
	var above []plot.Plotter
	for i := range c.Lines {
		own := points(c.Lines[i].X, c.Lines[i].Y)
		if len(own) == 0 {
			continue
		}
		line, marks, err := plotter.NewLinePoints(own)
		if err != nil {
			return legend, fmt.Errorf("%s: %s: %w", c.Name, c.Lines[i].Name, err)
		}
		look := c.look(i)
		line.Color, line.Width = palette[look.Color-1], 1.5
		marks.GlyphStyle = markers[look.Marker-1]
		marks.GlyphStyle.Color = line.Color
		if look.Marker%2 == 0 {
			line.Dashes = []vg.Length{5, 3}
			above = append(above, line, marks)
		} else {
			p.Add(line, marks)
		}
		legend.Add(c.Lines[i].Name, line, marks)
		over, err := c.Lines[i].over(line.Color)
		if err != nil {
			return legend, err
		}
		above = append(above, over...)
	}
	p.Add(above...)
	if c.Over != "" {
		legend.Add(c.Over, crosses{})
	}
	return legend, nil
}

// cross marks the points of a second series. It is visible beside every other marker.
var cross = draw.GlyphStyle{Shape: draw.CrossGlyph{}, Radius: 5}

// over returns the plotters of the second series.
func (l *Line) over(c color.Color) ([]plot.Plotter, error) {
	second := points(l.OverX, l.OverY)
	if len(second) == 0 {
		return nil, nil
	}
	line, marks, err := plotter.NewLinePoints(second)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.Name, err)
	}
	line.Color, line.Width, line.Dashes = c, 1, []vg.Length{1, 2.5}
	marks.GlyphStyle = cross
	marks.GlyphStyle.Color = c
	return []plot.Plotter{line, marks}, nil
}

// crosses is the second series in the legend.
type crosses struct{}

// Thumbnail implements [plot.Thumbnailer].
func (crosses) Thumbnail(c *draw.Canvas) {
	style := draw.LineStyle{Color: color.Black, Width: 1, Dashes: []vg.Length{1, 2.5}}
	middle := c.Center()
	c.StrokeLine2(style, c.Min.X, middle.Y, c.Max.X, middle.Y)
	glyph := cross
	glyph.Color = color.Black
	c.DrawGlyph(glyph, middle)
}

// outline is a hollow polygon with that many corners and a level base.
type outline int

// DrawGlyph implements [draw.GlyphDrawer].
func (n outline) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	c.SetLineStyle(draw.LineStyle{Color: style.Color, Width: 1.2})
	var path vg.Path
	for k := range int(n) {
		angle := (2*float64(k)+1)*math.Pi/float64(n) - math.Pi/2
		corner := at.Add(vg.Point{X: vg.Length(math.Cos(angle)), Y: vg.Length(math.Sin(angle))}.Scale(style.Radius))
		if k == 0 {
			path.Move(corner)
		} else {
			path.Line(corner)
		}
	}
	path.Close()
	c.Stroke(path)
}

// ticks are the ticks of the library, with all digits.
type ticks struct{}

// Ticks implements [plot.Ticker].
func (ticks) Ticks(least, most float64) []plot.Tick {
	// A little less, or the library takes 0.1 for more than 0.1 and leaves it out.
	all := plot.LogTicks{Prec: -1}.Ticks(least*(1-1e-9), most)
	for i, t := range all {
		if !t.IsMinor() {
			all[i].Label = strconv.FormatFloat(t.Value, 'f', -1, 64)
		}
	}
	return all
}

// decades widens an axis to whole powers of ten.
func decades(axis *plot.Axis) {
	axis.Min = math.Pow(10, math.Floor(math.Log10(axis.Min)))
	axis.Max = math.Pow(10, math.Ceil(math.Log10(axis.Max)))
	if axis.Min == axis.Max {
		axis.Max *= 10
	}
}
