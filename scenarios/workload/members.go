package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
)

// GroupDir is the folder of the group.
const GroupDir = "/group"

// Membership is a member of a group under test. It may also be [WatchingMembers].
type Membership interface {
	// Join makes the client a member by the ephemeral znode of that name in the folder of the group, in this session and
	// in every later one until Leave. It returns recipes.ErrNameTaken or zk.ErrNodeExists, which may be wrapped, when
	// another client has the name. When ctx is done it returns the error of ctx, and leaves nothing behind: Leave is only
	// called by those who have joined.
	Join(ctx context.Context, name string, data []byte) error
	// Leave ends the membership.
	Leave(ctx context.Context) error
}

// WatchingMembers is a group that reports its members: each name with its data and stat when it has appeared or
// changed, and with a nil stat when it has gone. When ctx is done it returns the error of ctx.
type WatchingMembers interface {
	Watch(ctx context.Context, told func(name string, data []byte, stat *zk.Stat)) error
}

// Members returns the scenario of a user's group membership: three clients are members, each by its own name, under
// every fault. The folder of the group, path, exists.
func Members[M Membership](name string, newMember func(p *engine.Process, path string) M) engine.Scenario {
	s := engine.Scenario{Name: name, Doc: "members of a group under every fault", Rounds: 20}
	s.Program = InGroup(func(p *engine.Process) *Group { return groupOf(p, newMember(p, p.Path(GroupDir))) }, StayInGroup)
	s.Goals = []engine.Goal{GoalRejoin}
	s = BaseGroup(s).Without("claim", "presence") // nobody tells a member how its membership is
	s.Checkers = append(s.Checkers, checkers.Presence{Untold: true})
	s.Setup = []model.Request{engine.Mkdir(GroupDir)}
	if has[M, WatchingMembers]() {
		return s
	}
	s.Goals = []engine.Goal{GoalRejoin}
	return s.Without("monotone", "convergence").FaultsOptional() // perhaps nobody watches
}

// groupOf turns a membership into a Group.
func groupOf(p *engine.Process, m Membership) *Group {
	g := &Group{Join: func(ctx context.Context, name string, data []byte) (Leaver, error) {
		err := patient(p, func(ctx context.Context) error { return m.Join(ctx, name, data) })(ctx)
		if errors.Is(err, zk.ErrNodeExists) && !errors.Is(err, recipes.ErrNameTaken) {
			err = fmt.Errorf("%w: %w", recipes.ErrNameTaken, err)
		}
		return leaving(thorough(p, m.Leave)), err
	}}
	if w, ok := m.(WatchingMembers); ok {
		g.Watch = func(ctx context.Context, f func(now []recipes.Child, changes []recipes.Change) bool) error {
			return patient(p, func(ctx context.Context) error {
				return w.Watch(ctx, func(name string, data []byte, stat *zk.Stat) {
					c := recipes.Change{Child: recipes.Child{Name: name, Data: data, Stat: stat}}
					if stat == nil {
						c.Kind = recipes.Removed
					}
					f(nil, []recipes.Change{c})
				})
			})(ctx)
		}
	}
	return g
}

// leaving is a function that ends a membership.
type leaving func(ctx context.Context) error

// Leave implements [Leaver].
func (f leaving) Leave(ctx context.Context) error { return f(ctx) }

// Group is a group as the programs use it, and its present member. Watch is nil if nobody watches.
type Group struct {
	Join   func(ctx context.Context, name string, data []byte) (Leaver, error)
	Watch  func(ctx context.Context, f func(now []recipes.Child, changes []recipes.Change) bool) error
	member member
	doubts chan zk.Event // what the member was told and has not received yet
}

// Leaver ends a membership.
type Leaver interface {
	Leave(ctx context.Context) error
}

// Changed records what the member is told.
func (g *Group) Changed(_ string, joined bool) {
	op := checkers.ToldLost
	if joined {
		op = checkers.ToldJoined
	}
	g.member.Record(history.Event{Kind: history.Told, Op: op, Path: g.member.path})
	if !joined && len(g.doubts) == 0 {
		g.doubts <- zk.Event{} //zksim:ignore has room for one, and is empty
	}
}

// watchGroup is the watcher of a group.
func watchGroup(g *Group) Watching {
	return Watching{checkers.WatchMembers, GroupDir, func(ctx context.Context, p *engine.Process, o engine.Object) error {
		return g.Watch(ctx, func(_ []recipes.Child, changes []recipes.Change) bool {
			TellChanges(o, p.Path(GroupDir), changes)
			return true
		})
	}}
}

// member is a membership under observation.
type member struct {
	engine.Object
	path string
	Leaver
}

