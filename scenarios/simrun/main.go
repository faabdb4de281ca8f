// Package simrun is the command line of the tool. A program with scenarios of its own is
//
//	func main() { simrun.Main(myScenarios...) }
//
// It has all commands that cmd/simrun has for the recipes of this module. The commands that it prints name the program.
package simrun

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"zksim/internal/pipeline"
	"zksim/reports"
	"zksim/scenarios/engine"
	"zksim/scenarios/herd"
)

// app is what a command runs on, reads from and writes to.
type app struct {
	all      []engine.Scenario // what there is to run
	variants []herd.Variant    // for herd
	name     string            // of the program, in what it prints about itself; "": simrun
	command  string            // how to invoke the program, in commands that it prints
	in       io.Reader
	out, err io.Writer
	terminal bool       // err is one
	columns  func() int // how wide that is; nil: usualColumns
	wide     func() int // how wide out is; nil: it is no terminal
	beat     time.Duration
	place    string                // which of all scenarios is running, as "3/112"; "": the only one
	until    context.Context       // done at the first signal; nil: the command does not listen for signals
	collect  func(f *flag.FlagSet) // gets the flags of a command that is asked for its help; nil: print the help
}

// to is a with another output.
func (a *app) to(out io.Writer) *app {
	b := *a
	b.out = out
	return &b
}

// nth is a for the scenario i of n.
func (a *app) nth(i, n int) *app {
	b := *a
	if n > 1 {
		b.place = fmt.Sprintf("%d/%d", i+1, n)
	}
	return &b
}

// pageColumns is the width of tables if there is no terminal.
const pageColumns = 120

// width is how wide the output may be.
func (a *app) width() int {
	if a.wide == nil {
		return pageColumns
	}
	return a.wide()
}

// says prints a line about a command on the standard error. Errors of a package named like the command already begin
// with that name.
func (a *app) says(command, format string, args ...any) {
	text := strings.TrimPrefix(fmt.Sprintf(format, args...), command+": ")
	fmt.Fprintf(a.err, "%s %s: %s\n", a.called(), command, text)
}

// called is the name of the program.
func (a *app) called() string { return cmp.Or(a.name, "simrun") }

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
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	a := &app{all: t.Scenarios, variants: t.Variants, name: name, command: invocation(), in: os.Stdin, out: os.Stdout,
		err: os.Stderr, terminal: isTerminal(os.Stderr), columns: columnsOf(os.Stderr)}
	if isTerminal(os.Stdout) {
		a.wide = columnsOf(os.Stdout)
	}
	os.Exit(a.main(context.Background(), os.Args[1:]))
}

// invocation returns how the program was called, for the commands that it prints.
func invocation() string {
	file, err := os.Executable()
	info, ok := debug.ReadBuildInfo()
	if err != nil || !ok || !strings.Contains(filepath.ToSlash(file), "/go-build") {
		return pipeline.Quote(os.Args[0])
	}
	// That is where go run builds. It takes the path or the folder of a package.
	if info.Path == info.Main.Path || info.Path == "command-line-arguments" {
		return "go run ."
	}
	return "go run " + cmp.Or(folderOf(info), info.Path)
}

// moduleLine matches the line of a go.mod that names the module.
var moduleLine = regexp.MustCompile(`(?m)^module[ \t]+"?([^\s"]+)`)

