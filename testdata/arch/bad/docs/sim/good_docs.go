// Package sim has its comment in one file.
package sim

// Exported is documented.
func Exported() {}

// Table is documented.
type Table[K comparable] struct{}

// Get is documented.
func (t *Table[K]) Get() {}

func (t *Table[K]) get() {}

type hidden struct{}

func (hidden) String() string { return "" }

// The limits, as one group.
const (
	Low  = 1
	High = 2
)

var (
	Wide   = 1 // at the end of the line
	narrow = 2
)
