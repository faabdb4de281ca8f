// Package zkserver starts real ZooKeeper servers on this machine, for tests and
// for the command line. They listen on loopback only, on free ports, and end
// with the process that started them.
//
// It needs Java and an installed ZooKeeper. It speaks to the servers only in four-letter words and knows no client;
// connect with package live. The settings and the traps avoided here were measured on Debian's ZooKeeper 3.8.0.
package zkserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Ensemble is one ZooKeeper service: a standalone server or a quorum of three.
// All methods may be called concurrently.
type Ensemble struct {
	options Options // with defaults filled in
	install install
	dir     string
	ownDir  bool        // dir is temporary and goes with Stop
	unhook  func() bool // from the context of Start; nil until it succeeds

	stopOnce sync.Once
	stopErr  error

	mu      sync.Mutex // guards what follows and each member's proc
	members []*member
	stopped bool
}

// member is one server of an Ensemble. The proc of a killed one has ended.
type member struct {
	id                    int // counted from 1, as in ZooKeeper's myid
	dir                   string
	client, quorum, elect int           // ports
	links                 map[int]*link // to other servers, by id; empty without Options.Links
	proc                  *process
}

func (m *member) addr() string { return loopback + ":" + strconv.Itoa(m.client) }

// startAttempts is how often Start picks new ports. A port is only known to be free until the check ends, so another
// process can be faster.
const startAttempts = 3

// Start starts servers and returns when all of them serve; three need a leader. It takes about 0.4 s for one and 2 s
// for three.
//
// When ctx is cancelled, during Start or later, everything is stopped as by [Ensemble.Stop]. On Linux the servers also
// end when this process does, however it ends.
//
// Without Java or ZooKeeper the error wraps [ErrUnavailable], and nothing is started. If a server ends or never gets
// ready, the error has the last lines that it logged.
func Start(ctx context.Context, o Options) (*Ensemble, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	inst, err := find(os.Getenv, debianJar)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		e, err := startOnce(ctx, o, inst)
		if err == nil {
			e.unhook = context.AfterFunc(ctx, func() { e.stopOnce.Do(e.stop) })
			return e, nil
		}
		if !errors.Is(err, errDied) || attempt == startAttempts {
			return nil, err
		}
	}
}

func startOnce(ctx context.Context, o Options, inst install) (_ *Ensemble, err error) {
	e := &Ensemble{options: o, install: inst, dir: o.Dir}
	if o.Dir == "" {
		e.ownDir = true
		if e.dir, err = os.MkdirTemp("", "zksim-zookeeper-"); err != nil {
			return nil, fmt.Errorf("zkserver: %w", err)
		}
	}
	defer func() {
		if err != nil {
			e.Stop()
		}
	}()
	if err := e.layOut(); err != nil {
		return nil, fmt.Errorf("zkserver: %w", err)
	}
	for _, m := range e.members {
		if err := e.launch(m); err != nil {
			return nil, err
		}
	}
	return e, e.AwaitServing(ctx)
}

