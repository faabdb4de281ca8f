package engine

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-zookeeper/zk"

	"zksim/checkers"
	"zksim/faults"
	"zksim/model"
	"zksim/model/history"
	"zksim/sim"
)

// Valid reports whether the scenario can be run: its fields are valid, its setup can be made, its plan fits it, and the
// checkers are there that are to catch a mutant. Everything that runs a scenario calls it first.
func (s *Scenario) Valid() error {
	if err := s.replayable(); err != nil {
		return err
	}
	return s.catches()
}

// replayable is Valid for a replay, which may have only some of the checkers: those that a search was asked for.
func (s *Scenario) replayable() error {
	if !sound(s.Name) {
		return fmt.Errorf("the name of a scenario is one line of visible characters, up to %d bytes, and no word of it "+
			"begins with #; as lock/lock, not %.60q", maxName, s.Name)
	}
	for _, wrong := range []func() error{s.runs, s.sizes, s.judged} {
		if err := wrong(); err != nil {
			return err
		}
	}
	return s.Accepts(s.Faults)
}

// runs reports whether there is a program.
func (s *Scenario) runs() error {
	if s.Program == nil && s.Outside == nil {
		return fmt.Errorf("%s has no Program, expected what each client does", s.Name)
	}
	return nil
}

// Limits of a scenario.
const (
	mostClients = 1000
	mostSteps   = 1<<31 - 1
)

// sizes reports whether a run can have all the numbers.
func (s *Scenario) sizes() error {
	within := func(field string, n, least, most int) error {
		if n < least || n > most {
			return fmt.Errorf("%s of %s is %d, expected a number from %d to %d", field, s.Name, n, least, most)
		}
		return nil
	}
	fewest := 1
	if s.Outside != nil { // clients join
		fewest = 0
	}
	err := cmp.Or(within("Clients", s.Clients, fewest, mostClients), within("Dials", s.Dials, 0, mostClients),
		within("Rounds", s.Rounds, 0, MaxRounds), within("SafetySteps", s.SafetySteps, 0, mostSteps),
		within("MaxSteps", s.MaxSteps, 0, mostSteps))
	for _, n := range s.Servers {
		err = cmp.Or(err, s.ensemble(n))
	}
	if likes := model.Likes(); err == nil && int(s.Like) >= len(likes) {
		err = fmt.Errorf("Like of %s is %d, expected that of %s", s.Name, s.Like, strings.Join(likes, ", "))
	}
	if most := cmp.Or(s.MaxSteps, sim.UsualMaxSteps); err == nil && s.SafetySteps >= most {
		err = fmt.Errorf("SafetySteps of %s is %d, expected less than the %d of MaxSteps: a run is to come to rest when no "+
			"more faults strike", s.Name, s.SafetySteps, most)
	}
	return err
}

// ensemble reports whether there are ensembles of that size.
func (s *Scenario) ensemble(servers int) error {
	if servers != 1 && servers != 3 {
		return fmt.Errorf("the number of servers of %s is 1 or 3, not %d", s.Name, servers)
	}
	return nil
}

