package faults

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"zksim/internal/edit"
	"zksim/sim"
)

// Rule allows one fault to strike a number of times.
type Rule struct {
	Fault  string // a name of Table
	Budget int    // how often; for sequence, how many creates before the end
	Aim    Aim
}

// Aim narrows a rule. The zero value hits everything.
type Aim struct {
	Client int    // 1 for c1; 0 for any
	Op     string // operation of the request, one of Ops; exists includes existsW, and so on
	Path   string // prefix of its path
	Nth    int    // only the client's n-th request that fits Op and Path; 0 for any
	Server string // of a real ensemble: Leader, Follower, All or s1, s2, s3; "" for any
	End    string // how the fault ends a real connection, one of Endings; "": the seed decides
}

// Ops is every operation that a rule can be aimed at: those of sim.OpName.
var Ops = []string{"create", "createContainer", "createTTL", "delete", "exists", "existsW", "get", "getW", "set",
	"children", "childrenW", "getACL", "setACL", "multi", "sync", "auth", "setWatches", "closeSession",
	// Operations of clients with real connections only.
	"addWatch", "check", "checkWatches", "getAllChildrenNumber", "getEphemerals", "multiRead", "ping", "reconfig",
	"removeWatches", "setWatches2", "whoAmI"}

// The ways in which a real connection ends: in order, by a reset that discards what was not read, or in the middle of
// a packet.
const (
	EndInOrder = "fin"
	EndByReset = "rst"
	EndTorn    = "torn"
)

// Endings has every way in which a rule can end a connection.
var Endings = []string{EndInOrder, EndByReset, EndTorn}

// Plan is what may go wrong in a run. The zero value is nothing.
type Plan []Rule

// Contract returns a plan with every fault that may strike any recipe, twice each. It leaves out faults that are
// nothing new for simulated code (see [Connections]), lost-early, which the simulated library does not do, and skew,
// which needs code that looks at its clock.
func Contract() Plan {
	var p Plan
	for _, f := range Table {
		if !f.initial && !f.implied && !f.library && !f.clock {
			p = append(p, Rule{Fault: f.Name, Budget: 2})
		}
	}
	return p
}

// Connections returns a plan for code that reads from a connection by itself. It has the faults that [Contract]
// leaves out because the simulator shows the same in several steps.
func Connections() Plan {
	var p Plan
	for _, f := range Table {
		if f.implied {
			p = append(p, Rule{Fault: f.Name, Budget: 2})
		}
	}
	return p
}

// String returns the plan in the form that [Parse] reads, "none" for an empty plan.
func (p Plan) String() string {
	if len(p) == 0 {
		return "none"
	}
	words := make([]string, len(p))
	for i, r := range p {
		words[i] = r.String()
	}
	return strings.Join(words, " ")
}

// String returns the rule in the form that [Parse] reads.
func (r Rule) String() string {
	s := fmt.Sprintf("%s=%d", r.Fault, r.Budget)
	var aims []string
	if r.Aim.Server != "" {
		aims = append(aims, r.Aim.Server)
	}
	if r.Aim.Client > 0 {
		aims = append(aims, fmt.Sprintf("client=c%d", r.Aim.Client))
	}
	if r.Aim.Op != "" {
		aims = append(aims, "op="+r.Aim.Op)
	}
	if r.Aim.Path != "" {
		aims = append(aims, "path="+r.Aim.Path)
	}
	if r.Aim.Nth > 0 {
		aims = append(aims, fmt.Sprintf("nth=%d", r.Aim.Nth))
	}
	if r.Aim.End != "" {
		aims = append(aims, "end="+r.Aim.End)
	}
	if len(aims) > 0 {
		s += "@" + strings.Join(aims, ",")
	}
	return s
}

// Valid returns an error if a rule cannot be written as text, which never happens to a plan made by [Parse].
func (p Plan) Valid() error {
	for i, r := range p {
		again, err := parseWords(r.String(), names())
		if err == nil && again != r {
			err = fmt.Errorf("%s has an aim that no plan can have: %+v", r, r.Aim)
		}
		if err != nil {
			return fmt.Errorf("fault plan: rule %d: %w", i+1, err)
		}
	}
	return nil
}

