package simrun

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"zksim/checkers"
	"zksim/model/history"
	"zksim/scenarios/engine"
)

func list(_ context.Context, a *app, args []string) (int, error) {
	f := a.flags("list")
	run := f.String("run", "", "only scenarios whose names match this regular expression")
	short := f.Bool("short", false, "print one line per scenario, without faults, checkers, goals and source")
	names, err := parseMixed(f, args)
	if err != nil {
		return 0, err
	}
	selected, err := a.pick(*run, names...)
	if err != nil {
		return 0, err
	}
	for _, s := range selected {
		fmt.Fprintf(a.out, "%-24s %s\n", s.Name, strings.TrimSpace(s.Doc+" ("+expected(s)+")"))
		if !*short {
			details(a, s)
		}
	}
	return exitHeld, nil
}

func expected(s *engine.Scenario) string {
	if s.Broken() {
		return "must be caught by " + strings.Join(s.Caught, " or ")
	}
	return "must hold"
}

// details prints what a scenario consists of, or why it cannot be run.
func details(a *app, s *engine.Scenario) {
	if err := s.Valid(); err != nil {
		fmt.Fprintf(a.out, "    %-9s %s\n", "not valid", oneLine(err.Error()))
		return
	}
	var goals []string
	for _, g := range s.Goals {
		goals = append(goals, g.Name)
	}
	recipe, _, _ := strings.Cut(s.Name, "/")
	clients := fmt.Sprintf("%d, on %s", s.Clients, sizes(s.Servers))
	if s.Rounds > 0 {
		clients = fmt.Sprintf("%d, %s each, on %s", s.Clients, history.Counted(s.Rounds, "round"), sizes(s.Servers))
	}
	for _, line := range [][2]string{
		{"recipe", recipe}, {"clients", clients},
		{"faults", s.Faults.String()}, {"checkers", strings.Join(checkers.NamesOf(s.Judges()), ", ")},
		{"goals", strings.Join(goals, "; ")}, {"source", s.Notes().Source},
	} {
		if line[1] != "" {
			fmt.Fprintf(a.out, "    %-9s %s\n", line[0], line[1])
		}
	}
}

// sizes are the sizes of the ensemble that seeds draw from.
func sizes(servers []int) string {
	if len(servers) == 0 || slices.Equal(servers, []int{1}) {
		return "1 server"
	}
	words := make([]string, len(servers))
	for i, n := range servers {
		words[i] = strconv.Itoa(n)
	}
	return strings.Join(words, " or ") + " servers"
}
