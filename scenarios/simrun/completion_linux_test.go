package simrun

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// newTerminal returns both ends of a terminal: what a user sees and types, and what a program does.
func newTerminal(t *testing.T) (user, program *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { user.Close() })
	number, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return user, program
}

// completeAs types lines in an interactive shell, each followed by the tab key, and returns what the shell makes of
// them. The shell is in a folder in which its start-up file is, and appends its line to the file "lines" when it gets
// ^Xd.
func completeAs(t *testing.T, dir, shell string, args, lines []string) (completed []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	user, program := newTerminal(t)
	c := exec.CommandContext(ctx, shell, args...)
	c.Dir, c.Stdin, c.Stdout, c.Stderr = dir, program, program, program
	c.Env = append(os.Environ(), "HOME="+dir, "ZDOTDIR="+dir, "PATH="+dir+":"+os.Getenv("PATH"), "TERM=dumb", "LC_ALL=C")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	program.Close()
	var seen []byte
	shown := make(chan []byte)
	go func() {
		defer close(shown)
		for {
			text := make([]byte, 4096)
			n, err := user.Read(text)
			if err != nil {
				return
			}
			shown <- text[:n]
		}
	}()
	// until waits for what the shell shows, or does.
	until := func(what string, done func() bool) {
		t.Helper()
		for !done() {
			select {
			case text, ok := <-shown:
				if seen = append(seen, text...); !ok {
					shown = nil
				}
				continue
			case <-ctx.Done():
			case <-time.After(10 * time.Millisecond):
				continue
			}
			t.Fatalf("%s has not %s:\n%s", shell, what, seen)
		}
	}
	until("begun", func() bool { return strings.Contains(string(seen), "READY>") })
	for i, line := range lines {
		if _, err := user.WriteString(line + "\t\x18d"); err != nil {
			t.Fatal(err)
		}
		until("completed "+line, func() bool {
			text, _ := os.ReadFile(filepath.Join(dir, "lines"))
			completed = strings.Split(string(text), "\n")
			return len(completed) == i+2
		})
	}
	if _, err := user.WriteString("exit\n"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	var err error
	until("ended", func() bool {
		select {
		case err = <-ended:
			return true
		default:
			return false
		}
	})
	if err != nil {
		t.Errorf("%s: %v\n%s", shell, err, seen)
	}
	return completed[:len(lines)]
}

// What the script completes is tried out in the shells themselves, at a terminal.
func TestShellsComplete(t *testing.T) {
	binary := build(t)
	for _, x := range []struct {
		name, shell, file, text string
		args                    []string
	}{
		{"bash", "bash", "bashrc", `PS1='READY> '
source <(simrun completion bash)
keep() { printf '%s\n' "$READLINE_LINE" >> "$HOME/lines"; READLINE_LINE=; READLINE_POINT=0; }
bind -x '"\C-xd": keep'
`, []string{"--noprofile", "--rcfile", "bashrc", "-i"}},
		{"zsh that reads the script", "zsh", ".zshrc", `autoload -Uz compinit && compinit -u -D
source <(simrun completion zsh)
` + zshKeeps, []string{"-d", "-i"}},
		{"zsh that finds the script", "zsh", ".zshrc", `mkdir functions && simrun completion zsh > functions/_simrun
fpath=($HOME/functions $fpath)
autoload -Uz compinit && compinit -u -D
` + zshKeeps, []string{"-d", "-i"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			shell, err := exec.LookPath(x.shell)
			if err != nil && os.Getenv("ZKSIM_REQUIRE_"+strings.ToUpper(x.shell)) != "" {
				t.Fatal(err)
			}
			if err != nil {
				t.Skip(err)
			}
			dir := t.TempDir()
			if err := os.Link(binary, filepath.Join(dir, "simrun")); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, x.file), x.text)
			write(t, filepath.Join(dir, "a schedule.txt"), "")
			lines := []string{"simrun pro", "simrun check lock/wed", "simrun check -failf", "~/simrun check -strategy pc",
				"./simrun herd -variants lock/seq", "simrun replay a", "simrun completion z"}
			want := []string{"simrun prove", "simrun check lock/wedged", "simrun check -failfast",
				"~/simrun check -strategy pct", "./simrun herd -variants lock/sequential",
				`simrun replay a\ schedule.txt`, "simrun completion zsh"}
			got := completeAs(t, dir, shell, x.args, lines)
			for i := range got {
				got[i] = strings.TrimSpace(got[i])
			}
			if !slices.Equal(got, want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

// zshKeeps is the part of .zshrc that keeps the line.
const zshKeeps = `PS1='READY> '
keep() { print -r -- "$BUFFER" >> $HOME/lines; BUFFER=; }
zle -N keep
bindkey '^Xd' keep
`
