package simrun

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"zksim/internal/pipeline"
	"zksim/reports"
	"zksim/scenarios/serve"
)

// views are the ways in which replay can show a run, besides its verdict.
type views struct {
	story, columns   bool
	perfetto, shiviz string
	files            []view
}

// view is a file for another tool.
type view struct {
	to    *output
	write func(io.Writer, *reports.Failure) error
}

func (v *views) flags(f *flag.FlagSet) {
	f.BoolVar(&v.story, "v", false, "print what happens at each step")
	f.BoolVar(&v.columns, "columns", false, "print the run as a text table with a column per server and client")
	f.StringVar(&v.perfetto, "perfetto", "", "file for a JSON trace, for ui.perfetto.dev and chrome://tracing; - is "+
		"standard output")
	f.StringVar(&v.shiviz, "shiviz", "", "file for ShiViz, with vector clocks; - is standard output")
}

// open checks that the files can be written. The run is read from file.
func (v *views) open(a *app, file string) error {
	if v.perfetto == stdStream && v.shiviz == stdStream {
		return errors.New("-perfetto - and -shiviz - both write to the standard output")
	}
	read := namedFile{"", fileIn(file, pipeline.ScheduleFile)}
	if err := separate(read, namedFile{"perfetto", v.perfetto}, namedFile{"shiviz", v.shiviz}); err != nil {
		return err
	}
	if v.alone() && (v.story || v.columns) {
		return errors.New("-v and -columns write to the standard output, and so does a file -: expected one of them")
	}
	for _, x := range []struct {
		flag, name string
		write      func(io.Writer, *reports.Failure) error
	}{{"perfetto", v.perfetto, reports.WritePerfetto}, {"shiviz", v.shiviz, reports.WriteShiviz}} {
		if x.name == "" {
			continue
		}
		o, err := a.openOutput("replay", x.flag, x.name)
		if err != nil {
			return err
		}
		v.files = append(v.files, view{o, x.write})
	}
	return nil
}

// alone reports whether a file goes to the standard output, which then must have nothing else.
func (v *views) alone() bool { return v.perfetto == stdStream || v.shiviz == stdStream }

// any reports whether anything is to be shown.
func (v *views) any() bool { return v.story || v.columns || len(v.files) > 0 }

// write shows a run.
func (v *views) write(ctx context.Context, a *app, told *reports.Failure) error {
	if v.story {
		if err := reports.WriteStory(a.out, told); err != nil {
			return err
		}
	}
	if v.columns {
		if err := reports.WriteColumns(a.out, told, a.width()); err != nil {
			return err
		}
	}
	var all error
	for _, x := range v.files {
		all = errors.Join(all, x.to.write(ctx, func(w io.Writer) error { return x.write(w, told) }))
	}
	return all
}

// isHistory reports whether a file is a history, not a schedule.
func isHistory(in *bufio.Reader) bool {
	first, err := in.Peek(1)
	return err == nil && first[0] == '{'
}

// viewHistory shows a recorded run, which cannot be run again.
func (a *app) viewHistory(ctx context.Context, v *views, file string, in io.Reader, replays bool) error {
	name, once := a.fileName(file), flows(file)
	if replays || !v.any() {
		err := fmt.Errorf("%s: a history cannot be run again", name)
		if once {
			err = a.onlyFromFile(file)
		}
		return fmt.Errorf("%w, expected -v, -columns, -perfetto or -shiviz to show it", err)
	}
	var text bytes.Buffer
	from := in
	if once {
		from = io.TeeReader(in, &text)
	}
	h, err := reports.ReadHistory(from)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if once { // a recording that is shown without its verdict looks like a pass
		_, err := serve.ReadRecording(io.MultiReader(&text, in))
		if !errors.Is(err, serve.ErrNoRecording) {
			return a.onlyFromFile(file)
		}
	}
	return v.write(ctx, a, reports.Recorded(h))
}
