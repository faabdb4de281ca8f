package sim_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/sim"
)

// ear is the far end of a remote client: it notes what it gets.
type ear struct{ heard []string }

func (e *ear) Reply(tag uint64, req *model.Request, res *model.Response) {
	e.heard = append(e.heard, fmt.Sprint(tag, " ", req.Op, " ", res.Err))
}
func (e *ear) Event(ev model.Event) { e.heard = append(e.heard, fmt.Sprint(ev.Type, " ", ev.Path)) }
func (e *ear) End()                 { e.heard = append(e.heard, "end") }

// expect fails unless that is what was heard since the last time.
func (e *ear) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(e.heard, want) {
		t.Fatalf("heard %q, not %q", e.heard, want)
	}
	e.heard = nil
}

// remoteWorld returns a world for remote clients, and what makes things happen in it.
func remoteWorld(servers int, plan ...faults.Rule) (*sim.World, *sim.Eager) {
	w, e := sim.NewWorld(), &sim.Eager{}
	var in faults.Injector
	in.Reset(plan)
	w.Reset(sim.Config{Servers: servers, SafetySteps: math.MaxInt32}, &in, nil)
	if len(plan) > 0 {
		e.Strike = func(list []sim.Transition) (sim.Transition, bool) { return list[0], true }
	}
	e.Begin(w)
	return w, e
}

func create(path string) model.Request {
	return model.Request{Op: model.OpCreate, Path: path, ACL: zk.WorldACL(zk.PermAll)}
}

func TestRemoteClientsAreServedInTheOrderOfTheirRequests(t *testing.T) {
	for _, servers := range []int{1, 3} {
		w, e := remoteWorld(servers)
		var a, b ear
		ca, cb := w.Join(&a), w.Join(&b)
		for k, c := range []*sim.Client{ca, cb} {
			if _, err := c.Open(k%servers, 4000); err != nil {
				t.Fatal(err)
			}
		}
		ca.Send(1, model.Request{Op: model.OpExists, Path: "/x", Watch: true})
		e.Settle(w)
		cb.Send(7, create("/x"))
		cb.Send(8, create("/x"))
		cb.Send(9, model.Request{Op: model.OpGetData, Path: "/x"})
		e.Settle(w)
		a.expect(t, "1 exists "+model.NoNode.String(), "EventNodeCreated /x")
		b.expect(t, "7 create "+model.OK.String(), "8 create "+model.NodeExists.String(), "9 get "+model.OK.String())
		w.Close()
	}
}

func TestARemoteSessionGoesOnElsewhereOrEnds(t *testing.T) {
	w, e := remoteWorld(3)
	var a ear
	c := w.Join(&a)
	session, _ := c.Open(0, 4000)
	own := create("/own")
	own.Flags = zk.FlagEphemeral
	c.Send(1, own)
	e.Settle(w)
	if err := c.Reattach(2, 0); err != nil { // while the old connection is there
		t.Fatal(err)
	}
	a.expect(t, "1 create "+model.OK.String(), "end")
	c.Drop()
	if err := c.Reattach(1, math.MaxInt64); err != zk.ErrNoServer {
		t.Fatalf("a server that is behind takes the client: %v", err)
	}
	other := w.Join(&ear{})
	if err := other.Reattach(0, 0); err != zk.ErrSessionExpired {
		t.Fatalf("a client without a session is taken: %v", err)
	}
	c = w.Clients()[0]
	c.Expire()
	e.Settle(w)
	if c.HasSession() || w.Stores()[1].HasSession(session) {
		t.Fatal("the session goes on")
	}
	if w.Leave(c); len(w.Clients()) != 1 || w.Clients()[0] != other {
		t.Fatal("the client has not left")
	}
	if late := w.Join(&a); late.Name() != "c3" {
		t.Fatalf("%s has a number that was used before", late.Name())
	}
	w.Close()
}

