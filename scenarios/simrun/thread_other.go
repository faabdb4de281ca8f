//go:build !linux

package simrun

import "time"

var began = time.Now()

// threadTime returns the time that has passed: only Linux tells the CPU time of a
// thread.
func threadTime() time.Duration { return time.Since(began) }
