package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"zksim/scenarios"
)

func list(_ context.Context, a *app, args []string) (int, error) {
	f := a.flags("list", "")
	run := f.String("run", "", "only scenarios whose name matches this regular expression")
	verbose := f.Bool("v", false, "show faults, checkers, goals and source")
	if err := parse(f, args, 0); err != nil {
		return 0, err
	}
	selected, err := pick(*run)
	if err != nil {
		return 0, err
	}
	for _, s := range selected {
		what := "must hold"
		if s.Broken() {
			what = "must be caught by " + strings.Join(s.Caught, " or ")
		}
		fmt.Fprintf(a.out, "%-24s %s (%s)\n", s.Name, s.Doc, what)
		if !*verbose {
			continue
		}
		var checkers, goals []string
		for _, c := range s.Checkers {
			checkers = append(checkers, c.Name())
		}
		for _, g := range s.Goals {
			goals = append(goals, g.Name)
		}
		fmt.Fprintf(a.out, "    clients   %d\n    servers   %v\n    faults    %s\n    checkers  %s\n", s.Clients, s.Servers, s.Faults, strings.Join(checkers, ", "))
		if len(goals) > 0 {
			fmt.Fprintf(a.out, "    goals     %s\n", strings.Join(goals, "; "))
		}
		fmt.Fprintf(a.out, "    source    %s\n", s.Source)
	}
	return exitHeld, nil
}

// pick returns the scenarios whose names match.
func pick(pattern string) ([]*scenarios.Scenario, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("-run: %w", err)
	}
	var out []*scenarios.Scenario
	for i := range scenarios.All {
		if re.MatchString(scenarios.All[i].Name) {
			out = append(out, &scenarios.All[i])
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("-run: no scenario matches %q; \"simrun list\" shows them", pattern)
	}
	return out, nil
}
