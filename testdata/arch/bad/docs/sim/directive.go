package sim

//go:noinline
func Jump() {}
