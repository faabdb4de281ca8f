package simrun

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"zksim/internal/edit"
	"zksim/internal/recording"
	"zksim/scenarios/engine"
)

// pick returns, in their order, the scenarios that arguments select and whose names match the regular expression of
// -run. Each argument is the name of a scenario, a folder like "lock", or a pattern like "lock/*"; no arguments select
// all.
func (a *app) pick(expression string, args ...string) ([]*engine.Scenario, error) {
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil, fmt.Errorf("-run: %w", err)
	}
	recordings, args, err := a.recordings(args)
	if err != nil {
		return nil, err
	}
	if len(a.all) == 0 && len(recordings) == 0 {
		return nil, errors.New("this program has no scenarios; see simrun.Main")
	}
	selected := make([]bool, len(a.all))
	for i := range selected {
		selected[i] = len(args)+len(recordings) == 0
	}
	for _, arg := range args {
		if err := a.mark(arg, selected); err != nil {
			return nil, err
		}
	}
	out := recordings
	for i := range a.all {
		if selected[i] && re.MatchString(a.all[i].Name) {
			out = append(out, &a.all[i])
		}
	}
	if len(out) == 0 && len(args) > 0 {
		return nil, fmt.Errorf("-run: none of the scenarios that are named matches %q", expression)
	}
	if len(out) == 0 {
		plain := strings.Trim(expression, "^$")
		return nil, fmt.Errorf("-run: no scenario matches %q; \"%s list\" shows them%s", expression, a.command,
			edit.Meant(plain, a.names()))
	}
	return out, nil
}

// allValid returns what is wrong with the first scenario that cannot be run.
func allValid(list []*engine.Scenario) error {
	for _, s := range list {
		if err := s.Valid(); err != nil {
			return err
		}
	}
	return nil
}

// recordings returns the scenarios of the arguments that name recordings, and the other arguments.
func (a *app) recordings(args []string) (list []*engine.Scenario, others []string, err error) {
	for _, arg := range args {
		if !strings.HasPrefix(arg, recording.Prefix) {
			others = append(others, arg)
			continue
		}
		s, err := a.find(arg)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, s)
	}
	return list, others, nil
}

// mark selects the scenarios that an argument means: the one with that name, or else all that are in that folder or
// match that pattern.
func (a *app) mark(arg string, selected []bool) error {
	if _, err := path.Match(arg, ""); err != nil {
		return fmt.Errorf("%q is no pattern, expected one as 'lock/*'", arg)
	}
	for i := range a.all {
		if a.all[i].Name == arg {
			selected[i] = true
			return nil
		}
	}
	folder := strings.TrimSuffix(strings.TrimSuffix(arg, "..."), "/") + "/"
	found := false
	for i := range a.all {
		fits, _ := path.Match(arg, a.all[i].Name)
		if fits || arg != "" && strings.HasPrefix(a.all[i].Name, folder) || arg == "..." {
			selected[i], found = true, true
		}
	}
	if !found {
		return a.noScenario(arg)
	}
	return nil
}

// noScenario is the error for a scenario that does not exist.
func (a *app) noScenario(name string) error {
	if test, ok := strings.CutPrefix(name, "zktest/"); ok {
		return fmt.Errorf("%q is a test; \"go test -run '%s' -zksim.schedule FILE\" in its package replays a schedule of "+
			"it", name, testPattern(test))
	}
	return fmt.Errorf("no scenario is called %.60q; \"%s list\" shows them%s", name, a.command, edit.Meant(name,
		a.names()))
}

// told is what zktest adds to the name of a test: a hash if some bytes became hyphens, and the number of a check.
var told = regexp.MustCompile(`(-[0-9a-f]{8})?(-[0-9]+)?$`)

var hyphens = regexp.MustCompile(`-+`)

// testPattern is the -run of go test for the test that a scenario of zktest is named after. In such a name a dot stands
// for the slash before a subtest, and a hyphen for a byte that is no letter, digit or underscore.
func testPattern(name string) string {
	name = strings.ReplaceAll(told.ReplaceAllString(name, ""), ".", "$/^")
	return "^" + hyphens.ReplaceAllString(name, ".+") + "$"
}

func (a *app) names() []string { return scenarioNames(scenariosOf(a.all)) }

func (a *app) variantNames() (names []string) {
	for i := range a.variants {
		names = append(names, a.variants[i].Name)
	}
	return names
}

// find returns the scenario of that name.
func (a *app) find(name string) (*engine.Scenario, error) {
	for i := range a.all {
		if a.all[i].Name == name {
			return &a.all[i], nil
		}
	}
	if file, ok := strings.CutPrefix(name, recording.Prefix); ok {
		s, _, err := a.recorded(file)
		return s, err
	}
	return nil, a.noScenario(name)
}

// recorded reads a recording as a scenario and a schedule.
func (a *app) recorded(file string) (*engine.Scenario, engine.Schedule, error) {
	type recorded struct {
		scenario *engine.Scenario
		schedule engine.Schedule
	}
	r, err := until(a.until, func() (r recorded, err error) {
		r.scenario, r.schedule, err = recording.Load(file)
		return r, err
	})
	return r.scenario, r.schedule, err
}
