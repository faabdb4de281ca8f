package simrun

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"regexp"
	"strings"

	"zksim/internal/pipeline"
	"zksim/internal/recording"
	"zksim/reports"
	"zksim/scenarios/engine"
	"zksim/sim"
)

// folder is the name of a failure's folder below that of its scenario. In other circumstances the name has a hash of
// these after the seed, so that two reports do not mix.
func (c *checkFlags) folder(x *pipeline.Outcome) string {
	name := byProof
	if !x.Searched {
		name = fmt.Sprint(x.Failure.Schedule.Seed)
	}
	if flags := c.circumstances(); flags != "" {
		sum := fnv.New32a()
		io.WriteString(sum, flags)
		name += fmt.Sprintf("-%08x", sum.Sum32())
	}
	return name
}

// circumstances are the flags without which a seed gives another run.
func (c *checkFlags) circumstances() string {
	flags := ""
	if c.clients != 0 {
		flags += fmt.Sprintf(" -clients %d", c.clients)
	}
	if c.rounds != 0 {
		flags += fmt.Sprintf(" -rounds %d", c.rounds)
	}
	if c.plan != "" {
		flags += " -faults " + pipeline.Quote(c.plan)
	}
	flags += c.like.arg()
	if c.strategy != string(engine.Portfolio) {
		flags += " -strategy " + c.strategy
	}
	return flags
}

// again returns the arguments of the command that finds a failure again.
func (c *checkFlags) again(s *engine.Scenario, x *pipeline.Outcome) string {
	name := pipeline.Quote("^" + regexp.QuoteMeta(s.Name) + "$")
	if x.Searched {
		text := fmt.Sprintf("prove -run %s -clients %d -rounds 1", name, x.Scope.Clients)
		if c.plan != "" {
			text += " -faults " + pipeline.Quote(c.plan)
		}
		return text + c.like.arg()
	}
	if strings.HasPrefix(s.Name, recording.Prefix) { // no expression finds it
		return fmt.Sprintf("check -seeds %d%s %s", x.Failure.Schedule.Seed, c.circumstances(), pipeline.Quote(s.Name))
	}
	text := fmt.Sprintf("check -run %s -seeds %d%s", name, x.Failure.Schedule.Seed, c.circumstances())
	if s.Broken() {
		text += " -v"
	}
	return text
}

// misused reports whether an error says that client code has left the simulator, and if so prints what is wrong.
func misused(w io.Writer, s *engine.Scenario, err error) bool {
	m, ok := errors.AsType[*sim.Misuse](err)
	if !ok {
		return false
	}
	fmt.Fprintf(w, "FAIL    %-24s %s\n", s.Name, misuseText(err))
	pipeline.PrintCalls(w, pipeline.Calls(m.Stack))
	return true
}

// misuseText says in one line what is wrong if an error says that client code has left the simulator.
func misuseText(err error) string {
	if m, ok := errors.AsType[*sim.Misuse](err); ok {
		return "misuse: " + reports.Printable(m.Message)
	}
	return ""
}
