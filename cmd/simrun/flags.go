package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

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

// parseShard reads "i/n" with i from 1 to n.
func parseShard(s string) (shard, shards uint64, err error) {
	if s == "" {
		return 0, 0, nil
	}
	a, b, _ := strings.Cut(s, "/")
	i, err1 := strconv.ParseUint(a, 10, 32)
	n, err2 := strconv.ParseUint(b, 10, 32)
	if err1 != nil || err2 != nil || i < 1 || i > n {
		return 0, 0, fmt.Errorf("-shard is i/n with i from 1 to n, as 2/4, not %q", s)
	}
	return i % n, n, nil
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