// MustParse is Parse for plans in the source of a program. It panics if s is not a plan.
func MustParse(s string) Plan {
	p, err := Parse(s)
	if err != nil {
		panic(err.Error())
	}
	return p
}

// Parse reads a plan: rules separated by blanks, each FAULT[=BUDGET][@AIM,...] where an aim is client=cN, op=NAME,
// path=PREFIX or nth=N. The budget is 1 if it is left out. "contract" stands for the rules of [Contract], alone or
// beside others, and "none" is the empty plan.
func Parse(s string) (Plan, error) {
	return parse(s, Contract, parseRule)
}

// ParseServed reads a plan for clients with real connections to a simulated ensemble. The language is that of
// [Parse], except that "contract" stands alone, and a rule may also say how it ends connections, as in end=rst.
func ParseServed(s string) (Plan, error) {
	if strings.TrimSpace(s) == "contract" {
		return Contract(), nil
	}
	return parse(s, nil, parseServed)
}

func parseServed(word string) (Rule, error) {
	r, err := parseOrdinary(word)
	if err == nil && Table[find(r.Fault)].library {
		return r, fmt.Errorf("%s is what a client's library does, and is for simulated clients: a real one has a library "+
			"and a clock of its own", r.Fault)
	}
	return r, err
}

// parse reads a plan, word by word. contract returns the rules that "contract" stands for; nil: it stands for none.
func parse(s string, contract func() Plan, parseRule func(word string) (Rule, error)) (Plan, error) {
	if strings.TrimSpace(s) == "none" {
		return nil, nil
	}
	var p Plan
	for _, word := range strings.Fields(s) {
		if word == "contract" && contract != nil {
			p = append(p, contract()...)
			continue
		}
		r, err := parseRule(word)
		if err != nil {
			return nil, fmt.Errorf("fault plan: %q: %w", word, err)
		}
		p = append(p, r)
	}
	return p, nil
}

func parseRule(word string) (Rule, error) {
	r, err := parseOrdinary(word)
	if err == nil && r.Aim.End != "" {
		return r, fmt.Errorf("end=%s is for real connections (simrun serve, zktest.Start)", r.Aim.End)
	}
	return r, err
}

func parseOrdinary(word string) (Rule, error) {
	r, err := parseWords(word, names())
	if err == nil {
		err = r.simulated()
	}
	if err != nil {
		return r, err
	}
	f := &Table[find(r.Fault)]
	if !f.request && !f.initial && (r.Aim.Op != "" || r.Aim.Path != "" || r.Aim.Nth > 0) {
		return r, fmt.Errorf("%s strikes no request, so it can be aimed by client only", r.Fault)
	}
	if f.initial && (r.Aim.Path == "" || r.Aim.Client > 0 || r.Aim.Op != "" || r.Aim.Nth > 0) {
		return r, fmt.Errorf("%s needs exactly one aim, path=ZNODE", r.Fault)
	}
	return r, nil
}

