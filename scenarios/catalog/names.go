package catalog

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/mutants"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/scenarios/engine"
	"zksim/scenarios/workload"
)

// names is a name service under test.
type names interface {
	Register(ctx context.Context, name string, data []byte) error
	Resolve(ctx context.Context, name string) ([]byte, error)
	Unregister(ctx context.Context, name string) error
}

const namesDir = "/names"

func newNames(p *engine.Process) names {
	return recipes.NewNames(p.Conn, p.Env, p.Path(namesDir), recipes.NamesOptions{})
}

// nameRounds makes a program that registers a name that all want, resolves it and gives it up, in each round. In the
// second round the name has a number, if that is possible.
func nameRounds(newNames func(p *engine.Process) names) func(p *engine.Process) {
	return func(p *engine.Process) {
		n := newNames(p)
		u := nameUser{p, n, p.Register(nil)}
		workload.Rounds(p, func(r int) error {
			value := 10*p.ID + r
			register := func(ctx context.Context, data []byte) (string, error) { return "all", n.Register(ctx, "all", data) }
			if numbered, ok := n.(*recipes.Names); ok && r == 1 {
				register = func(ctx context.Context, data []byte) (string, error) {
					return numbered.RegisterNext(ctx, "job-", data)
				}
			}
			return u.round(value, register)
		})
	}
}

// askedAbout makes a program in which the first client registers a name and unregisters it in each round, each in a
// session of its own. The others only ask: even ones resolve the name, and odd ones list all names. A name that is not
// listed counts as one that resolves to nothing.
func askedAbout(newNames func(p *engine.Process) owned) func(p *engine.Process) {
	return func(p *engine.Process) {
		n := newNames(p)
		u := nameUser{p, n, p.Register(nil)}
		gives := u
		if p.ID == 1 {
			q, err := p.Dial()
			if err != nil {
				p.Fail(err)
				return
			}
			gives.n = newNames(q)
		}
		workload.Rounds(p, func(r int) error {
			switch {
			case p.ID == 1:
				mine, err := u.take(10+r, func(ctx context.Context, data []byte) (string, error) {
					return "all", n.Register(ctx, "all", data)
				})
				if err != nil || mine == "" {
					return err
				}
				return gives.giveUp(mine)
			case p.ID%2 == 0:
				return u.resolve("all")
			}
			return u.list(n, "all")
		})
	}
}

// list asks for all names, and records an answer without name as if name had been resolved.
func (u nameUser) list(n owned, name string) error {
	err := u.do(history.Event{Op: "resolve", Path: name}, func(ctx context.Context, _ *history.Event) error {
		list, err := n.List(ctx)
		if slices.Contains(list, name) {
			err = recipes.ErrNameTaken // which says nothing
		}
		return err
	})
	if errors.Is(err, recipes.ErrNameTaken) {
		return nil
	}
	return workload.IgnoreCanceled(err)
}

// owned is a name service that knows owners by name.
type owned interface {
	names
	List(ctx context.Context) ([]string, error)
}

// ownerNames are names of owners, some of which begin with others.
var ownerNames = []string{"a-b", "a", "a-b-c", "a-"}

// ownerRounds makes a program in which each client registers names of its own and names that all want; some names begin
// with others. It comes back as the same owner, as after a restart. In each round it unregisters a name that may be
// another's, and then its own.
func ownerRounds(newNames func(p *engine.Process, owner string) owned) func(p *engine.Process) {
	return func(p *engine.Process) {
		owner := ownerNames[p.ID%len(ownerNames)]
		owner += strings.Repeat("'", (p.ID-1)/len(ownerNames)) // of more clients than names
		u := nameUser{p, nil, p.Register(nil)}
		workload.Rounds(p, func(r int) error {
			n := newNames(p, owner)
			u.n = n
			name := []string{"n", "n-1", "n-"}[r%3]
			value := 10*p.ID + r
			register := func(ctx context.Context, data []byte) (string, error) { return name, n.Register(ctx, name, data) }
			mine, err := u.take(value, register)
			if err == nil && mine != "" {
				u.n = newNames(p, owner)
				list, lost := n.List(context.Background())
				p.Always("a name is listed as long as it is registered", lost != nil || slices.Contains(list, mine))
				err = u.giveUp(mine)
			} else if err == nil {
				err = u.giveUp(name)
			}
			return workload.IgnoreCanceled(err)
		})
	}
}

