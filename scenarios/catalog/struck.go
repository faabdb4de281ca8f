package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
)

// struck is a connection that refuses a request, as when somebody takes the client's rights away between two requests,
// or closes the connection. Or it loses the answer, with an error that the simulated connection does not have.
type struck struct {
	recipes.Conn
	env   recipes.Env
	gives func(acl []zk.ACL) // asserts something of the ACL of a znode that is made
	left  int                // requests before the one that is refused
	err   error              // what that one ends with
	once  bool               // later requests are not refused
	hit   bool               // one was refused
	off   bool               // from now on none is refused
	lists bool               // except the next listing that leaves a watch
	gate  func()             // is called before the place at a gate is deleted
	after bool               // one was refused, and the call has to say so
	tidy  bool               // what the call deletes is of no use, and nobody waits for the deletion
	lost  bool               // the request is executed, and its answer is lost
}

// brokenPipe is the error of a write to a socket, which the library passes on.
type brokenPipe struct{}

func (brokenPipe) Error() string { return "write tcp: broken pipe" }
func (brokenPipe) Timeout() bool { return false }

// busy is the error of a request that a busy server has thrown away.
var busy = errors.New("unknown error: -127")

// losses are the errors besides zk.ErrConnectionClosed after which a request has to be sent again. Only after busy is
// it certain that the request was not executed.
var losses = []error{zk.ErrSessionMoved, zk.ErrSessionExpired, brokenPipe{}, busy}

// strikes returns the error of a request, or nil if it is to be executed. right says whether the request needs a right.
func (s *struck) strikes(right bool) error {
	defer recipes.Forget(s.env)(&s.left, &s.off, &s.hit, &s.after)
	if s.off || s.once && s.hit || s.err == zk.ErrNoAuth && !right {
		return nil
	}
	if s.left > 0 {
		s.left--
		return nil
	}
	s.hit, s.after = true, true
	return s.err
}

func (s *struck) Create(path string, data []byte, flags int32, acl []zk.ACL) (string, error) {
	s.gives(acl)
	if err := s.strikes(true); err != nil {
		if s.lost {
			s.Conn.Create(path, data, flags, acl)
		}
		return "", err
	}
	return s.Conn.Create(path, data, flags, acl)
}

func (s *struck) Delete(path string, version int32) error {
	if s.gate != nil && strings.Contains(path, "/gate/") {
		s.gate()
		s.gate = nil
	}
	before := s.after
	if err := s.strikes(true); err != nil {
		s.after = before || !s.tidy
		if s.lost {
			s.Conn.Delete(path, version)
		}
		return err
	}
	return s.Conn.Delete(path, version)
}

func (s *struck) Get(path string) ([]byte, *zk.Stat, error) {
	if err := s.strikes(true); err != nil {
		return nil, nil, err
	}
	return s.Conn.Get(path)
}

func (s *struck) GetW(path string) ([]byte, *zk.Stat, <-chan zk.Event, error) {
	before := s.after
	if err := s.strikes(true); err != nil {
		if err == zk.ErrNoAuth {
			s.after = before
		}
		return nil, nil, nil, err
	}
	return s.Conn.GetW(path)
}

func (s *struck) Set(path string, data []byte, version int32) (*zk.Stat, error) {
	if err := s.strikes(true); err != nil {
		if s.lost {
			s.Conn.Set(path, data, version)
		}
		return nil, err
	}
	return s.Conn.Set(path, data, version)
}

func (s *struck) Exists(path string) (bool, *zk.Stat, error) {
	if err := s.strikes(false); err != nil {
		return false, nil, err
	}
	return s.Conn.Exists(path)
}

func (s *struck) ExistsW(path string) (bool, *zk.Stat, <-chan zk.Event, error) {
	if err := s.strikes(false); err != nil {
		return false, nil, nil, err
	}
	return s.Conn.ExistsW(path)
}

func (s *struck) Children(path string) ([]string, *zk.Stat, error) {
	if err := s.strikes(true); err != nil {
		return nil, nil, err
	}
	return s.Conn.Children(path)
}

func (s *struck) ChildrenW(path string) ([]string, *zk.Stat, <-chan zk.Event, error) {
	if s.lists {
		s.off, s.left, s.lists = false, 0, false
	}
	if err := s.strikes(true); err != nil {
		return nil, nil, nil, err
	}
	return s.Conn.ChildrenW(path)
}

func (s *struck) Multi(ops ...any) ([]zk.MultiResponse, error) {
	for _, op := range ops {
		if made, makes := op.(*zk.CreateRequest); makes {
			s.gives(made.Acl)
		}
	}
	if err := s.strikes(len(ops) > 0); err != nil {
		if s.lost {
			s.Conn.Multi(ops...)
		}
		return nil, err
	}
	return s.Conn.Multi(ops...)
}

func (s *struck) Sync(path string) (string, error) {
	if err := s.strikes(false); err != nil {
		return "", err
	}
	return s.Conn.Sync(path)
}

// receipted are prefixes of the names of calls that delete something that nobody waits for, at the end or by itself: a
// receipt, or the turn of a consumer.
var receipted = []string{"Counter.Add", "Counter.CompareAndSet", "Config.Update", "FlaggedConfig.Update", "Queue.Put",
	"PriorityQueue.Put", "QueueItem.Return"}

// patience is how long a call may wait, in steps.
const patience = 60