// parseWords reads a rule of a fault that exists, in the simulator or on a real ensemble. all has the faults to name
// in the error.
func parseWords(word string, all []string) (Rule, error) {
	head, aims, aimed := strings.Cut(word, "@")
	name, budget, counted := strings.Cut(head, "=")
	r := Rule{Fault: name, Budget: 1}
	switch {
	case word == "contract", name == "none":
		return r, fmt.Errorf("it is a plan of its own, expected no other rule beside it")
	case name == "contract":
		return r, fmt.Errorf("contract has neither a budget nor an aim: add another rule, as in \"contract pause=3\"")
	}
	if realOf(name) == nil {
		return r, fmt.Errorf("no such fault; there are %s, none and contract%s", strings.Join(all, ", "),
			edit.Meant(name, append(slices.Clip(all), "none", "contract")))
	}
	if counted {
		n, err := strconv.Atoi(budget)
		if err != nil || n < 0 || n > math.MaxInt32 {
			return r, fmt.Errorf("the budget must be a number from 0 to %d, not %q", math.MaxInt32, budget)
		}
		r.Budget = n
	}
	if aimed {
		set := map[string]bool{}
		for _, a := range strings.Split(aims, ",") {
			key, _, _ := strings.Cut(a, "=")
			if set[key] {
				return r, fmt.Errorf("%s is given twice", key)
			}
			set[key] = true
			if r.Aim.Server != "" && slices.Contains(serverAims, a) {
				return r, fmt.Errorf("%s and %s are two servers, expected one", r.Aim.Server, a)
			}
			if err := r.Aim.set(a); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

func (a *Aim) set(s string) error {
	key, value, _ := strings.Cut(s, "=")
	if slices.Contains(serverAims, s) {
		a.Server = s
		return nil
	}
	switch key {
	case "client":
		n, err := strconv.Atoi(strings.TrimPrefix(value, "c"))
		if err != nil || n < 1 || n > math.MaxUint16 || !strings.HasPrefix(value, "c") {
			return fmt.Errorf("client must be c1, c2, ..., not %q", value)
		}
		a.Client = n
	case "op":
		if !slices.Contains(Ops, value) {
			return fmt.Errorf("op must be one of %s, not %q", strings.Join(Ops, ", "), value)
		}
		a.Op = value
	case "path":
		if !strings.HasPrefix(value, "/") {
			return fmt.Errorf("path must start with /, not %q", value)
		}
		a.Path = value
	case "nth":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return fmt.Errorf("nth must be 1 or more, not %q", value)
		}
		a.Nth = n
	case "end":
		if !slices.Contains(Endings, value) {
			return fmt.Errorf("end must be one of %s, not %q", strings.Join(Endings, ", "), value)
		}
		a.End = value
	default:
		return fmt.Errorf("an aim is client=cN, op=NAME, path=PREFIX, end=%s (of real connections) or nth=N, and on a real "+
			"ensemble %s, not %q", strings.Join(Endings, "|"), strings.Join(serverAims, ", "), s)
	}
	return nil
}

func names() []string {
	out := make([]string, len(Table))
	for i := range Table {
		out[i] = Table[i].Name
	}
	return out
}

// Without returns the plan for the same clients without one of them: rules aimed at it are left out, and the clients
// after it get new numbers.
func (p Plan) Without(client int) Plan {
	var q Plan
	for _, r := range p {
		if r.Aim.Client == client {
			continue
		}
		if r.Aim.Client > client {
			r.Aim.Client--
		}
		q = append(q, r)
	}
	return q
}

// SwarmInto draws a plan from p, and appends it to q: each rule is in or out, and its budget is anything from 1 to the
// given one; a rule of sequence keeps its own. With one server there are no faults of ensembles to draw. Runs with
// different faults switched on find more than runs that all have everything (Groce et al., Swarm Testing, ISSTA 2012).
func (p Plan) SwarmInto(q Plan, servers int, random func() uint64) Plan {
	for _, r := range p {
		if servers == 1 && r.OfSeveral() {
			continue
		}
		x := random()
		if x&1 == 0 || r.Budget == 0 {
			continue
		}
		if i := find(r.Fault); !Table[i].initial {
			r.Budget = 1 + int((x>>1)%uint64(r.Budget))
		}
		q = append(q, r)
	}
	return q
}

// OfSeveral reports whether the fault happens to ensembles. Plans of runs with one server have no such fault.
func (r Rule) OfSeveral() bool { return Table[find(r.Fault)].ensemble }

// Initial returns the initial faults of p, which no step of a run shows.
func (p Plan) Initial() (list []string) {
	for _, r := range p {
		if Table[find(r.Fault)].initial {
			list = append(list, r.String())
		}
	}
	return list
}

// Prepare applies the initial faults of p to a world that was just reset. The
// znodes must exist.
func (p Plan) Prepare(w *sim.World) {
	for _, r := range p {
		if Table[find(r.Fault)].initial {
			w.SetCounter(r.Aim.Path, math.MaxInt32-int32(r.Budget))
		}
	}
}
