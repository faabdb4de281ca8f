package prove

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"

	"zksim/checkers"
	"zksim/faults"
	"zksim/internal/edit"
	"zksim/internal/files"
	"zksim/model"
	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// Outcome is the result of a search.
type Outcome string

// The outcomes.
const (
	Holds        Outcome = "holds"        // no schedule within the scope violates a checker
	Violated     Outcome = "violated"     // a schedule violates a checker
	Inconclusive Outcome = "inconclusive" // a limit was reached, or a checker could not decide
)

// Claim is a scope in a form that can be compared and stored.
type Claim struct {
	Scenario   string     `json:"scenario"`
	Clients    int        `json:"clients"`
	Dials      int        `json:"dials,omitempty"` // further connections that each client may make
	Rounds     int        `json:"rounds"`
	Servers    int        `json:"servers"`
	Like       string     `json:"like,omitempty"` // product whose semantics the servers have; "": ZooKeeper's
	Order      uint64     `json:"order"`
	Faults     string     `json:"faults"`
	Most       int        `json:"most"` // faults in one run
	Interleave bool       `json:"interleave"`
	SlowWakes  bool       `json:"slow_wakes"`
	Offline    bool       `json:"offline"`
	Ticks      int        `json:"ticks"`
	Deposed    bool       `json:"deposed_leaders"` // there are runs with a deposed leader that does not know it
	Checkers   []string   `json:"checkers"`
	Reductions Reductions `json:"reductions"`
}

// Level is the complete exploration of all schedules with at most that many faults. Its numbers depend neither on the
// order of the search nor on the number of workers.
type Level struct {
	Faults      int    `json:"faults"`
	States      int    `json:"states"`
	Transitions int64  `json:"transitions"`
	Runs        int64  `json:"runs"`      // branches, each up to a known state or to an end
	Schedules   int64  `json:"schedules"` // complete runs, which were judged
	Digest      string `json:"digest"`    // digest of the fingerprints of all states
}

// Certificate is the result of a search. It can be stored in a file and verified.
type Certificate struct {
	Format string `json:"format"`
	Claim
	Outcome Outcome `json:"outcome"`
	Levels  []Level `json:"levels"` // complete levels
	// Collision bounds the probability of a collision: two states with the same fingerprint of 128 bits, or two parts of
	// states, or two positions in which steps are remembered, with the same hash of 64 bits. How much is remembered twice
	// depends on the workers, and checkpoints do not store it, so only this number may differ between searches of one
	// scope.
	Collision float64 `json:"collision"`

	// Idle describes the checkers that have nothing to judge within the scope: nothing is proved about what they promise.
	// The outcome is inconclusive if one of them has nothing to judge in the whole scenario either.
	Idle []string `json:"judged_nothing,omitempty"`

	Checker  string   `json:"checker,omitempty"` // if Violated: the checker,
	Message  string   `json:"message,omitempty"`
	Struck   int      `json:"struck,omitempty"` // the least number of faults,
	Schedule []string `json:"schedule,omitempty"`
	Why      string   `json:"why,omitempty"` // if Inconclusive, or if Violated but not found by the search
}

const certificateFormat = "zksim certificate 10"

func (s *Scope) claim(r Reductions) Claim {
	x, like := s.Scenario, ""
	if x.Like != model.ZooKeeper {
		like = x.Like.String()
	}
	return Claim{Like: like, Scenario: x.Name, Clients: x.Clients, Dials: x.Dials, Rounds: x.Rounds, Servers: s.Servers,
		Order: s.Order, Faults: s.Faults.String(),
		Most: s.most(), Interleave: s.Interleave, SlowWakes: s.SlowWakes, Offline: s.Offline, Ticks: s.Ticks,
		Deposed: s.deposes(), Checkers: checkers.NamesOf(x.Checkers), Reductions: r}
}