// enter joins once. There is no Leaver if the name was taken or the attempt cancelled.
func (g *Group) enter(p *engine.Process, name string) error {
	m := &g.member
	g.doubts = make(chan zk.Event, 1)
	*m = member{p.Register(nil), p.Path(GroupDir) + "/" + name, nil}
	ctx, end := p.Interruptible()
	defer end()
	m.Record(history.Event{Kind: history.Invoke, Op: checkers.Join, Path: m.path})
	l, err := g.Join(ctx, name, fmt.Appendf(nil, "c%d", p.ID))
	taken := errors.Is(err, recipes.ErrNameTaken)
	m.Record(history.Event{Kind: history.Return, Op: checkers.Join, Path: m.path, Err: err, OK: taken})
	if err == nil {
		m.Leaver = l
	}
	if taken || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// exit leaves, if the client is a member.
func (g *Group) exit() error {
	m := &g.member
	if m.Leaver == nil {
		return nil
	}
	m.Record(history.Event{Kind: history.Invoke, Op: checkers.Leave, Path: m.path})
	err := m.Leave(context.Background())
	m.Record(history.Event{Kind: history.Return, Op: checkers.Leave, Path: m.path, Err: err})
	return err
}

// InGroup makes a program that watches a group, calls do, rests and stops watching when the others have left. In a
// brief run only followers watch.
func InGroup(
	newGroup func(p *engine.Process) *Group, do func(p *engine.Process, g *Group) error,
) func(p *engine.Process) {
	return func(p *engine.Process) {
		g := newGroup(p)
		if Follows(p) && g.Watch != nil {
			o, stop := Watch(p, watchGroup(g))
			defer func() {
				Rest(p, Repeat(p, 4), o)
				stop()
			}()
		}
		if err := do(p, g); err != nil {
			p.Fail(err)
		}
	}
}

// StayInGroup is the program of a member with its own name. It stays for a while in each round. In a brief run only
// leaders join.
func StayInGroup(p *engine.Process, g *Group) error {
	if !Leads(p) {
		Rest(p, p.Rounds)
		return nil
	}
	if err := g.enter(p, fmt.Sprintf("m%d", p.ID)); err != nil {
		return err
	}
	Rest(p, p.Rounds, g.member.Object)
	return g.exit()
}

// StayForSeconds is StayInGroup for members whose timers are to fire: they stay for five seconds in each round.
func StayForSeconds(p *engine.Process, g *Group) error {
	if err := g.enter(p, fmt.Sprintf("m%d", p.ID)); err != nil {
		return err
	}
	for range p.Rounds {
		p.Env.Sleep(context.Background(), 5*time.Second)
	}
	p.AtRest()
	Rest(p, 0, g.member.Object)
	return g.exit()
}

// Insist is the program of a member whose name others want too. It tries once in each round, until it has the name.
func Insist(p *engine.Process, g *Group) error {
	for range p.Rounds {
		if err := g.enter(p, "m"); err != nil {
			return err
		}
		if g.member.Leaver != nil {
			break
		}
		p.Env.Sleep(context.Background(), time.Millisecond)
	}
	Rest(p, Repeat(p, 16), g.member.Object)
	return g.exit()
}

// ComeAndGo is the program of a member that wants such a name in each round.
func ComeAndGo(p *engine.Process, g *Group) error { return ComeAndGoAs(p, g, "m") }

// ComeAndGoAs is ComeAndGo for a member with its own name.
func ComeAndGoAs(p *engine.Process, g *Group, name string) error {
	for range p.Rounds {
		if err := g.enter(p, name); err != nil {
			return err
		}
		p.Env.Sleep(context.Background(), time.Millisecond)
		Steps(p, Repeat(p, 8))
		if err := g.exit(); err != nil {
			return err
		}
	}
	return nil
}

// Idle is the program of a member with its own name and nothing to do. In each round it waits to be told that it may no
// longer be a member.
func Idle(p *engine.Process, g *Group) error {
	if err := g.enter(p, fmt.Sprintf("m%d", p.ID)); err != nil {
		return err
	}
	for range p.Rounds {
		if !idle(p, g.doubts) {
			break
		}
	}
	Rest(p, Repeat(p, 4), g.member.Object)
	return g.exit()
}

// memberCheckers are what every group must satisfy.
var memberCheckers = append([]checkers.Checker{checkers.Departure{}, checkers.Presence{},
	checkers.Claim{Of: checkers.ClaimedMember}, checkers.Tree{}}, watchCheckers...)

// BaseGroup returns s with what all scenarios of groups have in common.
func BaseGroup(s engine.Scenario) engine.Scenario {
	s.SafetySteps = 120
	own := s.Goals
	s = BaseWatcher(s)
	s.Setup, s.Checkers = nil, memberCheckers
	if !s.Broken() {
		s.Faults, s.Checkers = faults.Contract(), append(slices.Clip(memberCheckers), checkers.Taken{})
		s.Goals = append([]engine.Goal{goalJudged, goalExpired}, own...)
	}
	return s
}

// Goals of groups.
var (
	GoalLostJoin = engine.Goal{Name: "a lost reply after a join that was executed", Reached: LostAfter("multi", Created)}
	GoalRejoin   = engine.Goal{Name: "a member that is made anew after the end of its session",
		Reached: func(h *history.History) bool {
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
	GoalTaken = engine.Goal{Name: "a name that was taken",
		Reached: Answered(checkers.Join, func(e *history.Event) bool { return e.OK })}
	GoalUsurped = engine.Goal{Name: "a member whose session ended and whose name another has taken",
		Reached: func(h *history.History) bool {
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

// joined reports whether the client is a member by that znode after these events.
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
