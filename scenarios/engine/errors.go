package engine

import (
	"zksim/model/history"
	"zksim/recipes"
)

// Exhaustive search distinguishes the errors of the recipes from others with the same text.
func init() {
	history.Distinguish(recipes.ErrConfigChanged, recipes.ErrConfigInvalid, recipes.ErrInside, recipes.ErrOutside,
		recipes.ErrLeading, recipes.ErrNotLeading, recipes.ErrNoLeader, recipes.ErrHeld, recipes.ErrNotHeld,
		recipes.ErrLocked, recipes.ErrNameTaken, recipes.ErrNoName, recipes.ErrNotOwner, recipes.ErrTaskGone,
		recipes.ErrEmpty, recipes.ErrClaimLost, recipes.ErrUnknownOutcome, recipes.ErrLost, recipes.ErrVoted,
		recipes.ErrUndecided, recipes.ErrRole)
}