// String returns the claim in one line.
func (c *Claim) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s with %s", c.Scenario, history.Counted(c.Clients, "client"))
	if c.Rounds > 0 {
		fmt.Fprintf(&b, ", rounds %d", c.Rounds)
	}
	fmt.Fprintf(&b, ", servers %d, faults %s, at most %d", c.Servers, c.Faults, c.Most)
	if c.Like != "" {
		fmt.Fprintf(&b, ", like %s", c.Like)
	}
	if c.Ticks > 0 {
		fmt.Fprintf(&b, ", ticks %d", c.Ticks)
	}
	if c.Order != 1 {
		fmt.Fprintf(&b, ", order %d", c.Order)
	}
	for _, x := range []struct {
		on   bool
		text string
	}{{c.Deposed, "deposed leaders"}, {c.Servers > 1 && !c.Deposed, "no deposed leaders"}, {c.SlowWakes, "slow wakes"},
		{c.Interleave, "interleaved"}, {c.Offline, "offline"}} {
		if x.on {
			b.WriteString(", " + x.text)
		}
	}
	fmt.Fprintf(&b, ", %v", c.Reductions)
	return b.String()
}

// whole returns the claim with its checkers.
func (c *Claim) whole() string {
	return fmt.Sprintf("%v, checkers %s", c, strings.Join(c.Checkers, ","))
}

// String returns the certificate in one line.
func (c *Certificate) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v", c.Outcome, &c.Claim)
	switch c.Outcome {
	case Violated:
		fmt.Fprintf(&b, ": %s: %s; faults %d, steps %d", c.Checker, c.Message, c.Struck, len(c.Schedule))
		if c.Why != "" {
			fmt.Fprintf(&b, "; by %s", c.Why)
		}
	case Inconclusive:
		fmt.Fprintf(&b, ": %s", c.Why)
	}
	if n := len(c.Levels); n > 0 {
		l := c.Levels[n-1]
		if c.Outcome != Holds {
			fmt.Fprintf(&b, "; holds with at most %d", l.Faults)
		}
		fmt.Fprintf(&b, "; %s, %s, %s, digest %s, P(collision) < %.1g", history.Counted(l.States, "state"),
			history.Counted(l.Transitions, "transition"),
			history.Counted(l.Schedules, "schedule"), l.Digest, c.Collision)
	}
	return b.String()
}

// Write writes the certificate as JSON.
func (c *Certificate) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(c)
}

// maxCertificate limits the size of a certificate's file.
const maxCertificate = 16 << 20

// ReadCertificate reads what Write has written, apart from white space. Of a field that is there twice, or under a name
// that differs in case, people and other programs may read what is not verified.
func ReadCertificate(r io.Reader) (Certificate, error) {
	var c Certificate
	text, err := io.ReadAll(io.LimitReader(r, maxCertificate))
	if err != nil {
		return c, err
	}
	if err := files.Unmarshal(text, &c); err != nil {
		return c, fmt.Errorf("a certificate is a JSON object as the command prove -cert writes it: %w", err)
	}
	if c.Format != certificateFormat {
		return c, fmt.Errorf("the format of a certificate is %q, not %.60q", certificateFormat, c.Format)
	}
	var got, want, again bytes.Buffer
	if err := errors.Join(json.Compact(&got, text), c.Write(&again), json.Compact(&want, again.Bytes())); err != nil {
		return c, err
	}
	if i := differ(got.Bytes(), want.Bytes()); i >= 0 {
		return c, fmt.Errorf("a certificate has each field once, in the order in which prove -cert writes them: %.60q, "+
			"not %.60q", want.Bytes()[i:], got.Bytes()[i:])
	}
	return c, nil
}

// differ returns where two texts begin to differ, and -1 if they are the same.
func differ(a, b []byte) int {
	if bytes.Equal(a, b) {
		return -1
	}
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	return i
}

