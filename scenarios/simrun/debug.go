package simrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"

	"zksim/internal/files"
	"zksim/internal/pipeline"
	"zksim/scenarios/engine"
)

// debugger is the program that -debug runs.
const debugger = "dlv"

// errNoDebugger says how to get the debugger.
var errNoDebugger = errors.New("-debug needs Delve, and there is no dlv in PATH; " +
	"go install github.com/go-delve/delve/cmd/dlv@latest installs it")

// goOn holds the address where the code of a client goes on. The debugger reads it from the argument.
//
//go:noinline
func goOn(pc uintptr) uintptr { return pc }

// stopScript makes the debugger stop where the code of the client goes on: goOn knows the address, in that process.
const stopScript = `def main():
	pc = eval(None, "pc").Variable.Value
	dlv_command("clearall")
	dlv_command("break *" + str(pc))
	dlv_command("continue")
`

// replayStopping runs a schedule for a debugger, which stops before a step.
func replayStopping(s *engine.Scenario, schedule engine.Schedule, step int) error {
	place, err := engine.PlaceOf(s, schedule, step)
	if err != nil {
		return err
	}
	r := engine.NewRunner()
	defer r.Close()
	_, err = r.ReplayStopping(s, schedule, step, func() { goOn(place.PC) })
	return err
}

// replayDebugged prints where the code of a client goes on in a step, and runs the debugger, which stops there.
func (a *app) replayDebugged(ctx context.Context, s *engine.Scenario, schedule engine.Schedule, file string, step int,
) error {
	if file == stdStream {
		return errors.New("the standard input is for the debugger, expected a schedule in a file")
	}
	place, err := engine.PlaceOf(s, schedule, step)
	if err != nil {
		return fmt.Errorf("-debug: %w", err)
	}
	dir, start, err := debuggerFiles()
	if err != nil {
		return fmt.Errorf("-debug: %w", err)
	}
	args := append(debuggee(dir), "--init", start, "--allow-non-terminal-interactive=true", "--", "replay", "-stop",
		strconv.Itoa(step), file)
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = pipeline.Quote(arg)
	}
	fmt.Fprintf(a.out, "step %d  %s\n%s %s\n", step, place, debugger, strings.Join(quoted, " "))
	program, err := exec.LookPath(debugger)
	if err != nil {
		return errNoDebugger
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.in, a.out, a.err
	if a.wide != nil { // it edits lines only on a terminal
		cmd.Stdout = os.Stdout
	}
	forDebugger := make(chan os.Signal, 1) // at an interrupt it stops the program, and goes on itself
	signal.Notify(forDebugger, os.Interrupt)
	defer signal.Stop(forDebugger)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", debugger, err)
	}
	return nil
}

// debuggerFiles writes what the debugger starts with, and returns the folder and the file to give to it. They are
// always the same, and stay, so that the printed command can be run again.
func debuggerFiles() (dir, start string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", "", err
	}
	dir = filepath.Join(cache, "zksim", "debug")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", "", err
	}
	script := filepath.Join(dir, "stop.star")
	return dir, filepath.Join(dir, "start.txt"), errors.Join(files.Save(dir, "stop.star", text(stopScript)),
		files.Save(dir, "start.txt", text("break zksim/scenarios/simrun.goOn\ncontinue\nsource "+script+"\n")))
}

// debuggee returns how the debugger gets this program: built again without optimizations if go run has built it,
// otherwise as it is.
func debuggee(dir string) []string {
	command := invocation()
	if pkg, ok := strings.CutPrefix(command, "go run "); ok {
		return []string{"debug", pkg, "--output", filepath.Join(dir, fmt.Sprintf("program-%d", os.Getpid()))}
	}
	file, err := os.Executable()
	if err != nil {
		file = os.Args[0]
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if folder := folderOf(info); folder != "" {
			return []string{"debug", folder, "--output", filepath.Join(dir, fmt.Sprintf("program-%d", os.Getpid()))}
		}
	}
	return []string{"exec", file}
}
