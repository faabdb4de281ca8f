// Package simrun is the command line of the tool. A program with scenarios of its own is
//
//	func main() { simrun.Main(myScenarios...) }
//
// and has all commands that cmd/simrun has for the recipes of this module; the commands that it prints name it.
package simrun

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"zksim/scenarios/engine"
	"zksim/scenarios/herd"
	"zksim/scenarios/pipeline"
)

// Exit statuses.
const (
	exitHeld             = 0
	exitViolation        = 1
	exitUsage            = 2
	exitInconclusive     = 3
	exitNondeterministic = 4
)

// command is a subcommand.
type command struct {
	name, args, doc string
	run             func(ctx context.Context, a *app, args []string) (int, error)
	listens         bool // ends by itself when ctx is done; others listen once they have read their files, or never
}

var commands []command

// app is where a command reads and writes.
type app struct {
	all      []engine.Scenario // what there is to run
	variants []herd.Variant    // for herd
	command  string            // how the program is called, in commands that it prints
	out, err io.Writer
	terminal bool // err is one
}

// to is a with another output.
func (a *app) to(out io.Writer) *app {
	return &app{all: a.all, variants: a.variants, command: a.command, out: out, err: a.err, terminal: a.terminal}
}

// Main runs the command line of the process for these scenarios, and exits.
func Main(all ...engine.Scenario) { Tool{Scenarios: all}.Main() }

// Tool is a command line.
type Tool struct {
	Scenarios []engine.Scenario
	Variants  []herd.Variant // for the command herd
}

// Main runs the command line of the process, and exits.
func (t Tool) Main() {
	if isVetTool(os.Args[1:]) {
		vetTool()
	}
	a := &app{all: t.Scenarios, variants: t.Variants, command: invocation(), out: os.Stdout, err: os.Stderr,
		terminal: isTerminal(os.Stderr)}
	os.Exit(a.main(context.Background(), os.Args[1:]))
}

