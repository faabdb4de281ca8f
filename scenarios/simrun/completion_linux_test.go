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

// session is an interactive shell at a terminal.
type session struct {
	*exec.Cmd
	ctx   context.Context
	user  *os.File
	shown chan []byte // what the shell shows
	seen  []byte
}

// newSession begins a session in a folder, which is its home.
func newSession(t *testing.T, dir, shell string, args ...string) *session {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	user, program := newTerminal(t)
	defer program.Close()
	s := &session{exec.CommandContext(ctx, shell, args...), ctx, user, make(chan []byte), nil}
	s.Dir, s.Stdin, s.Stdout, s.Stderr = dir, program, program, program
	s.Env = append(os.Environ(), "HOME="+dir, "ZDOTDIR="+dir, "PATH="+dir+":"+os.Getenv("PATH"), "TERM=dumb", "LC_ALL=C")
	s.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			text := make([]byte, 4096)
			n, err := user.Read(text)
			if err != nil {
				return
			}
			select {
			case s.shown <- text[:n]:
			case <-ctx.Done():
				return
			}
		}
	}()
	return s
}

// until waits for what the shell shows, or does.
func (s *session) until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for !done() {
		select {
		case text := <-s.shown:
			s.seen = append(s.seen, text...)
		case <-s.ctx.Done():
			t.Fatalf("the shell has not %s:\n%s", what, s.seen)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// complete types lines, each followed by the tab key, and returns what the shell makes of them. It appends its line to
// the file "lines" when it gets ^Xd.
func (s *session) complete(t *testing.T, lines []string) (completed []string) {
	t.Helper()
	s.until(t, "begun", func() bool { return strings.Contains(string(s.seen), "READY>") })
	for i, line := range lines {
		if _, err := s.user.WriteString(line + "\t\x18d"); err != nil {
			t.Fatal(err)
		}
		s.until(t, "completed "+line, func() bool {
			text, _ := os.ReadFile(filepath.Join(s.Dir, "lines"))
			completed = strings.Split(string(text), "\n")
			return len(completed) == i+2
		})
	}
	if _, err := s.user.WriteString("exit\n"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Wait() }()
	s.until(t, "ended", func() bool { return len(ended) > 0 })
	if err := <-ended; err != nil {
		t.Errorf("%v\n%s", err, s.seen)
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
				"./simrun herd -variants lock/seq", "simrun replay a", "simrun completion z", "simrun check -like=ke"}
			want := []string{"simrun prove", "simrun check lock/wedged", "simrun check -failfast",
				"~/simrun check -strategy pct", "./simrun herd -variants lock/sequential",
				`simrun replay a\ schedule.txt`, "simrun completion zsh", "simrun check -like=keeper"}
			got := newSession(t, dir, shell, x.args...).complete(t, lines)
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
