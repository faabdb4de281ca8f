package zkserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Pause stops the process of server i, as SIGSTOP does, until [Ensemble.Continue]. Its connections stay open, and the
// kernel accepts new ones, which nobody answers. Pausing a dead server does nothing.
func (e *Ensemble) Pause(i int) error { return e.signal(i, stopSignal) }

// Continue lets a paused server go on. It does nothing to a server that is not paused.
func (e *Ensemble) Continue(i int) error { return e.signal(i, goSignal) }

func (e *Ensemble) signal(i int, s os.Signal) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.members[i].proc
	select {
	case <-p.done:
		return nil
	default:
	}
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("zkserver: %s cannot be sent %v: %w", p.name, s, err)
	}
	return nil
}

// errNoLeader is in the error of Leader.
var errNoLeader = errors.New("zkserver: no server leads")

// Leader waits until one of the servers, except those in except, serves as the leader or standalone, and returns its
// index.
func (e *Ensemble) Leader(ctx context.Context, except ...int) (int, error) {
	for {
		for i, m := range e.members {
			if slices.Contains(except, i) {
				continue
			}
			if mode := m.mode(ctx, leaderPatience); mode == "leader" || mode == "standalone" {
				return i, nil
			}
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("%w: %w", errNoLeader, context.Cause(ctx))
		case <-time.After(probeEvery):
		}
	}
}

// leaderPatience is how long a server may take to say what it is. A stopped server says nothing.
const leaderPatience = 300 * time.Millisecond

// Died returns a phrase for each server that has died by itself, like "server 2 died (exit status 1)". The error of
// [Ensemble.AwaitServing] has the last lines that it logged.
func (e *Ensemble) Died() (list []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range e.members {
		if m.proc != nil && m.proc.died() {
			list = append(list, fmt.Sprintf("%s %v (%v)", m.name(), errDied, m.proc.cmd.ProcessState))
		}
	}
	return list
}

// Version returns the version that server i reports, like "3.8.0"; "" if it does not answer.
func (e *Ensemble) Version(ctx context.Context, i int) string {
	text := field(ask(ctx, e.members[i].addr(), "srvr", maxPatience), "Zookeeper version: ")
	version, _, _ := strings.Cut(text, "-")
	return version
}

// Pid returns the process id of server i, from its last start.
func (e *Ensemble) Pid(i int) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.members[i].proc.cmd.Process.Pid
}

// LogDir returns the folder with the txn logs and snapshots of server i.
func (e *Ensemble) LogDir(i int) string { return filepath.Join(e.members[i].dataDir(), "version-2") }

// Patience is how long followers wait for a silent leader, and a leader for its followers.
func (e *Ensemble) Patience() time.Duration { return syncLimit * e.options.TickTime }