// invocation returns how the program was called, for the commands that it prints.
func invocation() string {
	file, err := os.Executable()
	info, ok := debug.ReadBuildInfo()
	if err != nil || !ok || !strings.Contains(filepath.ToSlash(file), "/go-build") {
		return pipeline.Quote(os.Args[0])
	}
	// That is where go run builds. It takes the path of a package, or its folder.
	folder, inside := strings.CutPrefix(info.Path, info.Main.Path+"/")
	switch {
	case info.Path == info.Main.Path, info.Path == "command-line-arguments":
		return "go run ."
	case inside && isFolder(folder):
		return "go run ./" + folder
	}
	return "go run " + info.Path
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// main runs a command line and returns the exit status.
func (a *app) main(ctx context.Context, args []string) int {
	commands = []command{
		{"list", "", "what there is to run", list, false},
		{"check", "", "run scenarios over many seeds", check, true},
		{"prove", "", "explore all schedules of a bounded scenario", proveCommand, true},
		{"replay", "FILE", "run one schedule again", replay, false},
		{"shrink", "FILE", "print a minimal schedule that fails in the same way", shrink, false},
		{"why", "FILE", "find the step of a failing schedule that decides it", why, false},
		{"diff", "A B", "find where two schedules, or two histories, part", diff, false},
		{"conform", "", "compare the simulator with recordings or with real servers", conformance, true},
		{"museum", "", "print the page of the broken recipes and what it takes to catch them", museum, true},
		{"strategies", "", "measure what it takes each strategy to catch the broken recipes", strategies, true},
		{"herd", "", "measure and draw how many clients recipes wake", herdEffect, true},
		{"vet", "[PACKAGES]", "find what simulated code must not have", vetCommand, true},
		{"version", "", "print the version", version, false},
	}
	if len(args) == 0 {
		a.usage(a.err)
		return exitUsage
	}
	if args[0] == "help" || args[0] == "-h" || args[0] == "-help" || args[0] == "--help" {
		args = []string{"help"}
	}
	help := command{name: "help", run: func(_ context.Context, a *app, _ []string) (int, error) {
		a.usage(a.out)
		return exitHeld, nil
	}}
	for _, c := range append(commands[:len(commands):len(commands)], help) {
		if c.name != args[0] {
			continue
		}
		code, err := a.run(ctx, c, args[1:])
		if err != nil {
			fmt.Fprintf(a.err, "simrun %s: %s\n", c.name, oneLine(err.Error()))
			return exitUsage
		}
		return code
	}
	fmt.Fprintf(a.err, "simrun: no command %q; there are %s\n", args[0], strings.Join(names(), ", "))
	return exitUsage
}

// run runs a command. What it printed must have arrived: a full disk is an error.
func (a *app) run(ctx context.Context, c command, args []string) (int, error) {
	if c.listens {
		var stop context.CancelFunc
		ctx, stop = listen(ctx)
		defer stop()
	}
	out := &printer{w: a.out}
	code, err := c.run(ctx, a.to(out), args)
	if errors.Is(err, flag.ErrHelp) {
		code, err = exitHeld, nil
	}
	if err == nil {
		err = out.err
	}
	return code, err
}

// listen returns a context that is done at the first signal to end. The second one ends the program at once.
func listen(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// interrupted says that a command was, and what it has not done.
func (a *app) interrupted(command string, undone []string) {
	fmt.Fprintf(a.err, "simrun %s: interrupted", command)
	if len(undone) > 0 {
		fmt.Fprintf(a.err, "; not done: %s", strings.Join(undone, ", "))
	}
	fmt.Fprintln(a.err)
}

// printer remembers the first error of writing, for those who print and do not look.
type printer struct {
	w   io.Writer
	err error
}

// Write implements [io.Writer].
func (p *printer) Write(text []byte) (int, error) {
	if p.err != nil {
		return 0, p.err
	}
	n, err := p.w.Write(text)
	p.err = err
	return n, err
}

func names() []string {
	var all []string
	for _, c := range commands {
		all = append(all, c.name)
	}
	return all
}

func (a *app) usage(w io.Writer) {
	fmt.Fprintln(w, "Simrun runs coordination recipes for ZooKeeper through simulated and real ensembles.\n\nUsage:")
	for _, c := range commands {
		fmt.Fprintf(w, "  simrun %-14s %s\n", strings.TrimSpace(c.name+" "+c.args), c.doc)
	}
	fmt.Fprintln(w, "\n\"simrun COMMAND -h\" shows the flags of a command.\n\nExit status:")
	for _, x := range []struct {
		code int
		doc  string
	}{
		{exitHeld, "everything held, and every broken recipe was caught"},
		{exitViolation, "a violation"},
		{exitUsage, "wrong usage, an internal error, or a file that cannot be written; verdicts are printed before"},
		{exitInconclusive, "inconclusive, or interrupted before a violation was found"},
		{exitNondeterministic, "one seed gave two different runs"},
	} {
		fmt.Fprintf(w, "  %d  %s\n", x.code, x.doc)
	}
}

// oneLine makes sure that an error stays on the one line it is given.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

// flags makes a flag set whose errors are returned rather than printed, and
// whose help goes to the standard output.
func (a *app) flags(name, args string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {
		fmt.Fprintf(a.out, "Usage: simrun %s\n", strings.TrimSpace(name+" [flags] "+args))
		f.SetOutput(a.out)
		f.PrintDefaults()
		f.SetOutput(io.Discard)
	}
	return f
}

func version(_ context.Context, a *app, args []string) (int, error) {
	if len(args) > 0 {
		return 0, fmt.Errorf("takes no arguments, not %q", args[0])
	}
	v, revision := "(devel)", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			v = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = " " + s.Value
			}
		}
		fmt.Fprintf(a.out, "simrun %s%s %s\n", v, revision, info.GoVersion)
	}
	return exitHeld, nil
}
