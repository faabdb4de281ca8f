package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/internal/zkserver/zkservertest"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/sim"
)

// bothElections runs a test with each way to wait.
func bothElections(t *testing.T, f func(t *testing.T,
	election func(recipes.Conn, recipes.Env, string, recipes.ElectionOptions) *recipes.Election)) {
	t.Run("election", func(t *testing.T) { f(t, recipes.NewElection) })
	t.Run("herd", func(t *testing.T) { f(t, recipes.NewHerdElection) })
}

// elect makes a candidate with that name and waits until it leads.
func (a actor) elect(name string) *recipes.Election {
	a.t.Helper()
	e := recipes.NewElection(a.Conn, a.env, "/vote", recipes.ElectionOptions{Data: []byte(name)})
	a.is("Campaign", e.Campaign(ctx), nil)
	return e
}

// follows reports an answer to the question for the leader other than want, "" if
// there is to be none.
func (a actor) follows(want string) {
	a.t.Helper()
	leader, err := recipes.NewElection(a.Conn, a.env, "/vote", recipes.ElectionOptions{}).Leader(ctx)
	if string(leader.Data) != want || (err == recipes.ErrNoLeader) != (want == "") || want != "" &&
		(err != nil || leader.Token == 0) {
		a.t.Errorf("the leader is %+v, %v; want %q", leader, err, want)
	}
}

func TestALeaderIsKnownFromItsAcknowledgementToItsResignation(t *testing.T) {
	bothElections(t, func(t *testing.T, election func(recipes.Conn, recipes.Env, string,
		recipes.ElectionOptions) *recipes.Election) {
		h := play(t, nil, func(a actor) {
			e := election(a.Conn, a.env, "/vote", recipes.ElectionOptions{Data: []byte("me")})
			a.follows("")
			a.is("Resign before Campaign", e.Resign(ctx), recipes.ErrNotLeading)
			a.is("Acknowledge before Campaign", e.Acknowledge(ctx), recipes.ErrNotLeading)
			_, err := a.Multi(e.Check())
			a.is("a multi with a check before Campaign", err, zk.ErrNoNode)
			for range 2 {
				a.is("Campaign", e.Campaign(ctx), nil)
				a.is("Campaign again", e.Campaign(ctx), recipes.ErrLeading)
				if e.Lost() == nil || e.Token() == 0 || len(e.Znodes()) != 1 {
					a.t.Errorf("leading: %v, %d, %v", e.Lost(), e.Token(), e.Znodes())
				}
				a.follows("")
				a.is("Acknowledge", e.Acknowledge(ctx), nil)
				a.is("Acknowledge again", e.Acknowledge(ctx), nil)
				a.follows("me")
				if leader, err := e.Leader(ctx); err != nil || leader.Token != e.Token() {
					a.t.Errorf("%+v, %v; token %d", leader, err, e.Token())
				}
				_, err := a.Multi(e.Check())
				a.is("a multi with a check", err, nil)
				a.is("Resign", e.Resign(ctx), nil)
				a.is("Resign again", e.Resign(ctx), recipes.ErrNotLeading)
				a.is("Acknowledge after Resign", e.Acknowledge(ctx), recipes.ErrNotLeading)
				if e.Lost() != nil || e.Token() != 0 || e.Znodes() != nil {
					a.t.Errorf("after Resign: %v, %d, %v", e.Lost(), e.Token(), e.Znodes())
				}
				a.follows("")
			}
		})
		nothingLeft(t, h)
	})
}

