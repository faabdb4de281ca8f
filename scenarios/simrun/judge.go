package simrun

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"zksim/internal/judge"
	"zksim/internal/pipeline"
	"zksim/model/history"
	"zksim/reports"
	"zksim/scenarios/serve"
)

// judgeFlags are the flags of judge.
type judgeFlags struct {
	listen, forward, record string
	guards                  []judge.Guard
	long                    time.Duration
}

// judgeTraffic judges what clients and servers say to each other, live or in a history.
func judgeTraffic(ctx context.Context, a *app, args []string) (int, error) {
	var c judgeFlags
	f := a.flags("judge")
	f.StringVar(&c.listen, "listen", "127.0.0.1:2182", "`host:port` for clients")
	f.StringVar(&c.forward, "forward", "", "`host:port` of the server, or of several, separated by commas")
	f.StringVar(&c.record, "record", "", "at the end, write the history to `file`")
	f.Func("guard", "znode that only the holder of a lock may write, as `/config=/locks/config`; may be repeated",
		func(s string) error {
			g, err := judge.ParseGuard(s)
			c.guards = append(c.guards, g)
			return err
		})
	f.DurationVar(&c.long, "for", 0, "end after this `time`; 0: at a signal")
	rest, err := parseMixed(f, args)
	switch {
	case err != nil:
		return 0, err
	case len(rest) > 1:
		return 0, fmt.Errorf("unexpected argument %q", rest[1])
	case len(rest) == 1:
		if name := ofProxy(f); name != "" {
			return 0, fmt.Errorf("-%s is for a proxy, and there is the file %.60q: expected one of them", name, rest[0])
		}
		return c.file(a, rest[0])
	case c.forward == "":
		return 0, errors.New("nothing to judge, expected -forward host:port of a server, or FILE")
	case c.long < 0:
		return 0, fmt.Errorf("-for must not be negative, not %v", c.long)
	}
	return c.proxy(ctx, a)
}

// ofProxy returns a flag that was given and makes no sense with a file; "" if there is none.
func ofProxy(f *flag.FlagSet) (name string) {
	f.Visit(func(x *flag.Flag) {
		if x.Name != "guard" {
			name = x.Name
		}
	})
	return name
}

// file judges a history.
func (c *judgeFlags) file(a *app, file string) (int, error) {
	in, err := a.open(file, pipeline.HistoryFile)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	var text bytes.Buffer // what was read: a file that is no history may have no end
	h, err := reports.ReadHistory(io.TeeReader(in, &text))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", a.fileName(file), err)
	}
	served, gap, err := serve.JudgeRecording(h, io.MultiReader(&text, in))
	switch {
	case err == nil && len(c.guards) > 0:
		return 0, fmt.Errorf("%s was recorded by serve, which knows no locks, expected no -guard", a.fileName(file))
	case err == nil:
		return servedSentence(a.out, &served, gap), nil
	case !errors.Is(err, serve.ErrNoRecording):
		return 0, fmt.Errorf("%s: %w", a.fileName(file), err)
	}
	if e := ofRecipe(h); e != nil {
		return 0, fmt.Errorf("%s has the operation %.60q of a recipe, of which judge knows nothing, expected a history of "+
			"znodes, as judge -record and serve -record write it", a.fileName(file), e.Op)
	}
	j := judge.Judge(h, c.guards)
	return sentence(a.out, &j), nil
}

// ofRecipe returns the first operation of a history that is not on a znode; nil if there is none.
func ofRecipe(h *history.History) *history.Event {
	for i := range h.Events {
		e := &h.Events[i]
		if (e.Kind == history.Invoke || e.Kind == history.Return) && !slices.Contains(judge.Words, e.Op) {
			return e
		}
	}
	return nil
}

// proxy judges connections until the context is done or the time is over.
func (c *judgeFlags) proxy(ctx context.Context, a *app) (int, error) {
	var record *output
	var err error
	if c.record != "" {
		if record, err = a.openOutput("judge", "record", c.record); err != nil {
			return 0, err
		}
	}
	p, err := judge.Listen(c.listen, strings.Split(c.forward, ","))
	if err != nil {
		return 0, err
	}
	defer p.Close()
	fmt.Fprintf(a.out, "ready    %s\n", p.Addr())
	await(ctx, c.long)
	j, h, err := p.Recorder.Judge(c.guards)
	if err != nil {
		return 0, err
	}
	if record != nil {
		// The signal that ended the command does not end this.
		err = record.write(context.WithoutCancel(ctx), func(w io.Writer) error { return reports.WriteHistory(w, h) })
	}
	return sentence(a.out, &j), err
}