// take registers a name, and returns it unless it is another's.
func (u nameUser) take(
	value int, register func(ctx context.Context, data []byte) (string, error),
) (name string, err error) {
	name, err = u.register(value, register)
	switch {
	case errors.Is(err, recipes.ErrNameTaken):
		return "", nil
	case err != nil:
		return "", err
	}
	return name, nil
}

// register registers a name, and returns it even if it is another's.
func (u nameUser) register(
	value int, register func(ctx context.Context, data []byte) (string, error),
) (name string, err error) {
	err = u.do(history.Event{Op: "register", Value: int64(value)},
		func(ctx context.Context, e *history.Event) (err error) {
			name, err = register(ctx, strconv.AppendInt(nil, int64(value), 10))
			e.Path = name
			return err
		})
	return name, err
}

// unregister unregisters a name.
func (u nameUser) unregister(name string) error {
	return u.do(history.Event{Op: "unregister", Path: name}, func(ctx context.Context, _ *history.Event) error {
		return u.n.Unregister(ctx, name)
	})
}

// giveUp unregisters a name, whether it is the client's or not.
func (u nameUser) giveUp(name string) error {
	err := u.unregister(name)
	if errors.Is(err, recipes.ErrNotOwner) || errors.Is(err, recipes.ErrNoName) {
		return nil
	}
	return err
}

// nameUser is a client of a name service.
type nameUser struct {
	p *engine.Process
	n names
	o engine.Object
}

// round is one round. It returns only errors that a name service must not have.
func (u nameUser) round(value int, register func(ctx context.Context, data []byte) (string, error)) error {
	name, err := u.register(value, register)
	own := err == nil
	if errors.Is(err, recipes.ErrNameTaken) {
		err = nil
	}
	if err == nil && name != "" {
		err = u.resolve(name)
	}
	if own {
		err = errors.Join(workload.IgnoreCanceled(err), u.unregister(name))
	}
	return workload.IgnoreCanceled(err)
}

// resolve asks for a name.
func (u nameUser) resolve(name string) error {
	return u.do(history.Event{Op: "resolve", Path: name}, func(ctx context.Context, e *history.Event) error {
		data, err := u.n.Resolve(ctx, name)
		if errors.Is(err, recipes.ErrNoName) {
			return nil
		}
		e.Value, _ = strconv.ParseInt(string(data), 10, 64)
		return err
	})
}

// do records one operation; f completes its return event.
func (u nameUser) do(e history.Event, f func(ctx context.Context, e *history.Event) error) error {
	ctx, end := u.p.Interruptible()
	defer end()
	e.Kind = history.Invoke
	u.o.Record(e)
	e.Kind, e.Value = history.Return, 0
	e.Err = f(ctx, &e)
	e.OK = errors.Is(e.Err, recipes.ErrNameTaken) || errors.Is(e.Err, recipes.ErrNotOwner) ||
		errors.Is(e.Err, recipes.ErrNoName)
	u.o.Record(e)
	return e.Err
}

// namesScenario is what all scenarios of name services have in common.
func namesScenario(s engine.Scenario) engine.Scenario {
	s = workload.WithDefaults(s, 3)
	s.Setup = makeZnodes(namesDir, "")
	s.Checkers = []checkers.Checker{checkers.Names{}, checkers.Liveness{}, checkers.Quiescence{}, checkers.Tree{},
		checkers.Steps{}}
	if !s.Broken() {
		s.Checkers = append(s.Checkers, checkers.Taken{})
	}
	return s
}

