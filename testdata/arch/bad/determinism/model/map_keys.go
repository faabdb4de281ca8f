package model

import (
	"maps"
	"slices"
)

func keys(m map[string]int) []string { return slices.Collect(maps.Keys(m)) }
