//go:build !unix

package simrun

// access knows nothing of a device or a pipe until it is written.
func access(string) error { return nil }
