package simrun

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"golang.org/x/term"
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
		return fmt.Errorf("an argument is missing; see simrun %s -h", f.Name())
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
			return nil, err
		}
		if f.NArg() == 0 {
			return rest, nil
		}
		rest = append(rest, f.Arg(0))
		args = f.Args()[1:]
	}
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