// judged reports whether all checkers and goals are there, and whether what Finally heeds exists.
func (s *Scenario) judged() error {
	for i, c := range s.Checkers {
		switch {
		case c == nil, reflect.ValueOf(c).Kind() == reflect.Pointer && reflect.ValueOf(c).IsNil():
			return fmt.Errorf("checker %d of %s is nil", i+1, s.Name)
		case !sound(c.Name()) || strings.ContainsAny(c.Name(), `/\`):
			return fmt.Errorf("checker %d of %s is called %.60q, expected a name of one line that can be that of a file", i+1,
				s.Name, c.Name())
		}
		if d, ok := c.(checkers.Declaring); ok {
			for k, n := range d.Needs().Seen {
				if n.What == "" || n.In == nil {
					return fmt.Errorf("need %d of checker %s of %s is %.60q, expected one with What it is and what tells whether it "+
						"is In a history", k+1, c.Name(), s.Name, n.What)
				}
			}
		}
	}
	for i, g := range s.Goals {
		if g.Name == "" || g.Reached == nil {
			return fmt.Errorf("goal %d of %s is %.60q, expected one with a Name and what tells whether it is Reached", i+1,
				s.Name, g.Name)
		}
	}
	if s.Heeds != nil && s.Finally == nil {
		return fmt.Errorf("Heeds of %s is of no use without Finally", s.Name)
	}
	words := checkers.VocabularyOf(s.Judges(), slices.Concat(s.Words, history.KindNames()))
	if lacking := words.Lacks(s.Heeds); lacking != "" {
		return fmt.Errorf("Heeds of %s names %.60q, expected an operation of a checker, or of Words, or a kind of events",
			s.Name, lacking)
	}
	return nil
}

// catches reports whether all checkers that are to find the flaw of a mutant are there.
func (s *Scenario) catches() error {
	known := append([]string{(checkers.Always{}).Name()}, checkers.NamesOf(s.Judges())...)
	for _, name := range s.Caught {
		if !slices.Contains(known, name) {
			return fmt.Errorf("Caught of %s names %.60q, expected one of its checkers: %s", s.Name, name,
				strings.Join(known, ", "))
		}
	}
	return nil
}

// Accepts reports whether a plan can be used with the scenario, and whether the setup can be made: an initial fault
// changes a znode of the setup.
func (s *Scenario) Accepts(p faults.Plan) error {
	return cmp.Or(p.Valid(), s.Aims(p), s.fits(p), s.setsUp())
}

// accept reports whether a schedule is one of the scenario, and clears the numbers in it that the scenario has anyway.
func (s *Scenario) accept(p *Schedule) error {
	if p.Scenario != s.Name {
		return fmt.Errorf("the schedule is one of scenario %s, not of %s", p.Scenario, s.Name)
	}
	if err := s.replayable(); err != nil {
		return err
	}
	x, err := s.Sized(s.Size(p))
	if err != nil {
		return p.misfit(err)
	}
	own := x.NewSchedule(0)
	p.Clients, p.Rounds = own.Clients, own.Rounds
	return cmp.Or(s.ensemble(p.Servers), s.fits(p.Faults))
}

// Aims returns an error unless all clients that a plan aims at exist. A scenario that was made smaller may keep rules
// for clients of its own size.
func (s *Scenario) Aims(p faults.Plan) error {
	clients := max(s.Clients, s.ownSize().clients)
	for _, rule := range p {
		if rule.Aim.Client > clients && s.Outside == nil {
			return fmt.Errorf("fault plan: %s: there is no c%d, %s has %s", rule, rule.Aim.Client, s.Name,
				history.Counted(clients, "client"))
		}
	}
	return nil
}

// fits reports whether all znodes that a plan changes before a run begins exist.
func (s *Scenario) fits(p faults.Plan) error {
	for _, rule := range p {
		if rule.Fault != "sequence" {
			continue
		}
		made := func(r model.Request) bool { return r.Path == rule.Aim.Path }
		if !slices.ContainsFunc(s.Setup, made) {
			return fmt.Errorf("fault plan: %s: there is no znode %s when %s begins", rule, clip(rule.Aim.Path), s.Name)
		}
	}
	return nil
}

// maxName bounds the name of a scenario, which is also the name of a folder.
const maxName = 200

// sound reports whether a name can be read back from a schedule as it was written, and can be the name of a folder.
func sound(name string) bool {
	text, comment := uncomment(name)
	hidden := func(r rune) bool { return r == utf8.RuneError || !strconv.IsPrint(r) }
	return text == name && !comment && len(name) <= maxName && strings.Trim(name, "./") != "" &&
		strings.IndexFunc(name, hidden) < 0
}

// Mkdir returns a request for Scenario.Setup that makes a persistent znode without data that everybody may use.
func Mkdir(path string) model.Request {
	return model.Request{Op: model.OpCreate, Path: path, ACL: zk.WorldACL(zk.PermAll)}
}

// setUp executes the setup in a world. Its error is a sentence about the first request that fails.
func (s *Scenario) setUp(w *sim.World) error {
	for _, r := range s.Setup {
		if err := w.TryPrepare(r); err != nil {
			return fmt.Errorf("the setup of %s fails: %v %.200s: %w%s", s.Name, r.Op, r.Path, err, remedy(err))
		}
	}
	return nil
}

// remedy says what is usually wrong with a request of a setup.
func remedy(err error) string {
	switch {
	case errors.Is(err, zk.ErrNoNode):
		return "; the parent has to be made first, as by Mkdir"
	case errors.Is(err, zk.ErrNodeExists):
		return "; it was made before"
	case errors.Is(err, zk.ErrInvalidACL):
		return "; Mkdir makes a znode that everybody may use"
	}
	return ""
}

// setsUp reports what is wrong with the setup.
func (s *Scenario) setsUp() error {
	if len(s.Setup) == 0 {
		return nil
	}
	w := sim.NewWorld()
	defer w.Close()
	w.Reset(sim.Config{Clients: 1}, nil, func(*sim.Client) {})
	return s.setUp(w)
}
