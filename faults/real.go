package faults

import (
	"fmt"
	"slices"
	"strings"
)

// Real is what a fault is on a real ensemble, with real clients.
type Real struct {
	Name    string
	Doc     string // what is done; empty: it cannot be brought about on purpose
	Instead string // if Doc is empty: what leads to it, a phrase
	Only    bool   // the simulator does not have it
	Servers bool   // it strikes servers, and a rule may say which
	Own     bool   // it needs servers that we have started
	Three   bool   // it needs three of them
}

// RealTable has every fault of a plan in the order of the documentation: what it is on a real ensemble, or what there
// is instead. On a real ensemble a fault strikes at a request: one that its rule aims at, or one that the seed draws.
var RealTable = []Real{
	{Name: "lose-request", Doc: "the request is not sent, and the connection is closed"},
	{Name: "lose-reply", Doc: "the answer is not delivered, and the connection is closed"},
	{Name: "late-request", Doc: "the connection is closed, and there is no other one until the session has ended; " +
		"requests wait for that"},
	{Name: "disconnect", Doc: "the request is sent, and the connection is closed"},
	{Name: "expire", Doc: "the connection is closed, servers refuse another one, and after a third of the session " +
		"timeout the session is ended by somebody else"},
	{Name: "learn-late", Doc: "nothing passes the connection while somebody else ends the session; after that it is " +
		"closed"},
	{Name: "expiry-lag", Instead: "part and learn-late"},
	{Name: "watch-delay", Doc: "the next watch event, and what follows it on the connection, is held back for a " +
		"thirtieth to a third of the session timeout"},
	{Name: "stale-read", Own: true, Three: true, Doc: "the client moves to a follower, which is cut off from the others " +
		"for half as long as they are patient"},
	{Name: "failover", Doc: "the connection is closed, and the next one is to another server"},
	{Name: "pause", Servers: true, Doc: "client: nothing passes its connection, and its code stops where it looks at " +
		"anything, for longer than the session timeout; with @leader and so on: the server is stopped (SIGSTOP) for a while"},
	{Name: "crash", Instead: "expire and pause"},
	{Name: "late-commit", Instead: "depose, part and lose-reply"},
	{Name: "zombie", Instead: "part=1@follower with a short -session-timeout"},
	{Name: "cancel", Doc: "the client's contexts of Process.Interruptible are cancelled"},
	{Name: "depose", Own: true, Three: true, Doc: "the leader is stopped (SIGSTOP) until another one serves; then it " +
		"goes on, and a client moves to it: one whose first request since then is a write, the answer to which is lost, " +
		"or one that has waited for a connection"},
	{Name: "elect", Own: true, Three: true, Doc: "the leader is killed (SIGKILL), and restarted when another one serves"},
	{Name: "deliver-close", Doc: "the answer is the last on its connection, and there is no other one until the " +
		"session has ended; the next request waits for that"},
	{Name: "reset", Instead: "disconnect and kill"},
	{Name: "lost-early", Instead: "depose with a short -session-timeout; go-zookeeper does not go by its own clock"},
	{Name: "sequence", Instead: "nothing: it would take 2^31 creates"},
	{Name: "kill", Only: true, Servers: true, Own: true, Doc: "the server is killed (SIGKILL) and restarted after a " +
		"while"},
	{Name: "part", Only: true, Servers: true, Own: true, Three: true, Doc: "the server is cut off from the others for " +
		"a while, and clients still reach it"},
	{Name: "black-hole", Only: true, Doc: "nothing passes the connection any more, and nobody closes it: the client " +
		"finds out after two thirds of the session timeout"},
	{Name: "deliver-slow", Instead: "nothing: code goes on when the machine has time"},
	{Name: "overtake", Instead: "disconnect"},
	{Name: "broken-pipe", Instead: "kill"},
	{Name: "handshake", Instead: "disconnect"},
	{Name: "refuse", Instead: "kill and part"},
	{Name: "skew", Instead: "nothing: all clients have the clock of one machine"},
}

// The servers that a rule can be aimed at, by their role at that moment, or by their ids in the ensemble.
const (
	Leader   = "leader"
	Follower = "follower" // one of them; the seed decides
	All      = "all"
)

var serverAims = []string{Leader, Follower, All, "s1", "s2", "s3"}

// realOf returns the row of a fault, or nil.
func realOf(name string) *Real {
	for i := range RealTable {
		if RealTable[i].Name == name {
			return &RealTable[i]
		}
	}
	return nil
}

// Real returns what the fault of the rule is on a real ensemble.
func (r Rule) Real() *Real { return realOf(r.Fault) }

// RealContract returns a plan with every fault of a real ensemble that may strike any recipe, once each.
func RealContract() Plan {
	var p Plan
	for _, f := range RealTable {
		if f.Doc != "" {
			p = append(p, Rule{Fault: f.Name, Budget: 1})
		}
	}
	return p
}

// MaxStrikes is the largest budget of a rule on a real ensemble, where a run lasts as long as its faults.
const MaxStrikes = 64

// ParseReal reads a plan for a real ensemble: the language of [Parse], with the faults of [RealTable]. All of them
// may be aimed at a request, which says when they strike. Faults of servers may be aimed at a server: @leader,
// @follower, @all (for pause and kill), @s1. No budget is above [MaxStrikes]. "contract" stands for the
// rules of [RealContract].
func ParseReal(s string) (Plan, error) {
	return parse(s, RealContract, parseReal)
}