func TestADeposedLeaderCannotAcknowledge(t *testing.T) {
	var first *recipes.Election
	var acknowledged, deposed, refused bool
	h := play(t, func(*sim.World) { acknowledged, deposed, refused = false, false, false }, func(a actor) {
		first = a.elect("first")
		a.is("Acknowledge", first.Acknowledge(ctx), nil)
		acknowledged = true
		a.until(func() bool { return deposed })
		_, ev, err := a.env.Await(ctx, first.Lost())
		if err != nil || ev.Type != zk.EventNodeDeleted {
			a.t.Errorf("lost with %+v, %v", ev, err)
		}
		a.is("Acknowledge by the deposed", first.Acknowledge(ctx), recipes.ErrNotLeading)
		_, err = a.Multi(first.Check(), &zk.SetDataRequest{Path: "/vote", Version: -1})
		a.is("a multi of the deposed", err, zk.ErrNoNode)
		a.follows("second")
		refused = true
		a.is("Resign", first.Resign(ctx), nil)
	}, func(a actor) {
		a.until(func() bool { return acknowledged })
		a.env.Go("operator", func() {
			a.until(func() bool { names, _, _ := a.Children("/vote/candidates"); return len(names) == 2 })
			a.is("Delete", a.Delete(first.Znodes()[0], -1), nil)
		})
		second := a.elect("second")
		a.follows("") // the acknowledgement of the first is void
		a.is("Acknowledge", second.Acknowledge(ctx), nil)
		deposed = true
		a.until(func() bool { return refused })
		a.is("Resign", second.Resign(ctx), nil)
	})
	nothingLeft(t, h)
}

func TestAFollowerWaitsForTheAcknowledgement(t *testing.T) {
	for _, acknowledgements := range []int{1, 2} { // the first leader of all, and its successor
		var leads bool
		h := play(t, func(*sim.World) { leads = false }, func(a actor) {
			e := a.elect("me")
			if acknowledgements == 2 {
				a.is("Acknowledge", e.Acknowledge(ctx), nil)
				a.is("Resign", e.Resign(ctx), nil)
				a.is("Campaign", e.Campaign(ctx), nil)
			}
			leads = true
			a.until(func() bool { return a.random.IntN(20) == 0 })
			a.is("Acknowledge", e.Acknowledge(ctx), nil)
			leader, err := e.AwaitLeader(ctx) // itself, which does not disturb the guard
			if err != nil || leader.Token != e.Token() || len(e.Lost()) > 0 {
				a.t.Errorf("%+v, %v; token %d, lost %v", leader, err, e.Token(), len(e.Lost()) > 0)
			}
			a.until(func() bool { return !leads })
			a.is("Resign", e.Resign(ctx), nil)
		}, func(a actor) {
			e := recipes.NewElection(a.Conn, a.env, "/vote", recipes.ElectionOptions{})
			a.until(func() bool { return leads })
			leader, err := e.AwaitLeader(ctx)
			if err != nil || string(leader.Data) != "me" {
				a.t.Errorf("AwaitLeader: %+v, %v", leader, err)
			}
			leads = false
			a.until(func() bool { _, err := e.Leader(ctx); return err == recipes.ErrNoLeader })
			soon, end := a.env.WithTimeout(ctx, time.Second)
			_, err = e.AwaitLeader(soon)
			a.is("AwaitLeader with a timeout", err, context.DeadlineExceeded)
			end()
			a.Close()
			if _, err = e.AwaitLeader(ctx); err != zk.ErrClosing && err != zk.ErrConnectionClosed {
				a.t.Errorf("AwaitLeader after Close: %v", err)
			}
		})
		nothingLeft(t, h)
	}
}

// An acknowledgement that waits for a connection is the last thing that a leader
// should do: the leadership counts as lost.
func TestALostConnectionEndsAnAcknowledgement(t *testing.T) {
	for _, fault := range []string{"lose-request c1", "lose-reply c1"} {
		h := play(t, nil, func(a actor) {
			e := a.elect("me")
			a.is("Acknowledge", e.Acknowledge(ctx), nil)
			a.wanted = append(a.wanted, fault)
			a.is("Acknowledge", e.Acknowledge(ctx), recipes.ErrNotLeading)
			a.is("Resign", e.Resign(ctx), nil)
			a.is("Campaign", e.Campaign(ctx), nil)
			a.is("Acknowledge", e.Acknowledge(ctx), nil)
			a.is("Resign", e.Resign(ctx), nil)
		})
		nothingLeft(t, h)
	}
}