// Scope returns the scope that the claim is about, with its scenario taken from a list.
func (c *Claim) Scope(all []engine.Scenario) (Scope, error) {
	i := slices.IndexFunc(all, func(s engine.Scenario) bool { return s.Name == c.Scenario })
	if i < 0 {
		var names []string
		for i := range all {
			names = append(names, all[i].Name)
		}
		return Scope{}, fmt.Errorf("there is no scenario %.60q%s", c.Scenario, edit.Meant(c.Scenario, names))
	}
	x, err := all[i].Sized(c.Clients, c.Rounds)
	if err != nil {
		return Scope{}, err
	}
	if len(c.Checkers) == 0 {
		return Scope{}, fmt.Errorf("the claim about %s names no checkers, so it promises nothing", c.Scenario)
	}
	x = x.Listed()
	x.Like = model.ZooKeeper // whatever the scenario says
	if c.Like != "" {
		if x.Like, err = model.ParseLike(c.Like); err != nil {
			return Scope{}, err
		}
	}
	x.Checkers = slices.DeleteFunc(slices.Clone(x.Checkers),
		func(k checkers.Checker) bool { return !slices.Contains(c.Checkers, k.Name()) })
	if len(x.Checkers) != len(c.Checkers) {
		return Scope{}, fmt.Errorf("%s has not all of the checkers %.200v", c.Scenario, c.Checkers)
	}
	plan, err := faults.Parse(c.Faults)
	if err != nil {
		return Scope{}, err
	}
	return Scope{Scenario: &x, Servers: c.Servers, Order: c.Order, Faults: plan, Most: c.Most, Interleave: c.Interleave,
		SlowWakes: c.SlowWakes, Offline: c.Offline, Ticks: c.Ticks}, nil
}

// Differs says how the result of a search of the same scope differs, "" if it does not. It compares the outcome, what
// had nothing to judge, and the levels that both have. The numbers of levels from searches with different reductions
// differ, so they are not compared. A search may get further than one that was inconclusive.
func (c *Certificate) Differs(d *Certificate) string {
	a, b := c.Claim, d.Claim
	same := a.Reductions == b.Reductions
	a.Reductions = b.Reductions
	if !reflect.DeepEqual(a, b) {
		return fmt.Sprintf("the claims differ: %+v and %+v", a, b)
	}
	if c.Outcome != d.Outcome && c.Outcome != Inconclusive {
		return fmt.Sprintf("the outcomes differ: %s and %s", c.Outcome, d.Outcome)
	}
	if n := len(c.Levels); n > 0 {
		last := c.Levels[n-1]
		if least := pairs(last.States, 128); c.Collision < least || c.Collision > 1 {
			return fmt.Sprintf("the bound on collisions is %g, expected from %g for %s to 1", c.Collision, least,
				history.Counted(last.States, "state"))
		}
		if c.Outcome == Inconclusive && d.Outcome == Violated && d.Struck <= last.Faults {
			return fmt.Sprintf("it is said to hold with at most %s, and is violated with %d",
				history.Counted(last.Faults, "fault"), d.Struck)
		}
	}
	if c.Outcome == Violated && c.Struck != d.Struck {
		return fmt.Sprintf("the numbers of faults that it takes differ: %d and %d", c.Struck, d.Struck)
	}
	if c.Outcome != Inconclusive && !slices.Equal(c.Idle, d.Idle) {
		return fmt.Sprintf("what had nothing to judge differs: %q and %q", c.Idle, d.Idle)
	}
	if same && c.Outcome != Inconclusive && c.Why != d.Why {
		return fmt.Sprintf("what is behind the outcome differs: %.200q and %.200q", c.Why, d.Why)
	}
	if same && c.Outcome != Inconclusive && len(c.Levels) != len(d.Levels) {
		return fmt.Sprintf("the numbers of levels differ: %d and %d", len(c.Levels), len(d.Levels))
	}
	for i := range min(len(c.Levels), len(d.Levels)) {
		if same && c.Levels[i] != d.Levels[i] {
			return fmt.Sprintf("the levels differ: %+v and %+v", c.Levels[i], d.Levels[i])
		}
	}
	return ""
}

// Contradicts says how a certificate differs from the result of a search of its scope, as [Certificate.Differs] does,
// and whether the search has decided it. A search that has reached a limit has not decided it. Neither has an
// inconclusive search with other reductions, which may need those of the certificate. Then only the levels that both
// have count.
func (r *Result) Contradicts(c *Certificate) (why string, decided bool) {
	said := *c
	decided = !r.Limited && (r.Outcome != Inconclusive || r.Reductions == c.Reductions)
	if !decided {
		said.Outcome = Inconclusive
	}
	return said.Differs(&r.Certificate), decided
}

