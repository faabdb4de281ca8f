package ensemble

import (
	"context"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/internal/nemesis"
	"zksim/internal/wire"
	"zksim/model/history"
	"zksim/recipes/live"
	"zksim/scenarios/serve"
)

// Both connections of a client are there again at the same time, as after an election, before the library says so of
// either.
func TestEachConnectionOfAClientHasItsOwnSession(t *testing.T) {
	e, err := serve.Start(serve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	x := &liveRun{host: &liveHost{}, o: LiveOptions{Servers: e.Addrs()}, who: map[int64]int32{},
		taps: make([]*wire.Tap, 2), state: make([]zk.State, 2), closed: make([]bool, 2)}
	x.nemesis = nemesis.New(nemesis.Options{Clients: 1, Addrs: e.Addrs(), Diary: nemesis.NewDiary()})
	defer x.nemesis.Heal(context.Background())
	all := []live.Options{x.options(0, connection{client: 1}), x.options(1, connection{1, 1})}
	var sessions []int64
	for _, o := range all {
		c, err := live.Dial(t.Context(), e.Addrs(), live.Options{Dial: o.Dial})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		sessions = append(sessions, c.SessionID())
	}
	for i, o := range all {
		x.host.history.Events, x.host.at = nil, nil
		o.OnSession(zk.Event{State: zk.StateHasSession})
		got := x.host.history.Events[0]
		want := history.Event{Kind: history.Session, Client: 1, Version: int32(i), Op: zk.StateHasSession.String(),
			Session: sessions[i]}
		if got != want || x.who[sessions[i]] != 1 {
			t.Errorf("%v, expected %v; known: %v", got, want, x.who)
		}
	}
}

// The servers do not hear of it, and the library never has a session again: nothing would ever be still.
func TestAConnectionThatIsDownWhenItIsClosedIsNotWaitedFor(t *testing.T) {
	e, err := serve.Start(serve.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	x := &liveRun{host: &liveHost{}, o: LiveOptions{Servers: e.Addrs()}, who: map[int64]int32{},
		taps: make([]*wire.Tap, 1), state: make([]zk.State, 1), closed: make([]bool, 1)}
	x.nemesis = nemesis.New(nemesis.Options{Clients: 1, Addrs: e.Addrs(), Diary: nemesis.NewDiary()})
	defer x.nemesis.Heal(context.Background())
	of := connection{1, 1}
	o := x.options(0, of)
	c, err := live.Dial(t.Context(), e.Addrs(), live.Options{Dial: o.Dial, OnSession: o.OnSession})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	conn, env := x.process(0, c, of)
	lost := env.SessionEvents()
	e.Close()
	<-lost
	if x.still() {
		t.Error("nothing is expected of a connection that is down")
	}
	if conn.Close(); !x.still() {
		t.Error("a connection that was closed while it was down is expected to come back")
	}
}
