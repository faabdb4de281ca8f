package simrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"zksim/internal/explore"
	"zksim/scenarios/engine"
)

// exploreRun walks through a run by hand: key by key on a terminal, otherwise line by line.
func exploreRun(ctx context.Context, a *app, args []string) (int, error) {
	f := a.flags("explore")
	run := f.String("run", "", "scenario to run, instead of the schedule in FILE")
	seed := f.Uint64("seed", 0, "with -run: seed that draws servers, faults and order; going forward follows its run")
	rest, err := parseMixed(f, args)
	if err != nil {
		return 0, err
	}
	schedule, s, err := a.exploreWhat(*run, *seed, rest)
	if err != nil {
		return 0, err
	}
	x, err := explore.New(s, schedule)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", strings.Join(append(rest, *run), ""), err) // there is one of them
	}
	defer x.Close()
	if *run != "" {
		if err := x.Goto(0); err != nil {
			return 0, err
		}
	}
	save := func(x *explore.Session, file string) error { return a.saveRun(ctx, x, file) }
	if in, ok := a.in.(*os.File); ok && a.wide != nil && isTerminal(in) {
		err = a.console(ctx, in, x, save)
	} else {
		err = x.Lines(a.in, a.out, a.width(), save)
	}
	if err != nil {
		return 0, err
	}
	return exitHeld, nil
}

// exploreWhat returns where to begin: a schedule, or the run of a seed.
func (a *app) exploreWhat(run string, seed uint64, files []string) (engine.Schedule, *engine.Scenario, error) {
	switch {
	case run == "" && len(files) == 0:
		return engine.Schedule{}, nil, errors.New("an argument is missing, expected FILE, or -run NAME -seed N")
	case run != "" && len(files) > 0:
		return engine.Schedule{}, nil, fmt.Errorf("there is -run, and also the file %.60q: expected one of them", files[0])
	case len(files) > 1:
		return engine.Schedule{}, nil, fmt.Errorf("unexpected argument %q", files[1])
	case run == "" && seed != 0:
		return engine.Schedule{}, nil, fmt.Errorf("-seed is for -run, and there is the file %.60q: expected one of them",
			files[0])
	case run == "" && files[0] == stdStream:
		return engine.Schedule{}, nil, errors.New("the standard input is for what to do, expected a schedule in a file")
	case run == "":
		return a.load(files[0])
	}
	s, err := a.find(run)
	if err == nil {
		err = s.Valid()
	}
	if err != nil {
		return engine.Schedule{}, nil, err
	}
	r := engine.NewRunner()
	defer r.Close()
	r.Strategy = engine.Portfolio // as check does
	res := r.Seed(s, seed)
	if res.Misuse != nil {
		return engine.Schedule{}, nil, res.Misuse
	}
	r.Names(&res)
	return res.Schedule, s, nil
}

// saveRun writes the schedule of a session.
func (a *app) saveRun(ctx context.Context, x *explore.Session, file string) error {
	schedule, err := x.Schedule()
	if err != nil {
		return err
	}
	o, err := a.openOutput("explore", "w", file)
	if err != nil {
		return err
	}
	return o.write(ctx, schedule.Write)
}

// usualRows is the height of a terminal that does not tell its height.
const usualRows = 24

// console explores key by key. It restores the terminal however it ends.
func (a *app) console(ctx context.Context, in *os.File, x *explore.Session, save explore.Saver) error {
	ctx, stop := listen(ctx)
	defer stop()
	old, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return fmt.Errorf("the terminal cannot give single keys: %w", err)
	}
	defer term.Restore(int(in.Fd()), old)
	size := func() (int, int) {
		columns, rows, err := term.GetSize(int(in.Fd()))
		if err != nil || columns <= 0 || rows <= 0 {
			return usualColumns, usualRows
		}
		return columns, rows
	}
	k := explore.NewConsole(x, a.out, size, save)
	defer k.End()
	if err := k.Begin(); err != nil {
		return err
	}
	for typed := range keystrokes(ctx, in) {
		if err := k.Type(typed); errors.Is(err, explore.ErrQuit) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// keystrokes yields what is typed, until the input ends or ctx is done.
func keystrokes(ctx context.Context, in io.Reader) func(yield func([]byte) bool) {
	list := make(chan []byte)
	go func() {
		defer close(list)
		for {
			typed := make([]byte, 256)
			n, err := in.Read(typed)
			if err != nil {
				return
			}
			select {
			case list <- typed[:n]:
			case <-ctx.Done():
				return
			}
		}
	}()
	return func(yield func([]byte) bool) {
		for {
			select {
			case typed, more := <-list:
				if !more || !yield(typed) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}
