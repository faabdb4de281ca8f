package recording

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/model"
	"zksim/scenarios/serve"
)

// TestARecordingOfServersLikeKeeperIsReplayedThere has a client lose its session and its znode.
func TestARecordingOfServersLikeKeeperIsReplayedThere(t *testing.T) {
	t.Parallel()
	for _, nodes := range []int{1, 3} {
		r, res := playedAgain(t, serve.Options{Nodes: nodes, Like: model.Keeper}, func(t *testing.T, e *serve.Ensemble) {
			a := connect(t, e)
			a.Create("/own", nil, zk.FlagEphemeral, open)
			if err := e.Strike("lose-reply=1@op=create"); err != nil {
				t.Fatal(err)
			}
			if _, err := a.Create("/other", nil, zk.FlagEphemeral, open); err != zk.ErrConnectionClosed {
				t.Fatal(err)
			}
			a.Exists("/own")
			if err := e.ExpireSession(1<<12 | 1); err != nil {
				t.Fatal(err)
			}
			a.Sync("/")
			if there, _, err := a.Exists("/own"); there || err != nil {
				t.Error("the znode of a session that is over", err)
			}
			a.Create("/own", nil, zk.FlagEphemeral, open)
		})
		if !strings.Contains(res.Verdict.Message, "no such thing") || res.Schedule.Like != model.Keeper ||
			!slices.Contains(res.Schedule.Names, "lapse c1") {
			t.Errorf("%v, %q, recorded %q", res.Verdict, res.Schedule.Names, r.Steps)
		}
		if got, want := answered(res.History), asRecorded(r); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%q\n%q", got, want)
		}
	}
}

// TestARecordingOfServersThatThereAreNotIsRefused reads what a newer version may write.
func TestARecordingOfServersThatThereAreNotIsRefused(t *testing.T) {
	text := record(t, serve.Options{Like: model.ZooKeeper39}, func(e *serve.Ensemble) { connect(t, e).Sync("/") })
	if res := replayed(t, text); res.Schedule.Like != model.ZooKeeper39 || res.Schedule.Servers != 1 {
		t.Errorf("%+v", res.Schedule)
	}
	other := strings.Replace(string(text), `"like":"zookeeper-3.9"`, `"like":"etcd"`, 1)
	_, err := serve.ReadRecording(strings.NewReader(other))
	if err == nil || !strings.Contains(err.Error(), `zookeeper-3.9 or zookeeper-3.6, not "etcd"`) {
		t.Error(err)
	}
}

// TestWhatWasOnItsWayWhenAConnectionEndedIsSentBefore has a fault cut a connection behind a request, the first one of
// the client or the second, as the seed says. The servers execute it afterwards.
func TestWhatWasOnItsWayWhenAConnectionEndedIsSentBefore(t *testing.T) {
	t.Parallel()
	for _, like := range []model.Like{model.ZooKeeper, model.Keeper} {
		for _, seed := range []uint64{1, 5} {
			o := serve.Options{Like: like, Seed: seed, Faults: faults.Plan{{Fault: "disconnect", Budget: 1}}}
			r, res := playedAgain(t, o, func(t *testing.T, e *serve.Ensemble) {
				a := connect(t, e)
				for _, path := range []string{"/a", "/b", "/c"} {
					a.Create(path, nil, 0, open)
				}
			})
			if i := slices.Index(r.Steps, "disconnect c1"); i < 0 || r.Steps[i+1] != "serve c1" {
				t.Errorf("%v, seed %d: recorded %q", like, seed, r.Steps)
			}
			if got, want := answered(res.History), asRecorded(r); !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%q\n%q", got, want)
			}
		}
	}
}

// TestAnEventThatEndsNoWatchIsNotWaitedFor has a watch on children set again after one was created. Servers like Keeper
// then say that data have changed, which ends no watch on children.
func TestAnEventThatEndsNoWatchIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	r, res := playedAgain(t, serve.Options{Like: model.Keeper}, func(t *testing.T, e *serve.Ensemble) {
		a, b := newWired(e, nil), newWired(e, nil)
		a.connect()
		b.connect()
		a.ask(&model.Request{Op: model.OpGetChildren2, Path: "/", Watch: true}, 1)
		a.watches[watchOn{'c', "/"}] = true
		if err := e.Strike("lose-request=1@client=c1,op=sync"); err != nil {
			t.Fatal(err)
		}
		a.ask(&model.Request{Op: model.OpSync, Path: "/"}, 2)
		b.ask(&model.Request{Op: model.OpCreate, Path: "/x", ACL: open}, 1)
		a.connect()
		a.ask(&model.Request{Op: model.OpDelete, Path: "/x", Version: -1}, 3)
		b.ask(&model.Request{Op: model.OpExists, Path: "/x"}, 2)
	})
	if got, want := answered(res.History), asRecorded(r); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%q\n%q", got, want)
	}
	if i := slices.IndexFunc(r.Requests, func(x serve.Asked) bool { return x.Request.Op == model.OpDelete }); i < 0 ||
		!slices.Contains(r.Requests[i].Heard, "changed /") {
		t.Errorf("%+v", r.Requests)
	}
}

// TestAnEventThatNoProgramHasAWatchForIsPassedBy has a client whose session is over set its watch again. It has another
// number then, whose program has no watch.
func TestAnEventThatNoProgramHasAWatchForIsPassedBy(t *testing.T) {
	t.Parallel()
	for _, plan := range []string{"none", "watch-delay=1"} {
		p, err := serve.ParsePlan(plan)
		if err != nil {
			t.Fatal(err)
		}
		o := serve.Options{Like: model.Keeper, Faults: p, Lag: time.Millisecond}
		r, res := playedAgain(t, o, func(t *testing.T, e *serve.Ensemble) {
			a, b := newWired(e, nil), newWired(e, nil)
			a.connect()
			b.connect()
			a.watches[watchOn{'e', "/x"}] = true
			if err := errors.Join(e.Kill(1), e.Continue(1), e.ExpireSession(a.hello.Session)); err != nil {
				t.Fatal(err)
			}
			a.sock, b.sock = nil, nil
			b.connect()
			a.connect()
			b.ask(&model.Request{Op: model.OpCreate, Path: "/x", ACL: open}, 1)
			a.receive() // the event
			b.ask(&model.Request{Op: model.OpDelete, Path: "/x", Version: -1}, 2)
			a.ask(&model.Request{Op: model.OpExists, Path: "/x"}, 3)
		})
		if got, want := answered(res.History), asRecorded(r); difference(got, want) != "" || len(want) != 3 {
			t.Errorf("%s: %q\n%q\n%q", plan, r.Steps, got, want)
		}
	}
}