// A follower asks its leader whether a session lives on. One that is cut off from it takes nobody.
func TestAServerThatIsCutOffTakesNoRemoteSession(t *testing.T) {
	w, e := remoteWorld(3)
	defer w.Close()
	e.Hold = func(t sim.Transition) bool { return t.Kind == sim.Thaw }
	for _, connected := range []bool{false, true} {
		c := w.Join(&ear{})
		if _, err := c.Open(0, 4000); err != nil {
			t.Fatal(err)
		}
		e.Settle(w)
		if !connected {
			c.Cut()
		}
		w.Freeze(1)
		if err := c.Reattach(1, 0); err != zk.ErrNoServer || c.Connected() != connected {
			t.Errorf("%v, connected: %v", err, c.Connected())
		}
		if _, err := c.Move(1, 0, &ear{}); connected && err != zk.ErrNoServer {
			t.Error(err)
		}
		if err := c.Reattach(2, 0); err != nil {
			t.Error(err)
		}
	}
}

func TestAFaultStrikesTheRemoteRequestThatItNames(t *testing.T) {
	w, e := remoteWorld(1, faults.Rule{Fault: "lose-reply", Budget: 1, Aim: faults.Aim{Client: 2, Op: "create", Nth: 2}})
	var steps []string
	e.Step = func(x sim.Transition) { steps = append(steps, w.Name(x)) }
	var a, b ear
	for k, far := range []*ear{&a, &b} {
		c := w.Join(far)
		if _, err := c.Open(0, 4000); err != nil {
			t.Fatal(err)
		}
		c.Send(1, create(fmt.Sprint("/first-", k)))
		e.Settle(w)
		c.Send(2, create(fmt.Sprint("/second-", k)))
		e.Settle(w)
	}
	a.expect(t, "1 create "+model.OK.String(), "2 create "+model.OK.String())
	b.expect(t, "1 create "+model.OK.String(), "end")
	if got := strings.Join(steps[len(steps)-1:], ", "); got != "lose-reply c2" {
		t.Fatalf("steps %q", steps)
	}
	b.heard = nil
	c := w.Clients()[1]
	if err := c.Reattach(0, 0); err != nil {
		t.Fatal(err)
	}
	c.Send(3, create("/second-1"))
	e.Settle(w)
	b.expect(t, "3 create "+model.NodeExists.String())
	w.Close()
}

func TestAWorldThatIsTrimmedGoesOn(t *testing.T) {
	w, e := remoteWorld(3)
	var a ear
	c := w.Join(&a)
	c.Open(1, 4000)
	e.Settle(w)
	w.Freeze(2)
	e.Hold = func(x sim.Transition) bool { return x.Kind == sim.Thaw }
	for i := range 100 {
		c.Send(uint64(i), create(fmt.Sprint("/n", i)))
		e.Settle(w)
		if w.Trim(); len(w.Schedule()) > 0 || len(w.History.Events) > 0 || w.Step() > 0 {
			t.Fatal("something is left of the past")
		}
	}
	if w.Behind(2) != 100 {
		t.Fatalf("a server that is cut off lacks %d txns", w.Behind(2))
	}
	e.Hold = nil
	e.Settle(w)
	if w.Trim(); w.Behind(2) != 0 || w.Stores()[2].Fingerprint() != w.Stores()[0].Fingerprint() {
		t.Fatal("the server has not caught up")
	}
	w.Close()
}

func TestWhatIsHeldOfARemoteClientHappensLater(t *testing.T) {
	w, e := remoteWorld(1)
	var a ear
	c := w.Join(&a)
	c.Open(0, 4000)
	c.Send(1, create("/x"))
	hold := true
	e.Hold = func(x sim.Transition) bool { return hold && x.Kind == sim.Deliver }
	e.Settle(w)
	e.Settle(w)
	a.expect(t)
	hold = false
	e.Settle(w)
	a.expect(t, "1 create "+model.OK.String())
	w.Close()
}

