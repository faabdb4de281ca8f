package simrun

import (
	"context"
	"fmt"

	"zksim/internal/pipeline"
	"zksim/model/history"
	"zksim/scenarios/engine"
	"zksim/scenarios/prove"
)

// A mutant is searched with so many states for each number of faults: few at first and then many, or as
// many as are worth it for a table.
const (
	fewStates  = 100_000
	someStates = 300_000
	manyStates = 3_000_000
)

// attempt is a cell of the table.
type attempt struct{ *prove.Attempt }

// refute searches a mutant in bounds that grow, for the table. The attempt is nil if nothing is found.
func refute(ctx context.Context, s *engine.Scenario) (attempt, error) {
	caught, _, err := prove.Widen(ctx, s, prove.Options{Reductions: prove.Every, Workers: 1}, someStates)
	return attempt{caught}, err
}

// String says what it took to find a violation, "-" if none was found.
func (x attempt) String() string {
	if x.Attempt == nil {
		return "-"
	}
	text := fmt.Sprintf("%s, ", history.Counted(x.Clients, "client"))
	if x.Rounds > 1 {
		text += fmt.Sprintf("%s, ", history.Counted(x.Rounds, "round"))
	}
	if x.SlowWakes {
		text += "slow wakes, "
	}
	if x.Ticks > 0 {
		text += fmt.Sprintf("ticks %d, ", x.Ticks)
	}
	if x.Order == prove.OtherOrder {
		text += "other names, "
	}
	if x.Scope.Servers > 1 {
		text += "3 servers, "
	}
	states := x.Result.Last.States
	for _, l := range x.Result.Levels {
		states += l.States
	}
	return text + fmt.Sprintf("%s: %d", pipeline.FaultsText(x.Result.Struck), states)
}