// Replay runs the schedule of a certificate of a violation in its scope. It fails if the schedule is not possible, or
// does not show what the certificate says: this checker, this message, this number of faults. Whether fewer faults
// suffice is for a search to decide. For other outcomes it runs nothing.
func (c *Certificate) Replay(sc Scope) error {
	told := len(c.Schedule) > 0 || c.Checker != "" || c.Message != "" || c.Struck != 0
	switch {
	case c.Outcome != Violated && told:
		return fmt.Errorf("a certificate that says %.20q tells of a violation, expected none", c.Outcome)
	case c.Outcome != Violated:
		return nil
	case len(c.Schedule) == 0:
		return errors.New("the schedule is empty, expected the steps of a violation")
	}
	if err := sc.check(); err != nil {
		return err
	}
	// First as the search runs it, then with the limits that end a schedule without end.
	endless := *sc.Scenario
	endless.SafetySteps, endless.MaxSteps = math.MaxInt32, math.MaxInt32
	err := c.replay(sc, &endless)
	if errors.Is(err, errUnfinished) {
		err = c.replay(sc, sc.Scenario)
	}
	return err
}

// errUnfinished says that the run could go on after the schedule, and that nothing is violated so far.
var errUnfinished = errors.New("the run does not end with the schedule, and nothing is violated before")

// replay is Replay with the limits of a scenario.
func (c *Certificate) replay(sc Scope, s *engine.Scenario) error {
	p := s.NewSchedule(0)
	p.Servers, p.Order, p.Faults = sc.Servers, sc.Order, sc.Faults
	runner := engine.NewRunner()
	defer runner.Close()
	steps := &counted{Replay: sim.Replay{Names: c.Schedule, Then: over{}}}
	res, err := runner.Explore(s, p, steps)
	switch {
	case err != nil:
		return fmt.Errorf("the schedule is not possible: %w", err)
	case res.Steps < len(c.Schedule):
		return fmt.Errorf("the run is over after step %d of the schedule, which has %d", res.Steps, len(c.Schedule))
	case steps.faults != c.Struck:
		return fmt.Errorf("the schedule has %s, not %d", history.Counted(steps.faults, "fault"), c.Struck)
	}
	v, err := c.verdict(s, res.History, steps.ended)
	switch {
	case err != nil:
		return err
	case v.Level != checkers.Violated || v.Checker != c.Checker:
		return fmt.Errorf("the schedule does not violate %.60q", c.Checker)
	case v.Message != c.Message:
		return fmt.Errorf("%s says of the schedule %q, not %.200q", c.Checker, v.Message, c.Message)
	}
	return nil
}

// verdict returns the verdict of the certificate's checker on a run. A checker that judges how runs end has no verdict
// on a run that could go on.
func (c *Certificate) verdict(s *engine.Scenario, h *history.History, ended bool) (checkers.Verdict, error) {
	if h.Outcome == history.Panicked || c.Checker == (checkers.Always{}).Name() {
		return checkers.Worst(h, nil), nil
	}
	i := slices.IndexFunc(s.Checkers, func(k checkers.Checker) bool {
		return k.Name() == c.Checker && (!s.Broken() || slices.Contains(s.Caught, c.Checker))
	})
	if i < 0 {
		return checkers.Verdict{}, fmt.Errorf("%.60q is no checker that can refute %s, expected one", c.Checker, s.Name)
	}
	k := s.Checkers[i]
	if ended || h.Outcome == history.StepLimit {
		return checkers.VerdictOf(k, h), nil
	}
	if m, ok := k.(checkers.Monitored); ok {
		monitor := m.Monitor()
		for e := range h.Events {
			if checkers.Sees(monitor, h.Events[e].Kind) && monitor.Step(h, e).Level == checkers.Violated {
				return checkers.VerdictOf(k, h), nil
			}
		}
	}
	return checkers.Verdict{}, errUnfinished
}

// counted is a schedule that counts its faults, and records whether the run could go on.
type counted struct {
	sim.Replay
	faults int
	ended  bool
}

// Choose implements [sim.Chooser].
func (r *counted) Choose(world *sim.World) (sim.Transition, bool, error) {
	t, more, err := r.Replay.Choose(world)
	if more && t.Kind >= sim.FirstFault {
		r.faults++
	}
	r.ended = !more && len(world.Normal()) == 0
	return t, more, err
}