// layOut chooses the ports and writes the files of all members.
func (e *Ensemble) layOut() error {
	// ZooKeeper takes relative names as relative to its own working folder.
	dir, err := filepath.Abs(e.dir)
	if err != nil {
		return err
	}
	n := e.options.Servers
	ports, err := freePorts(3 * n)
	if err != nil {
		return err
	}
	for i := range n {
		e.members = append(e.members, &member{
			id:     i + 1,
			dir:    filepath.Join(dir, fmt.Sprintf("server-%d", i+1)),
			client: ports[3*i], quorum: ports[3*i+1], elect: ports[3*i+2],
		})
	}
	if e.options.Links {
		if err := e.link(); err != nil {
			return err
		}
	}
	for _, m := range e.members {
		if err := os.MkdirAll(m.dataDir(), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(m.configFile(), []byte(e.options.config(m, e.members)), 0o644); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(m.dataDir(), "myid"), fmt.Appendln(nil, m.id), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// launch starts a process for m, after killing the one it has, if any.
func (e *Ensemble) launch(m *member) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.stopped {
		return errStopped
	}
	if m.proc != nil {
		m.proc.kill()
	}
	proc, err := startProcess(m.name(), e.command(m), e.options.Log)
	if err != nil {
		return fmt.Errorf("zkserver: start %s: %w", m.name(), err)
	}
	m.proc = proc
	return nil
}

// Addrs returns the client addresses ("127.0.0.1:port") of all servers, dead
// ones included, in the order of their ids. They never change.
func (e *Ensemble) Addrs() []string {
	addrs := make([]string, len(e.members))
	for i, m := range e.members {
		addrs[i] = m.addr()
	}
	return addrs
}

// ConnectString returns the addresses in the form that ZooKeeper's own tools
// take: "127.0.0.1:port,127.0.0.1:port".
func (e *Ensemble) ConnectString() string { return strings.Join(e.Addrs(), ",") }

// Kill ends server i, the one with address Addrs()[i], as kill -9 does, and
// returns when it is gone. Killing a dead server does nothing.
func (e *Ensemble) Kill(i int) {
	e.mu.Lock()
	proc := e.members[i].proc
	e.mu.Unlock()
	proc.kill()
}

// Restart starts server i again with its data and its address, after killing it if it lives, and returns when it serves
// again. A member of a quorum can only serve while another one lives. When ctx is done, or StartTimeout is over,
// Restart returns an error, but the server goes on starting.
func (e *Ensemble) Restart(ctx context.Context, i int) error {
	m := e.members[i]
	if err := e.launch(m); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, e.options.StartTimeout)
	defer cancel()
	return e.awaitMembers(ctx, []*member{m}, func(modes []string) bool { return modes[0] != "" })
}

// Stop kills the servers and removes the temporary folder, if Start made one. Its error reports a server that had died
// by itself, with its last words, and what could not be removed. Later calls do nothing and return the same.
func (e *Ensemble) Stop() error {
	if e.unhook != nil {
		e.unhook()
	}
	e.stopOnce.Do(e.stop)
	return e.stopErr
}

func (e *Ensemble) stop() {
	e.mu.Lock()
	e.stopped = true
	e.mu.Unlock()
	// From here on nobody changes a proc: launch refuses.
	var errs []error
	for _, m := range e.members {
		if m.proc != nil {
			m.proc.kill()
			errs = append(errs, m.proc.death())
		}
	}
	for _, m := range e.members {
		for _, l := range m.links { // order-free
			l.close()
		}
	}
	if e.ownDir {
		errs = append(errs, os.RemoveAll(e.dir))
	}
	e.stopErr = errors.Join(errs...)
}

var (
	errStopped = errors.New("zkserver: the servers were stopped")
	errDied    = errors.New("died")
)

// AwaitServing waits until all servers serve; of several, one as the leader. A server that has died by itself is an
// error, with its last words.
func (e *Ensemble) AwaitServing(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, e.options.StartTimeout)
	defer cancel()
	return e.awaitMembers(ctx, e.members, func(modes []string) bool {
		count := map[string]int{}
		for _, mode := range modes {
			count[mode]++
		}
		n := len(modes)
		return count["standalone"] == 1 && n == 1 || count["leader"] == 1 && count["follower"] == n-1 && n > 1
	})
}

// awaitMembers asks the members for their modes ("" for one that does not
// serve) until enough accepts them, one of them ends or ctx is done.
func (e *Ensemble) awaitMembers(ctx context.Context, members []*member, enough func(modes []string) bool) error {
	begin := time.Now()
	modes := make([]string, len(members))
	for {
		// Servers that are slow to start are slow to answer.
		patience := min(max(minPatience, time.Since(begin)/5), maxPatience)
		for i, m := range members {
			if err := e.ended(m); err != nil {
				return err
			}
			modes[i] = m.mode(ctx, patience)
		}
		if enough(modes) {
			return nil
		}
		select {
		case <-ctx.Done():
			return e.notReady(ctx.Err(), time.Since(begin), members, modes)
		case <-time.After(probeEvery):
		}
	}
}

// ended returns nil while m's process lives, otherwise an error. It wraps errDied if the process was not killed.
func (e *Ensemble) ended(m *member) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.stopped:
		return errStopped
	case m.proc.killed.Load():
		return fmt.Errorf("zkserver: %s was killed while it started", m.name())
	}
	return m.proc.death()
}

func (e *Ensemble) notReady(cause error, waited time.Duration, members []*member, modes []string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	for i, m := range members {
		state := "does not serve"
		if modes[i] != "" {
			state = "serves as " + modes[i]
		}
		fmt.Fprintf(&b, "\n%s %s%s", m.name(), state, m.proc.lastWords())
	}
	return fmt.Errorf("zkserver: not ready after %v: %w%s", waited.Round(time.Millisecond), cause, b.String())
}
