package ensemble_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"zksim/internal/ensemble"
	"zksim/internal/zkserver/zkservertest"
	"zksim/scenarios/catalog"
	"zksim/scenarios/engine"
)

func TestAServerThatHasDiedAbortsTheRunAndIsNamed(t *testing.T) {
	e := zkservertest.ForTest(t, 1)
	p, err := os.FindProcess(e.Pid(0))
	if err != nil {
		t.Fatal(err)
	}
	p.Kill()
	_, err = ensemble.RunLive(t.Context(), catalog.Named("lock/lock"), ensemble.LiveOptions{Servers: e.Addrs(), Ours: e,
		Session: 3 * time.Second})
	a, ok := errors.AsType[*ensemble.Aborted](err)
	const want = "aborted: server 1 died (signal: killed): "
	if !ok || !strings.HasPrefix(err.Error(), want) || len(a.Diary) != 1 || !strings.HasSuffix(a.Diary[0],
		" server 1 died (signal: killed)") {
		t.Errorf("%v, expected %s...: %+v", err, want, a)
	}
	if err := e.Restart(t.Context(), 0); err != nil { // else its death is an error of the test
		t.Error(err)
	}
}

// TestAServerThatDiesEndsTheRun: the run does not wait for its program, which would go on for a minute.
func TestAServerThatDiesEndsTheRun(t *testing.T) {
	e := zkservertest.ForTest(t, 1)
	p, err := os.FindProcess(e.Pid(0))
	if err != nil {
		t.Fatal(err)
	}
	s := engine.Scenario{Name: "my/victim", Clients: 1, Program: func(q *engine.Process) {
		p.Kill()
		q.Conn.Exists("/")
	}}
	_, err = ensemble.RunLive(t.Context(), &s, ensemble.LiveOptions{Servers: e.Addrs(), Ours: e, Session: 3 * time.Second})
	const want = "aborted: server 1 died (signal: killed): the run has ended early"
	if err == nil || err.Error() != want {
		t.Errorf("%v, expected %s", err, want)
	}
	if err := e.Restart(t.Context(), 0); err != nil {
		t.Error(err)
	}
}
