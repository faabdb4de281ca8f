package simrun

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"zksim/internal/edit"
)

// parse parses flags that may come before and after n arguments.
func parse(f *flag.FlagSet, args []string, n int) error {
	rest, err := parseMixed(f, args)
	switch {
	case err != nil:
		return err
	case len(rest) > n:
		return fmt.Errorf("unexpected argument %q", rest[n])
	case len(rest) < n:
		return fmt.Errorf("an argument is missing, expected %s", commandNamed(f.Name()).args)
	}
	return f.Parse(append([]string{"--"}, rest...))
}

// parseMixed parses flags that may come before, between and after arguments, which it
// returns.
func parseMixed(f *flag.FlagSet, args []string) ([]string, error) {
	help := f.Usage
	f.Usage = func() {} // which the flag package calls after mistakes, too
	var rest []string
	for {
		if err := f.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				help()
			}
			return nil, meantFlag(f, err)
		}
		if f.NArg() == 0 {
			return rest, nil
		}
		rest = append(rest, f.Arg(0))
		args = f.Args()[1:]
	}
}

// unknownFlag is how the flag package begins the error of a flag that there is not.
const unknownFlag = "flag provided but not defined: -"

// meantFlag adds to the error of a misspelt flag which one was meant.
func meantFlag(f *flag.FlagSet, err error) error {
	name, unknown := strings.CutPrefix(err.Error(), unknownFlag)
	if !unknown {
		return err
	}
	var known []string
	f.VisitAll(func(x *flag.Flag) { known = append(known, "-"+x.Name) })
	return fmt.Errorf("%w%s", err, edit.Meant("-"+name, known))
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// columnsOf tells how wide a terminal is.
func columnsOf(f *os.File) func() int {
	return func() int {
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil || width <= 0 {
			return usualColumns
		}
		return width
	}
}
