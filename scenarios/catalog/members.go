package catalog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/recipes/broken"
	"zksim/scenarios/engine"
)

const groupDir = "/group"

// group is a group under test, and the member of it, one at a time.
type group struct {
	join   func(ctx context.Context, name string, data []byte) (leaver, error)
	watch  func(ctx context.Context, f func(now []recipes.Child, changes []recipes.Change) bool) error
	member member
}

type leaver interface {
	Leave(ctx context.Context) error
}

func newGroup(p *engine.Process) *group {
	g := &group{}
	r := recipes.NewGroup(p.Conn, p.Env, p.Path(groupDir), recipes.GroupOptions{Changed: g.changed})
	g.join = func(ctx context.Context, name string, data []byte) (leaver, error) { return r.Join(ctx, name, data) }
	g.watch = r.Watch
	return g
}

func newBrokenGroup(f broken.Flaw) func(p *engine.Process) *group {
	return func(p *engine.Process) *group {
		g := &group{}
		r := broken.NewGroup(p.Conn, p.Env, p.Path(groupDir), g.changed, f)
		g.join = func(ctx context.Context, name string, data []byte) (leaver, error) { return r.Join(ctx, name, data) }
		g.watch = r.Watch
		return g
	}
}

// changed records what the member is told.
func (g *group) changed(_ string, joined bool) {
	op := checkers.ToldLost
	if joined {
		op = checkers.ToldJoined
	}
	g.member.Record(history.Event{Kind: history.Told, Op: op, Path: g.member.path})
}

// watchGroup is the watcher of a group.
func watchGroup(g *group) watching {
	return watching{checkers.WatchMembers, groupDir, func(ctx context.Context, p *engine.Process, o engine.Object) error {
		return g.watch(ctx, func(_ []recipes.Child, changes []recipes.Change) bool {
			tellChanges(o, p.Path(groupDir), changes)
			return true
		})
	}}
}

// member is a membership under observation.
type member struct {
	engine.Object
	path string
	leaver
}

// enter joins once; there is no leaver when the name was taken or the attempt
// cancelled.
func (g *group) enter(p *engine.Process, name string) error {
	m := &g.member
	*m = member{p.Register(func() []string { return nil }), p.Path(groupDir) + "/" + name, nil}
	ctx, end := p.Interruptible()
	defer end()
	m.Record(history.Event{Kind: history.Invoke, Op: checkers.Join, Path: m.path})
	l, err := g.join(ctx, name, fmt.Appendf(nil, "c%d", p.ID))
	taken := errors.Is(err, recipes.ErrNameTaken)
	m.Record(history.Event{Kind: history.Return, Op: checkers.Join, Path: m.path, Err: err, OK: taken})
	if err == nil {
		m.leaver = l
	}
	if taken || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// exit leaves, if there is something to leave.
func (g *group) exit() error {
	m := &g.member
	if m.leaver == nil {
		return nil
	}
	m.Record(history.Event{Kind: history.Invoke, Op: checkers.Leave, Path: m.path})
	err := m.Leave(context.Background())
	m.Record(history.Event{Kind: history.Return, Op: checkers.Leave, Path: m.path, Err: err})
	return err
}

// inGroup makes a program that watches a group, does something, rests and, when
// the others have left, stops. In a brief run only followers watch.
func inGroup(newGroup func(p *engine.Process) *group, do func(p *engine.Process, g *group) error) func(p *engine.Process) {
	return func(p *engine.Process) {
		g := newGroup(p)
		if follows(p) {
			o, stop := watch(p, watchGroup(g))
			defer func() {
				rest(p, repeat(p, 4), o)
				stop()
			}()
		}
		if err := do(p, g); err != nil {
			p.Fail(err)
		}
	}
}

// stay is what a member does that has a name of its own. It stays for a while in each
// round. In a brief run only leaders join.
func stay(p *engine.Process, g *group) error {
	if !leads(p) {
		rest(p, p.Rounds)
		return nil
	}
	if err := g.enter(p, fmt.Sprintf("m%d", p.ID)); err != nil {
		return err
	}
	rest(p, p.Rounds, g.member.Object)
	return g.exit()
}

// insist is what a member does that wants a name that others want, too. It tries once in
// each round, until it has the name.
func insist(p *engine.Process, g *group) error {
	for range p.Rounds {
		if err := g.enter(p, "m"); err != nil {
			return err
		}
		if g.member.leaver != nil {
			break
		}
		p.Env.Sleep(context.Background(), time.Millisecond)
	}
	rest(p, repeat(p, 16), g.member.Object)
	return g.exit()
}

// comeAndGo is what a member does that wants such a name in each round.
func comeAndGo(p *engine.Process, g *group) error {
	for range p.Rounds {
		if err := g.enter(p, "m"); err != nil {
			return err
		}
		p.Env.Sleep(context.Background(), time.Millisecond)
		for range repeat(p, 8) {
			p.Step()
		}
		if err := g.exit(); err != nil {
			return err
		}
	}
	return nil
}

// memberCheckers is everything that every group must satisfy.
var memberCheckers = append([]checkers.Checker{checkers.Departure{}, checkers.Presence{}, checkers.Tree{}}, watchCheckers...)

func memberScenario(s engine.Scenario) engine.Scenario {
	s.SafetySteps = 120
	s = watchScenario(s)
	s.Setup, s.Checkers = nil, memberCheckers
	if !s.Broken() {
		s.Faults = faults.Contract()
		s.Goals = append([]engine.Goal{goalJudged, goalExpired}, s.Goals[:len(s.Goals)-3]...)
	}
	return s
}

var (
	goalLostJoin = engine.Goal{Name: "a lost reply after a join that was executed", Reached: lostAfter("multi", created)}
	goalRejoin   = engine.Goal{Name: "a member that is made anew after the end of its session", Reached: func(h *history.History) bool {
		ended := map[string]int{}
		for i := range h.Events {
			e := &h.Events[i]
			switch {
			case e.Kind == history.Deleted && e.Client == 0:
				ended[e.Path] = i
			case e.Kind == history.Created && ended[e.Path] > 0 && joined(h.Events[:ended[e.Path]], e.Path, e.Client):
				return true
			}
		}
		return false
	}}
	goalTaken   = engine.Goal{Name: "a name that was taken", Reached: answered(checkers.Join, func(e *history.Event) bool { return e.OK })}
	goalUsurped = engine.Goal{Name: "a member whose session ended and whose name another has taken", Reached: func(h *history.History) bool {
		for i := range h.Events {
			e := &h.Events[i]
			if e.Kind != history.Created || e.Session == 0 {
				continue
			}
			for c := int32(1); int(c) <= h.Clients; c++ {
				if c != e.Client && joined(h.Events[:i], e.Path, c) {
					return true
				}
			}
		}
		return false
	}}
)

// joined reports whether after events the client is a member by that znode.
func joined(events []history.Event, path string, client int32) (in bool) {
	for i := range events {
		e := &events[i]
		if e.Path != path && e.Kind != history.Crashed || e.Client != client {
			continue
		}
		switch {
		case e.Kind == history.Return && e.Op == checkers.Join:
			in = e.Err == nil
		case e.Kind == history.Invoke && e.Op == checkers.Leave, e.Kind == history.Crashed:
			in = false
		}
	}
	return in
}
