package sim_test

import (
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/sim"
)

// dialing runs a program of one client with so many further connections.
func dialing(t *testing.T, dials int, ch sim.Chooser, program func(c *sim.Client)) (*sim.World, error) {
	t.Helper()
	w := sim.NewWorld()
	w.Reset(sim.Config{Clients: 1, Dials: dials}, nil, program)
	t.Cleanup(w.Close)
	return w, w.Run(ch)
}

func TestAClientDialsAgainAfterClosing(t *testing.T) {
	var first, second int64
	_, err := dialing(t, 1, &sim.Replay{}, func(c *sim.Client) {
		one := c.Conn()
		one.Create("/own", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		first = one.SessionID()
		one.Close()
		two := c.Dial().Conn()
		if there, _, err := two.Exists("/own"); there || err != nil {
			t.Errorf("the ephemeral of the closed session: there %v, err %v", there, err)
		}
		second = two.SessionID()
		if _, _, err := one.Get("/"); err != zk.ErrConnectionClosed {
			t.Errorf("Get of a closed connection: %v", err)
		}
	})
	if err != nil || first == 0 || second == 0 || first == second {
		t.Fatalf("sessions %#x and %#x, err %v", first, second, err)
	}
}

func TestConnectionsOfOneClientAreCutEachByItself(t *testing.T) {
	var w *sim.World
	names := []string{"run c1", "run c1"}
	w, err := dialing(t, 1, &sim.Replay{Names: names}, func(c *sim.Client) {
		second := c.Dial()
		one, two, env := c.Conn(), second.Conn(), second.Env()
		all := zk.WorldACL(zk.PermAll)
		one.Create("/a", nil, 0, all)
		_, _, watch, err := two.GetW("/a")
		if err != nil {
			t.Error(err)
			return
		}
		gone := env.SessionEvents()
		two.Create("/b", nil, zk.FlagEphemeral, all)
		env.Go("other", func() { one.Set("/a", []byte("x"), -1) })
		if i, ev, err := env.Await(t.Context(), gone, watch); i != 1 || ev.Type != zk.EventNodeDataChanged || err != nil {
			t.Errorf("channel %d has %v, err %v", i, ev, err)
		}
		c.Drop()
		if !second.Connected() || !c.Alive() {
			t.Error("both connections were cut")
		}
		if _, _, err := two.Get("/b"); err != nil {
			t.Error(err)
		}
		two.Close()
		if there, _, err := one.Exists("/b"); there || err != nil {
			t.Errorf("the ephemeral of the other, closed session: there %v, err %v", there, err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(w.Schedule(), ", "); !strings.Contains(got, "connect c1.2 s1") {
		t.Fatalf("schedule: %s", got)
	}
}

func TestAClientThatDialsTooOftenIsToldSo(t *testing.T) {
	_, err := dialing(t, 1, &sim.Replay{}, func(c *sim.Client) {
		c.Dial()
		c.Dial()
		t.Error("the program goes on")
	})
	if err == nil || !strings.Contains(err.Error(), "c1 dials more often than the 1 time of its scenario") {
		t.Fatal(err)
	}
}
