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
	const want = "aborted: server 1 died (signal: killed): live: no session with 127.0.0.1:"
	if !ok || !strings.HasPrefix(err.Error(), want) || len(a.Diary) != 1 || !strings.HasSuffix(a.Diary[0],
		" server 1 died (signal: killed)") {
		t.Errorf("%v, expected %s...: %+v", err, want, a)
	}
	if err := e.Restart(t.Context(), 0); err != nil { // else its death is an error of the test
		t.Error(err)
	}
}
