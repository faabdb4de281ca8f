package simrun

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"zksim/internal/edit"
	"zksim/internal/shard"
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

// parseMixed parses flags that may come before, between and after arguments, and returns the arguments.
func parseMixed(f *flag.FlagSet, args []string) ([]string, error) {
	help := f.Usage
	f.Usage = func() {} // the flag package also calls it after mistakes
	var rest []string
	for {
		if err := f.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				help()
			}
			return nil, meantFlag(f, err)
		}
		if f.NArg() == 0 {
			return rest, unnamed(f)
		}
		rest = append(rest, f.Arg(0))
		args = f.Args()[1:]
	}
}

// fileFlags name files and folders.
var fileFlags = []string{"cert", "checkpoint", "findings", "junit", "o", "obligations", "perfetto", "record", "replay",
	"report", "shiviz", "verify"}

// filledFlags are other flags that cannot be empty, and what is expected of them.
var filledFlags = map[string]string{
	"admin":    "host:port",
	"checkers": "names of checkers, or state",
	"clients":  "numbers, as 1,10,100", // of herd, elsewhere it is a number
	"control":  "host:port",
	"faults":   "a fault plan, as lose-reply=1, or none",
	"listen":   "host:port",
	"seeds":    "a number or a range, as 1-500",
	"servers":  "host:port,...",
	"shard":    "i/n or auto",
	"token":    "a secret",
	"without":  "reductions, as zxids,idle",
}

// unnamed returns an error if a flag for a file, or for what a command works on, is given an empty value, as from an
// unset shell variable. Otherwise there would be no such file, or other work would be done, as on other servers.
func unnamed(f *flag.FlagSet) (err error) {
	f.Visit(func(x *flag.Flag) {
		want := filledFlags[x.Name]
		if slices.Contains(fileFlags, x.Name) {
			want = "the name of a file or folder"
		}
		if err == nil && want != "" && x.Value.String() == "" {
			err = fmt.Errorf("-%s is empty, expected %s", x.Name, want)
		}
	})
	return err
}

// unknownFlag is how the flag package begins the error for an unknown flag.
const unknownFlag = "flag provided but not defined: -"

// wrongValue matches how the flag package says that it cannot read a value, without saying what it expects.
var wrongValue = regexp.MustCompile(
	`^invalid (?:boolean )?value (".*") for (?:flag )?-([^ ]+): (parse error|value out of range)$`)

// meantFlag adds to the error for a misspelt flag which one was meant, and to the error for a value what was expected.
func meantFlag(f *flag.FlagSet, err error) error {
	if m := wrongValue.FindStringSubmatch(err.Error()); m != nil {
		return fmt.Errorf("-%s: %s is %s", m[2], m[1], wantedOf(f.Lookup(m[2]).Value, m[3]))
	}
	name, unknown := strings.CutPrefix(err.Error(), unknownFlag)
	if !unknown {
		return err
	}
	var known []string
	f.VisitAll(func(x *flag.Flag) { known = append(known, "-"+x.Name) })
	return fmt.Errorf("%w%s", err, cmp.Or(edit.Meant("-"+name, known), "; -h shows those that there are"))
}

// wantedOf says what is wrong with a text that is not a value of a flag.
func wantedOf(v flag.Value, problem string) string {
	what := "a number"
	switch v.(flag.Getter).Get().(type) {
	case bool:
		what = "true or false"
	case time.Duration:
		what = "a time with its unit, as 30s, 10m or 1h30m"
	case uint, uint64:
		what = "a number from 0 on"
	}
	if problem != "parse error" {
		return "too large or too small, expected " + what + " of 64 bits"
	}
	return "not " + what
}

// givenNumber is the value of a flag: a number, or none.
type givenNumber struct {
	n     int
	given bool
}

// String implements [flag.Value].
func (x *givenNumber) String() string {
	if !x.given {
		return ""
	}
	return strconv.Itoa(x.n)
}

// Set implements [flag.Value].
func (x *givenNumber) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return errors.New("expected a number from 0 on")
	}
	x.n, x.given = n, true
	return nil
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// columnsOf returns a function that tells how wide a terminal is.
func columnsOf(f *os.File) func() int {
	return func() int {
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil || width <= 0 {
			return usualColumns
		}
		return width
	}
}

// partFlag is the flag -shard.
type partFlag struct{ text string }

// flag defines the flag; what describes the work of a part.
func (p *partFlag) flag(f *flag.FlagSet, what string) {
	f.StringVar(&p.text, "shard", "", "i/n: do part i of n, which is "+what+"; auto: take the part from the environment "+
		"of Slurm, Kubernetes, Bazel, GitLab, CircleCI or Buildkite, or from ZKSIM_JOB_INDEX and ZKSIM_JOB_TOTAL")
}

// read returns the part, and prints where it comes from if that is not the flag.
func (p *partFlag) read(a *app, command string) (shard.Part, error) {
	part, err := shard.Parse(p.text, os.LookupEnv)
	if err != nil {
		return part, fmt.Errorf("-shard: %w", err)
	}
	if part.From != "" {
		a.says(command, "-shard auto is %v, from %s", part, part.From)
	}
	return part, nil
}
