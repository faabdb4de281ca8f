package sim

// A group of types needs a comment for each.
type (
	Left struct{}
	// Right is documented.
	Right struct{}
)