func TestASessionThatMovesLeavesItsConnectionOpen(t *testing.T) {
	w, e := remoteWorld(3, faults.Rule{Fault: "lose-reply", Budget: 1, Aim: faults.Aim{Client: 1, Op: "exists", Nth: 2}})
	var main, first, second ear
	c := w.Join(&main)
	session, _ := c.Open(1, 4000)
	c.Send(1, model.Request{Op: model.OpExists, Path: "/x", Watch: true})
	e.Settle(w)
	main.expect(t, "1 exists "+model.NoNode.String())
	old := c
	c, err := old.Move(2, 0, &first)
	if err != nil || !old.Left() || c.Left() || c.Session() != session || w.Client(1) != c || w.Owner(session) != c {
		t.Fatal(err, old.Left(), c.Left())
	}
	if old.Name() != "c1.2" || old.ID() != 1 {
		t.Fatal(old.Name(), old.ID())
	}
	other := w.Join(&ear{})
	if other.Name() != "c2" || w.Client(2) != other {
		t.Fatal(other.Name())
	}
	old.Send(2, model.Request{Op: model.OpExists, Path: "/x"}) // the second, but no fault strikes here
	c.Send(3, create("/x"))
	e.Settle(w)
	first.expect(t, "2 exists "+model.NoNode.String(), "EventNodeCreated /x")
	main.expect(t, "3 create "+model.OK.String())
	third, err := c.Move(0, 0, &second)
	if err != nil || c.Name() != "c1.3" || old.Name() != "c1.2" {
		t.Fatal(err, c.Name(), old.Name())
	}
	zxid := w.Stores()[0].Zxid()
	old.Send(4, create("/y"))
	e.Settle(w)
	first.expect(t, "end")
	if got := w.Stores()[0]; len(got.Tree()) != 2 || got.Zxid() != zxid+1 {
		t.Fatalf("a write by a connection that was left: %d znodes, %d zxids", len(got.Tree()), got.Zxid()-zxid)
	}
	w.Leave(old)
	third.Send(5, model.Request{Op: model.OpExists, Path: "/x"})
	third.Expire()
	e.Settle(w)
	second.expect(t, "end")
	if main.heard[len(main.heard)-1] != "end" || third.HasSession() {
		t.Fatalf("%q", main.heard)
	}
	w.Close()
}

// What is due is deleted only when nobody holds that back, all of it at once, in the order of the paths.
func TestContainersOfRemoteClientsAreReapedWhenTheCheckComes(t *testing.T) {
	w, e := remoteWorld(3)
	var a ear
	c := w.Join(&a)
	c.Open(0, 4000)
	for i := range 5 {
		dir := fmt.Sprint("/c", i)
		q := create(dir)
		q.Op = model.OpCreateContainer
		c.Send(1, q)
		c.Send(2, create(dir+"/x"))
		c.Send(3, model.Request{Op: model.OpDelete, Path: dir + "/x", Version: -1})
	}
	hold := true
	e.Hold = func(x sim.Transition) bool { return hold && x.Kind == sim.Reap }
	e.Settle(w)
	if n := len(w.Stores()[0].Tree()); n != 6 {
		t.Fatalf("%d znodes", n)
	}
	hold = false
	e.Settle(w)
	var gone []string
	for _, x := range w.History.Events {
		if x.Kind == history.Deleted && !strings.HasSuffix(x.Path, "/x") {
			gone = append(gone, x.Path)
		}
	}
	if !slices.Equal(gone, []string{"/c0", "/c1", "/c2", "/c3", "/c4"}) || len(w.Stores()[2].Tree()) != 1 {
		t.Fatalf("deleted %v", gone)
	}
	w.Close()
}

func TestManyEventsOfSetWatchesArriveInOrder(t *testing.T) {
	const paths = 1000
	w, e := remoteWorld(1)
	var a ear
	c := w.Join(&a)
	if _, err := c.Open(0, 4000); err != nil {
		t.Fatal(err)
	}
	lists, want := &model.WatchLists{}, make([]string, 0, paths+2)
	for i := range paths {
		path := fmt.Sprintf("/gone-%04d", i)
		lists.Data, want = append(lists.Data, path), append(want, "EventNodeDeleted "+path)
	}
	c.Send(1, model.Request{Op: model.OpSetWatches, Watches: lists})
	c.Send(2, create("/a"))
	e.Settle(w)
	a.expect(t, append(want, "1 setWatches "+model.OK.String(), "2 create "+model.OK.String())...)
	w.Close()
}
