package sim

const (
	Small = 1
	// Large is documented.
	Large = 2
)