// folderOf returns the folder of a program as ./cmd/simrun; "" if this folder is not the root of its module. Another
// module may have such a folder, too.
func folderOf(info *debug.BuildInfo) string {
	text, _ := os.ReadFile("go.mod")
	m := moduleLine.FindSubmatch(text)
	folder, inside := strings.CutPrefix(info.Path, info.Main.Path+"/")
	if m == nil || string(m[1]) != info.Main.Path || !inside || !isFolder(folder) {
		return ""
	}
	return "./" + folder
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// main runs a command line and returns the exit status.
func (a *app) main(ctx context.Context, args []string) int {
	if len(args) == 0 {
		a.usage(a.err)
		return exitUsage
	}
	if args[0] == "-h" || args[0] == "-help" || args[0] == "--help" {
		args[0] = "help"
	}
	if err := a.twice(); err != nil {
		fmt.Fprintf(a.err, "%s: %v\n", a.called(), err)
		return exitUsage
	}
	c := commandNamed(args[0])
	if c == nil {
		fmt.Fprintf(a.err, "%s: %s\n", a.called(), oneLine(noCommand(args[0]).Error()))
		return exitUsage
	}
	code, err := a.run(ctx, c, args[1:])
	if err != nil {
		a.says(c.name, "%s", oneLine(err.Error()))
		return exitUsage
	}
	return code
}

// twice returns an error if two scenarios or two variants have the same name, or names of one folder.
func (a *app) twice() error {
	for _, names := range [][]string{a.names(), a.variantNames()} {
		owners := map[string]string{} // by folder
		for _, name := range names {
			folder := pipeline.FileName(&engine.Scenario{Name: name})
			other, there := owners[folder]
			if owners[folder] = name; there && other == name {
				return fmt.Errorf("two scenarios, or variants, are called %.60q, expected a name of its own for each", name)
			} else if there {
				return fmt.Errorf("%.60q and %.60q both have the folder %.60q, expected a folder of its own for each", other, name,
					folder)
			}
		}
	}
	return nil
}

// run runs a command. Its output must have been written: a full disk is an error.
func (a *app) run(ctx context.Context, c *command, args []string) (int, error) {
	out := &printer{w: a.out}
	b := a.to(out)
	if c.listens {
		var stop context.CancelFunc
		ctx, stop = listen(ctx)
		defer stop()
		b.until = ctx
	}
	code, err := inGoroutine(func() (int, error) { return c.run(ctx, b, args) })
	if errors.Is(err, errNoInput) {
		a.interrupted(c.name, nil)
		return exitInconclusive, nil
	}
	if errors.Is(err, flag.ErrHelp) {
		code, err = exitHeld, nil
	}
	if err == nil {
		err = out.err
	}
	return code, err
}

// inGoroutine calls f in one of its own. If client code ends that one, as runtime.Goexit does, f does not come back,
// and the program would wait forever.
func inGoroutine(f func() (int, error)) (code int, err error) {
	done := make(chan struct{})
	err = engine.ErrEnded
	go func() {
		defer close(done)
		code, err = f()
	}()
	<-done
	return code, err
}

// oneEnd is for how long further signals say the same as the first: timeout(1) sends its signal twice, to the command
// and to the group of processes that the command is in.
const oneEnd = 500 * time.Millisecond

// listen returns a context that is done at the first signal to end. The next signal ends the program at once, unless it
// comes together with the first.
func listen(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, func() { time.AfterFunc(oneEnd, stop) })
	return ctx, stop
}

// interrupted prints that a command was interrupted, and what it has not done.
func (a *app) interrupted(command string, undone []string) {
	text := interrupted
	if len(undone) > 0 {
		text += "; not done: " + strings.Join(undone, ", ")
	}
	a.says(command, "%s", text)
}

// printer remembers the first write error, for callers that do not check.
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

// longestLine is how much of an error is printed, in bytes: part of it may come from a file.
const longestLine = 4000

// oneLine makes an error fit on one line of a terminal.
func oneLine(s string) string {
	if len(s) > longestLine {
		s = fmt.Sprintf("%s... (%d bytes)", s[:longestLine], len(s))
	}
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	return reports.Printable(strings.Join(lines, "; "))
}

func version(_ context.Context, a *app, args []string) (int, error) {
	if err := parse(a.flags("version"), args, 0); err != nil {
		return 0, err
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
		fmt.Fprintf(a.out, "%s %s%s %s\n", a.called(), v, revision, info.GoVersion)
	}
	return exitHeld, nil
}