func parseReal(word string) (Rule, error) {
	var all []string
	for _, f := range RealTable {
		if f.Doc != "" {
			all = append(all, f.Name)
		}
	}
	r, err := parseWords(word, all)
	if err != nil {
		return r, err
	}
	switch f := r.Real(); {
	case f.Doc == "":
		return r, fmt.Errorf("%s cannot be brought about on a real ensemble; what leads to it is %s", r.Fault, f.Instead)
	case r.Budget > MaxStrikes:
		return r, fmt.Errorf("a fault strikes a run on a real ensemble at most %d times", MaxStrikes)
	case r.Aim.End != "":
		return r, fmt.Errorf("end=%s is for simrun serve and zktest.Start; on a real ensemble connections end as they do",
			r.Aim.End)
	case r.Aim.Server != "" && !f.Servers:
		return r, fmt.Errorf("%s is not aimed at a server; kill, part and pause are", r.Fault)
	case r.Aim.Server == All && r.Fault == "part":
		return r, fmt.Errorf("part cuts one server off from the others: expected @%s, @%s or @s1", Leader, Follower)
	}
	return r, nil
}

// InSim returns a plan for the simulator that comes closest to the faults that struck a real ensemble. struck has how
// often each rule did.
func (p Plan) InSim(struck []int) (q Plan) {
	closest := map[string][]string{
		"kill":       {"elect"},
		"part":       {"stale-read", "zombie", "failover"},
		"black-hole": {"disconnect", "learn-late"},
		// the client that moves to the old leader has missed an answer that only the new one knows
		"depose": {"depose", "late-commit", "lose-reply", "failover"},
		// each of these also closes a connection
		"late-request":  {"disconnect", "late-request", "expire"},
		"expire":        {"disconnect", "expire"},
		"failover":      {"disconnect", "failover"},
		"deliver-close": {"deliver-close", "expire"},
	}
	for i, r := range p {
		if i >= len(struck) || struck[i] == 0 {
			continue
		}
		names, ok := closest[r.Fault]
		switch {
		case r.Aim.Server != "" && r.Fault == "pause":
			names = closest["depose"]
		case !ok:
			names = []string{r.Fault}
		}
		for _, name := range names {
			x := Rule{Fault: name, Budget: struck[i], Aim: Aim{Client: r.Aim.Client}}
			if Table[find(name)].request && name == r.Fault {
				x.Aim.Op = r.Aim.Op
			}
			if Table[find(name)].ensemble {
				x.Aim = Aim{}
			}
			q = append(q, x)
		}
	}
	return q
}

// OnReal returns the rules of a plan for the simulator that are possible on a real ensemble, and the names of the
// faults that are not. It adds faults of servers that do nothing to a client that the plan could not do.
func (p Plan) OnReal() (q Plan, not []string) {
	has := func(name string) bool {
		return slices.ContainsFunc(p, func(r Rule) bool { return r.Fault == name })
	}
	for _, r := range p {
		if f := r.Real(); f == nil || f.Doc == "" {
			not = append(not, r.Fault)
			continue
		}
		q = append(q, r)
	}
	for _, x := range []struct {
		of   []string
		rule Rule
	}{
		{[]string{"elect", "learn-late"}, Rule{"kill", 1, Aim{}}},
		{[]string{"depose", "learn-late"}, Rule{"pause", 1, Aim{Server: Leader}}},
		{[]string{"stale-read", "zombie"}, Rule{"part", 1, Aim{}}},
		{[]string{"disconnect", "learn-late"}, Rule{"black-hole", 1, Aim{}}},
	} {
		if has(x.of[0]) && has(x.of[1]) {
			q = append(q, x.rule)
		}
	}
	return q, not
}

// Possible returns an error if a rule is impossible on that many servers, our own or somebody else's.
func (p Plan) Possible(servers int, own bool) error {
	for _, r := range p {
		if err := r.possible(servers, own); err != nil {
			return err
		}
	}
	return nil
}

// Among splits a plan into the rules that are possible on that many servers, our own or somebody else's, and those
// that are not.
func (p Plan) Among(servers int, own bool) (q, not Plan) {
	for _, r := range p {
		if r.possible(servers, own) == nil {
			q = append(q, r)
		} else {
			not = append(not, r)
		}
	}
	return q, not
}

func (r Rule) possible(servers int, own bool) error {
	f := r.Real()
	switch {
	case !own && (f.Own || r.Aim.Server != ""):
		return fmt.Errorf("%s happens to servers, and is for those that are started here, not for -servers", r)
	case f.Three && servers != 3:
		return fmt.Errorf("%s needs three servers, -nodes 3", r)
	case servers != 3 && slices.Contains([]string{Follower, "s2", "s3"}, r.Aim.Server):
		return fmt.Errorf("%s: there is no %s, only s1; -nodes 3 starts three", r, r.Aim.Server)
	case servers == 1 && r.Fault == "failover":
		return fmt.Errorf("%s needs another server, as -nodes 3 has", r)
	}
	return nil
}

// simulated returns an error if the simulator has no such rule.
func (r Rule) simulated() error {
	if f := r.Real(); f != nil && f.Only {
		also := map[string]string{"kill": "elect", "part": "stale-read and depose", "black-hole": "learn-late"}[r.Fault]
		return fmt.Errorf("%s is for real ensembles (-backend zookeeper); what the simulator has for it is %s", r.Fault, also)
	}
	if r.Aim.Server != "" {
		return fmt.Errorf("@%s is for real ensembles (-backend zookeeper); what the simulator does to servers is elect, "+
			"depose and stale-read", r.Aim.Server)
	}
	return nil
}

// Fits reports whether a request fits the aim, apart from Nth.
func (a *Aim) Fits(op, path string) bool {
	if a.Op != "" && a.Op != op && a.Op != strings.TrimSuffix(op, "W") {
		return false
	}
	return a.Path == "" || strings.HasPrefix(path, a.Path)
}