// strike makes a call in a folder of its own, refuses one of its requests, and asserts that the call says so; or that
// it goes on, where only an answer was lost. The run chooses which request fails and with what error. A call that waits
// for too long before that is given up.
func strike(p *engine.Process, c operation, dir string) {
	s := &struck{Conn: p.Conn, env: p.Env, err: zk.ErrNoAuth, tidy: slices.ContainsFunc(receipted,
		func(name string) bool { return strings.HasPrefix(c.name, name) })}
	s.gives = func(acl []zk.ACL) {
		p.Always("what "+c.name+" makes has the ACL that was given", slices.Equal(acl, givenACL))
	}
	if s.left = p.Choose(16); p.Choose(4) == 0 { // far on
		s.left += 16
	}
	switch p.Choose(4) {
	case 0:
		s.err, s.once = zk.ErrAPIError, true
	case 1:
		s.err = zk.ErrClosing
	case 2:
		s.err, s.once = losses[p.Choose(len(losses))], true
		s.lost = s.err != busy && p.Choose(2) > 0
	}
	interrupted := slices.Contains(losses, s.err)
	q := *p
	q.Conn = s
	ctx, cancel := context.WithCancel(background)
	ended, given := false, make(chan zk.Event, 1)
	p.Env.Go("patience", func() {
		for n := 0; n < patience && !ended; n++ {
			p.Step()
		}
		if !s.after || interrupted {
			s.off = true
			cancel()
		}
		given <- zk.Event{}
	})
	err := c.call(ctx, &q, dir)
	after := s.after
	ended, s.off = true, true
	cancel()
	p.Env.Await(background, given)
	tries := strings.Contains(c.name, ".Try")
	p.Always(c.name+" waits", tries || !errors.Is(err, recipes.ErrLocked))
	switch {
	case interrupted:
		p.Always(c.name+", of which an answer was lost, does not end with "+s.err.Error(), !errors.Is(err, s.err))
	case after:
		p.Always(c.name+", refused, does not succeed", err != nil)
		p.Always(c.name+", refused, ends with "+s.err.Error(), err == nil || errors.Is(err, s.err) ||
			errors.Is(err, recipes.ErrUnknownOutcome))
	}
}

// strikesSome makes a program of some of the calls in list, one in a round.
func strikesSome(list []operation) func(p *engine.Process) {
	return func(p *engine.Process) {
		if p.ID > 1 {
			return
		}
		a := alone{refused{p: p, dir: p.Path("/dir")}}
		a.create(a.path("begun"), "") // there is a session: requests refused before it are repeated in it
		for round := range p.Rounds {
			strike(p, list[p.Choose(len(list))], p.Path("/dir/"+strconv.Itoa(round)))
		}
	}
}

// struckAlone are the calls that are struck with nothing done before or beside them; the others are in struckCalls.
const struckAlone = "Lock.TryLock SingleNodeLock.TryLock RWLock.TryLock RWLock.TryRLock RevocableLock.Lock " +
	"RevocableLock.RLock RevocableLock.Queue Semaphore.TryAcquire Election.Leader Election.Candidates Queue.TryTake " +
	"Queue.TryClaim Queue.Len PriorityQueue.Put Names.RegisterNext Names.Resolve " +
	"Transaction.Finish Counter.CompareAndSet Counter.Get"

// chosen returns the calls with these names.
func chosen(names string) (list []operation) {
	for _, c := range calls {
		if only(names)(c.name) {
			list = append(list, c)
		}
	}
	return list
}

// nothing is what a judge heeds that looks only at how a run ends.
var nothing = []string{}

// endsAll is a judge of programs in which c1 makes calls that end, whatever happens, and the others do nothing.
func endsAll(h *history.History) error {
	if !h.Finished[1] {
		var waits []string
		for _, x := range h.Waiting {
			waits = append(waits, cmp.Or(x.Where, "its program"))
		}
		return fmt.Errorf("c1 waits forever for a call that ought to end, in %s, after its last request, %s",
			strings.Join(waits, " and "), checkers.LastRequest(h, 1))
	}
	return nil
}

var struckScenarios = []engine.Scenario{
	{
		Name: "recipes/struck", Doc: "a call of which a request is refused says so, or goes on if only an answer is lost",
		Clients: 1, Rounds: 30, Servers: []int{1, 3},
		Setup:       []model.Request{engine.Mkdir("/dir")},
		Program:     strikesSome(slices.Concat(chosen(struckAlone), struckCalls)),
		SafetySteps: 8000, MaxSteps: 16000,
		Faults:   faults.MustParse("disconnect=2 lose-request=2 lose-reply=2 stale-read=1"),
		Checkers: []checkers.Checker{checkers.Liveness{}, checkers.Steps{}}, Finally: endsAll, Heeds: nothing,
	},
	{
		Name: "recipes/members", Doc: "a membership of which a request is refused says so when it ends", Clients: 1,
		Rounds: 3, Servers: []int{1, 3}, Setup: []model.Request{engine.Mkdir("/dir")}, SafetySteps: 2000, MaxSteps: 4000,
		Program:  strikesSome([]operation{membership}),
		Faults:   faults.MustParse("expire=2 disconnect=2 depose=1 lose-request=1 lose-reply=1"),
		Checkers: []checkers.Checker{checkers.Liveness{}, checkers.Steps{}}, Finally: endsAll, Heeds: nothing,
	},
}
