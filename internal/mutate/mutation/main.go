// Mutation measures how much "simrun check" notices of what can be wrong in package recipes. It makes small changes of
// its source (package mutate says which), runs the scenarios of the recipes with each, as "simrun check" does by
// default, until one fails, and prints the page docs/mutation.md: the score, and every change that nobody notices.
//
// Usage:
//
//	mutation [-n N] [-beside N] [-run REGEXP] [-p N] [-dir DIR] [-v] > docs/mutation.md
//
// All changes are compiled into one program. A run is one of the correct recipes, too, until it comes to the changed
// code, so only seeds are tried of which the correct recipe's run comes there. Code that does not end is stopped by the
// limit of steps or of iterations.
//
// The exit status is 0 when every change that survives is listed in equivalent.txt, with a reason, 1 when others
// survive, and 2 for wrong usage and what cannot be built.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"syscall"

	"zksim/internal/mutate"
)

func main() {
	var o options
	flag.IntVar(&o.n, "n", 0, "try this many mutants, drawn by the hash of what they are (default: all)")
	flag.IntVar(&o.beside, "beside", 0, "leave out those that -n would try with this number")
	run := flag.String("run", "", "only mutants that this regular expression matches, as \"lock.go Lock.Unlock\"")
	flag.IntVar(&o.workers, "p", runtime.GOMAXPROCS(0), "processes at a time")
	flag.BoolVar(&o.verbose, "v", false, "say of each mutant what has caught it, on the standard error")
	flag.StringVar(&o.dir, "dir", "", "keep here what was found, and go on from there while nothing has changed")
	flag.Parse()
	var err error
	if o.match, err = regexp.Compile(*run); err == nil && (flag.NArg() > 0 || min(o.n, o.beside) < 0 || o.workers < 1) {
		err = errors.New("there are no arguments, -n and -beside are not negative and -p is positive; expected as in -help")
	}
	if err != nil {
		exit(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	m, err := measure(ctx, o)
	if err != nil {
		exit(err)
	}
	if _, err := os.Stdout.WriteString(m.page()); err != nil {
		exit(err)
	}
	if len(m.survivors()) > 0 {
		os.Exit(1)
	}
}

// exit ends the program with an error.
func exit(err error) {
	fmt.Fprintln(os.Stderr, "mutation:", err)
	os.Exit(2)
}

// recipes is the package that is changed, and hints are its functions that are for exhaustive search alone.
const recipes = "zksim/recipes"

var hints = []string{"Keep", "Forget"}

// load finds the mutants, and builds the program that tries them.
func load(dir string) (*mutate.Set, string, error) {
	s, err := mutate.Load(recipes, hints...)
	if err != nil {
		return nil, "", err
	}
	overlay, err := s.Overlay(dir)
	if err != nil {
		return nil, "", err
	}
	program, err := build(dir, overlay)
	return s, program, err
}
