package simrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"zksim/internal/overlay"
	"zksim/internal/turns"
	"zksim/scenarios/engine"
)

// overlayCommand writes the overlay of the runtime and prints the flags that use it.
func overlayCommand(ctx context.Context, a *app, args []string) (int, error) {
	f := a.flags("overlay")
	dir := f.String("o", "", "write it below this `folder` (default: the user's cache folder)")
	if err := parse(f, args, 0); err != nil {
		return 0, err
	}
	g, err := writeOverlay(ctx, *dir, nil)
	if err != nil {
		return 0, err
	}
	if len(g.env) > 0 {
		a.says("overlay", "this Go is in the module cache, where no file can be replaced; run %s/bin/go with %s", g.root,
			strings.Join(g.env, " "))
	}
	fmt.Fprintln(a.out, strings.Join(g.flags(""), " "))
	return exitHeld, nil
}

// testCommand runs "go test" with the overlay.
func testCommand(ctx context.Context, a *app, args []string) (int, error) {
	if len(args) > 0 && (args[0] == "-h" || args[0] == "-help" || args[0] == "--help") {
		return 0, parse(a.flags("test"), args, 0)
	}
	if ownOverlay(args) {
		return 0, errors.New("-overlay is what this command gives to go test, expected none beside it")
	}
	in, args := cutFolder(args)
	g, err := writeOverlay(ctx, "", in)
	if ctx.Err() != nil {
		a.interrupted("test", nil)
		return exitInconclusive, nil
	}
	if err != nil {
		return 0, err
	}
	tags, args := cutTags(args)
	command := slices.Concat([]string{"test"}, in, g.flags(tags), args)
	cmd := exec.CommandContext(ctx, filepath.Join(g.root, "bin", "go"), command...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.in, a.out, a.err
	cmd.Env = append(append(os.Environ(), g.env...), engine.CommandVariable+"="+a.command+" test")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	err = cmd.Run()
	switch _, exited := errors.AsType[*exec.ExitError](err); {
	case ctx.Err() != nil:
		a.interrupted("test", nil)
		return exitInconclusive, nil
	case exited:
		return exitViolation, nil
	case err != nil:
		return 0, err
	}
	return exitHeld, nil
}

// ownOverlay reports whether the arguments of "go test" name an overlay: of two, only the last would count.
func ownOverlay(args []string) bool {
	for _, arg := range args {
		switch name, _, _ := strings.Cut(arg, "="); name {
		case "-args", "--args":
			return false
		case "-overlay", "--overlay":
			return true
		}
	}
	return false
}

// cutFolder cuts the flag for the working folder out of the arguments of "go test": it must come first.
func cutFolder(args []string) (in, rest []string) {
	n := 0
	if len(args) > 0 {
		switch name, _, given := strings.Cut(args[0], "="); {
		case name != "-C" && name != "--C":
		case given:
			n = 1
		default:
			n = min(2, len(args))
		}
	}
	return args[:n], args[n:]
}

// cutTags cuts the build tags out of the arguments of "go test": of two flags, only the last would count.
func cutTags(args []string) (tags string, rest []string) {
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(strings.TrimPrefix(args[i], "-"), "=")
		switch {
		case args[i] == "-args" || args[i] == "--args":
			return tags, append(rest, args[i:]...)
		case name != "-tags" && name != "tags" || !strings.HasPrefix(args[i], "-"):
			rest = append(rest, args[i])
		case given:
			tags = value
		case i+1 < len(args):
			i++
			tags = args[i]
		}
	}
	return tags, rest
}

// goTool is a Go and an overlay of its runtime.
type goTool struct {
	root, file string
	tags       string   // of GOFLAGS, which a flag overrides
	env        []string // for its go command
}

// flags are those of the go command, with the user's own build tags.
func (g goTool) flags(tags string) []string {
	if tags = cmp.Or(tags, g.tags); tags != "" {
		tags = "," + strings.Join(strings.Fields(tags), ",") // the go command also takes spaces, but not both
	}
	return []string{"-overlay=" + g.file, "-tags=" + turns.Tag + tags}
}

// writeOverlay writes the overlay for the Go that the go command uses here, or in the folder that the flags in name.
func writeOverlay(ctx context.Context, dir string, in []string) (g goTool, err error) {
	if dir == "" {
		if dir, err = os.UserCacheDir(); err != nil {
			return g, err
		}
		dir = filepath.Join(dir, "zksim")
	}
	out, err := exec.CommandContext(ctx, "go", slices.Concat([]string{"env"}, in, []string{"GOROOT", "GOVERSION",
		"GOMODCACHE", "GOFLAGS"})...).Output()
	switch failed, ok := errors.AsType[*exec.ExitError](err); {
	case ok:
		return g, fmt.Errorf("go env: %w, expected a Go that works: %s", err, oneLine(string(failed.Stderr)))
	case err != nil:
		return g, fmt.Errorf("go env: %w", err)
	}
	said := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(said) != 4 {
		return g, fmt.Errorf("go env says %q, expected GOROOT, GOVERSION, GOMODCACHE and GOFLAGS", out)
	}
	g.root = said[0]
	flags := strings.Fields(said[3])
	if ownOverlay(flags) {
		return g, errors.New("GOFLAGS has an -overlay, which that of the runtime would replace, expected none")
	}
	g.tags, _ = cutTags(flags)
	if strings.HasPrefix(g.root, said[2]+string(filepath.Separator)) {
		if g.root, err = overlay.Link(g.root, dir); err != nil {
			return g, err
		}
		g.env = []string{"GOROOT=" + g.root, "GOTOOLCHAIN=local"}
	}
	g.file, err = overlay.Generate(g.root, said[1], turns.Package(), dir)
	return g, err
}
