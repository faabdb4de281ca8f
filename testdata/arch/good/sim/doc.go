// Package sim is a package that no rule minds.
package sim

import (
	"maps"
	"slices"

	"zksim/model"
)

// Sorted returns the keys.
func Sorted(m map[string]bool) model.Names { return slices.Sorted(maps.Keys(m)) }