func TestACandidateThatGivesUpLeavesNothingBehind(t *testing.T) {
	done, cancel := context.WithCancel(ctx)
	cancel()
	bothElections(t, func(t *testing.T, election func(recipes.Conn, recipes.Env, string,
		recipes.ElectionOptions) *recipes.Election) {
		var leads, gaveUp bool
		h := play(t, func(*sim.World) { leads, gaveUp = false, false }, func(a actor) {
			e := a.elect("me")
			leads = true
			a.until(func() bool { return gaveUp })
			a.is("Acknowledge with a done context", e.Acknowledge(done), context.Canceled)
			a.is("Resign with a done context", quietly(e.Resign(done)), nil)
		}, func(a actor) {
			a.until(func() bool { return leads })
			e := election(a.Conn, a.env, "/vote", recipes.ElectionOptions{})
			a.is("Campaign with a done context", e.Campaign(done), context.Canceled)
			soon, end := a.env.WithTimeout(ctx, time.Second)
			a.is("Campaign with a timeout", e.Campaign(soon), context.DeadlineExceeded)
			end()
			if len(e.Znodes()) > 0 {
				a.t.Errorf("knows of %v", e.Znodes())
			}
			a.until(func() bool { names, _, err := a.Children("/vote/candidates"); return len(names) == 1 && err == nil })
			gaveUp = true
		})
		nothingLeft(t, h)
	})
}

func TestCandidatesLeadInTurn(t *testing.T) {
	bothElections(t, func(t *testing.T, election func(recipes.Conn, recipes.Env, string,
		recipes.ElectionOptions) *recipes.Election) {
		var listed, led []string
		var tokens []int64
		program := func(name string) func(a actor) {
			return func(a actor) {
				e := election(a.Conn, a.env, "/vote", recipes.ElectionOptions{Data: []byte(name)})
				a.is("Campaign", e.Campaign(ctx), nil)
				led, tokens = append(led, name), append(tokens, e.Token())
				if len(led) == 1 {
					var all [][]byte
					a.until(func() bool { all, _ = e.Candidates(ctx); return len(all) == 4 })
					for _, data := range all {
						listed = append(listed, string(data))
					}
				}
				a.is("Resign", e.Resign(ctx), nil)
			}
		}
		h := play(t, func(*sim.World) { listed, led, tokens = nil, nil, nil }, program("a"), program("b"), program("c"),
			program("d"))
		nothingLeft(t, h)
		if len(led) != 4 || !slices.Equal(listed, led) || !slices.IsSorted(tokens) {
			t.Errorf("listed %v, led %v, with tokens %v", listed, led, tokens)
		}
	})
}

func TestElectionsMakeTheirParentsAndKeepTheirACL(t *testing.T) {
	mine := zk.DigestACL(zk.PermAll, "me", "secret")
	ready := false
	h := play(t, func(*sim.World) { ready = false }, func(a actor) {
		a.is("AddAuth", a.AddAuth("digest", []byte("me:secret")), nil)
		e := recipes.NewElection(a.Conn, a.env, "/apps/mine/vote", recipes.ElectionOptions{ACL: mine})
		a.is("Campaign", e.Campaign(ctx), nil)
		a.is("Acknowledge", e.Acknowledge(ctx), nil)
		for _, path := range []string{"/apps/mine/vote/leader", e.Znodes()[0]} {
			acl, _, err := a.GetACL(path)
			if err != nil || !slices.Equal(acl, mine) {
				a.t.Errorf("%s: %v, %v", path, acl, err)
			}
		}
		ready = true
		a.is("Resign", e.Resign(ctx), nil)
	}, func(a actor) {
		a.until(func() bool { return ready })
		e := recipes.NewElection(a.Conn, a.env, "/apps/mine/vote", recipes.ElectionOptions{})
		a.is("Campaign by a stranger", e.Campaign(ctx), zk.ErrNoAuth)
		_, err := e.Leader(ctx)
		a.is("Leader, asked by a stranger", err, zk.ErrNoAuth)
	})
	nothingLeft(t, h)
}

func TestCloseEndsACampaign(t *testing.T) {
	var leads, ended bool
	h := play(t, func(*sim.World) { leads, ended = false, false }, func(a actor) {
		e := a.elect("me")
		leads = true
		a.until(func() bool { return ended })
		a.is("Resign", e.Resign(ctx), nil)
	}, func(a actor) {
		a.until(func() bool { return leads })
		e := recipes.NewElection(a.Conn, a.env, "/vote", recipes.ElectionOptions{})
		a.env.Go("closer", func() {
			a.until(func() bool { return a.random.IntN(40) == 0 })
			a.Close()
		})
		if err := e.Campaign(ctx); err != zk.ErrClosing && err != zk.ErrConnectionClosed {
			a.t.Errorf("Campaign: %v", err)
		}
		if _, err := e.Leader(ctx); err != zk.ErrClosing && err != zk.ErrConnectionClosed {
			a.t.Errorf("Leader: %v", err)
		}
		ended = true
	})
	nothingLeft(t, h)
}

