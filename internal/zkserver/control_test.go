package zkserver_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"zksim/internal/zkserver"
	"zksim/internal/zkserver/zkservertest"
)

func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestAStoppedLeaderIsReplacedAndFollowsWhenItGoesOn(t *testing.T) {
	e := zkservertest.Start(t, zkserver.Options{Servers: 3, TickTime: 200 * time.Millisecond})
	old, err := e.Leader(patient(t))
	must(t, err)
	if v := e.Version(patient(t), old); !strings.HasPrefix(v, "3.") {
		t.Errorf("version %q", v)
	}
	must(t, e.Pause(old))
	next, err := e.Leader(patient(t), old)
	must(t, err)
	if next == old {
		t.Fatalf("server %d leads, which is stopped", old)
	}
	must(t, e.Continue(old))
	must(t, e.AwaitServing(patient(t)))
	if leader, err := e.Leader(patient(t)); err != nil || leader != next {
		t.Errorf("server %d leads, not %d: %v", leader, next, err)
	}
	done, cancel := context.WithCancel(patient(t))
	cancel()
	if _, err := e.Leader(done, 0, 1, 2); err == nil || !strings.HasPrefix(err.Error(), "zkserver: no server leads") {
		t.Errorf("a leader among none: %v", err)
	}
}

func TestAServerThatIsCutOffServesNoLongerThanItIsPatient(t *testing.T) {
	e := zkservertest.Start(t, zkserver.Options{Servers: 3, TickTime: 200 * time.Millisecond, Links: true})
	old, err := e.Leader(patient(t))
	must(t, err)
	e.Part(old)
	next, err := e.Leader(patient(t), old)
	must(t, err)
	eventually(t, "the old leader, without a quorum, serves nobody", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		return e.Version(ctx, old) == ""
	})
	e.Join(old)
	must(t, e.AwaitServing(patient(t)))
	if leader, err := e.Leader(patient(t)); err != nil || leader != next {
		t.Errorf("server %d leads, not %d: %v", leader, next, err)
	}
	if _, err := zkserver.Start(t.Context(), zkserver.Options{Links: true}); err == nil ||
		err.Error() != "zkserver: Links of 1 servers: want 3" {
		t.Errorf("links of a server that is alone: %v", err)
	}
}