// namesMutant is a scenario of a broken name service that must be caught.
func namesMutant(f mutants.Flaw, s engine.Scenario) engine.Scenario {
	s = mutated(f, s)
	s.Rounds, s.Program = 3, nameRounds(func(p *engine.Process) names {
		return mutants.NewNames(p.Conn, p.Env, p.Path(namesDir), f)
	})
	return namesScenario(s)
}

// early has clients give up sessions that live on, with requests still on their way.
var early = faults.MustParse("lost-early=2 disconnect=3")

var namesScenarios = []engine.Scenario{
	namesScenario(engine.Scenario{
		Name: "names/names", Doc: "the name service under every fault",
		Faults: append(faults.Contract().Except("watch-delay", "overtake"),
			faults.Rule{Fault: "sequence", Budget: 2, Aim: faults.Aim{Path: namesDir}}),
		Rounds: 3, Program: nameRounds(newNames),
		Goals: []engine.Goal{workload.GoalLostMulti,
			{Name: "a name that is taken", Reached: workload.Answered("register", func(e *history.Event) bool { return e.OK })},
			{Name: "a name with a number",
				Reached: workload.Answered("register", func(e *history.Event) bool { return e.Err == nil && e.Path != "all" })},
			{Name: "a name that is given up while its client cannot know",
				Reached: workload.Answered("unregister", func(e *history.Event) bool { return e.Err == context.Canceled })}},
	}),
	namesScenario(engine.Scenario{
		Name: "names/owners", Doc: "owners whose names begin alike come back, and try to unregister what is not theirs",
		Clients: 4,
		Faults:  faults.Contract().Except("watch-delay", "overtake"),
		Rounds:  3, Program: ownerRounds(func(p *engine.Process, owner string) owned {
			return recipes.NewNames(p.Conn, p.Env, p.Path(namesDir), recipes.NamesOptions{Owner: owner})
		}),
		Goals: []engine.Goal{
			{Name: "a name that is another's", Reached: workload.Returned("unregister", recipes.ErrNotOwner)},
			{Name: "a name that nobody has", Reached: workload.Returned("unregister", recipes.ErrNoName)}},
	}),

	namesScenario(engine.Scenario{
		Name: "names/asked", Doc: "sessions that register nothing resolve, list and unregister, while leaders are deposed",
		Clients: 4, Dials: 1, Servers: []int{3}, Faults: faults.MustParse("depose=3 elect=1"),
		Rounds: 4, Program: askedAbout(func(p *engine.Process) owned {
			owner := recipes.NamesOptions{Owner: strconv.Itoa(p.ID)}
			return recipes.NewNames(p.Conn, p.Env, p.Path(namesDir), owner)
		}),
		Goals: []engine.Goal{{Name: "a name that is resolved to its data",
			Reached: workload.Answered("resolve", func(e *history.Event) bool { return e.Err == nil && e.Value != 0 })}},
	}),

	namesScenario(engine.Scenario{
		Name: "names/early", Doc: "clients register in new sessions, while earlier ones live on", Faults: early, Rounds: 3,
		Program: nameRounds(newNames),
		Goals:   []engine.Goal{workload.GoalLostMulti},
	}),

	namesScenario(mutated(mutants.PrefixOwner, engine.Scenario{Clients: 4, Rounds: 3,
		Program: ownerRounds(func(p *engine.Process, owner string) owned {
			return mutants.NewOwned(p.Conn, p.Env, p.Path(namesDir), owner)
		})})).Without("tree"),
	namesMutant(mutants.AssumeOwn, engine.Scenario{Faults: faults.MustParse("lose-request=2")}),
	namesMutant(mutants.DeleteAgain, engine.Scenario{Faults: faults.MustParse("lose-reply=2")}),
	namesScenario(mutated(mutants.NoTicket, engine.Scenario{Faults: faults.MustParse("lost-early=1 disconnect=1"),
		Program: nameRounds(func(p *engine.Process) names { return mutants.NewHasty(p.Conn, p.Env, p.Path(namesDir)) }),
		Clients: 2, Rounds: 1})),
}