// The herd is there, and the predecessor's watch avoids it.
func TestOnlyTheHerdWakesAllCandidates(t *testing.T) {
	woken := func(election func(recipes.Conn, recipes.Env, string, recipes.ElectionOptions) *recipes.Election) (most int) {
		first := ""
		program := func(a actor) {
			e := election(a.Conn, a.env, "/vote", recipes.ElectionOptions{})
			a.is("Campaign", e.Campaign(ctx), nil)
			if first == "" {
				first = e.Znodes()[0]
				a.until(func() bool { names, _, _ := a.Children("/vote/candidates"); return len(names) == 5 })
				for range 200 {
					a.env.Now() // until the others watch
				}
			}
			a.is("Resign", e.Resign(ctx), nil)
		}
		h := play(t, func(*sim.World) { first = "" }, program, program, program, program, program)
		for _, e := range h.Events {
			if e.Kind == history.Notify && e.Path == first {
				most++
			}
		}
		return most
	}
	if n := woken(recipes.NewElection); n > 2 { // the leader itself is one
		t.Errorf("the end of a leader notified %d clients", n)
	}
	if n := woken(recipes.NewHerdElection); n != 5 {
		t.Errorf("the end of a leader notified %d clients of the herd", n)
	}
}

func TestRealCandidatesLeadOneByOne(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	ctx := bounded(t)
	ended := make(chan error, 5)
	var tokens []int64 // guarded by the leadership alone: -race watches
	for i := range 5 {
		c := dial(t, addrs)
		go func() {
			e := recipes.NewElection(c, c.Env(), "/vote", recipes.ElectionOptions{Data: fmt.Append(nil, i)})
			ended <- func() error {
				for range 3 {
					if err := errors.Join(e.Campaign(ctx), e.Acknowledge(ctx)); err != nil {
						return err
					}
					tokens = append(tokens, e.Token())
					leader, err := e.Leader(ctx)
					if err == nil && (leader.Token != e.Token() || string(leader.Data) != fmt.Sprint(i)) {
						err = fmt.Errorf("the leader is %+v, not %d", leader, i)
					}
					if err := errors.Join(err, e.Resign(ctx)); err != nil {
						return err
					}
				}
				return nil
			}()
		}()
	}
	for range 5 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if len(tokens) != 15 || !slices.IsSorted(tokens) {
		t.Errorf("%v", tokens)
	}
}

// ExampleElection elects a leader in the simulator. With a real ensemble conn
// and env come from live.Dial, and nothing else changes.
func ExampleElection() {
	program := func(conn recipes.Conn, env recipes.Env, who string) error {
		ctx := context.Background()
		e := recipes.NewElection(conn, env, "/vote", recipes.ElectionOptions{Data: []byte(who)})
		if who == "c2" {
			env.Sleep(ctx, time.Second) // virtual time
			leader, err := e.Leader(ctx)
			fmt.Println(who, "follows", string(leader.Data))
			return err
		}
		if err := e.Campaign(ctx); err != nil {
			return err
		}
		fmt.Println(who, "leads")
		// ... the leader procedure ...
		if err := e.Acknowledge(ctx); err != nil {
			return err
		}
		env.Sleep(ctx, time.Minute) // lead, until e.Lost() fires
		return e.Resign(ctx)
	}
	world := sim.NewWorld()
	defer world.Close()
	world.Reset(sim.Config{Clients: 2}, nil, func(c *sim.Client) {
		if err := program(c.Conn(), c.Env(), c.Name()); err != nil {
			fmt.Println(strings.TrimPrefix(err.Error(), "recipes: "))
		}
	})
	if err := world.Run(&sim.Replay{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// c1 leads
	// c2 follows c1
}
