// Package helper is used by simulated code, and has no simulated code except Simulated.
package helper

import (
	"sync"
	"time"

	"zksim/recipes"
)

// Retry calls f again and again.
func Retry(f func() error) { // want Retry:`^time.Sleep at helper/helper.go:21$`
	for f() != nil {
		pause()
	}
}

// Pure adds.
func Pure(a, b int) int { return a + b }

func pause() { time.Sleep(1) }

// Lock locks.
type Lock struct{ mu sync.Mutex }

// Take takes it.
func (l *Lock) Take() { l.mu.Lock() } // want Take:`Mutex`

// Excused is fine.
func Excused() {
	time.Sleep(0) //zksim:ignore sleeps for no time at all
}

// Simulated is judged here.
func Simulated(env recipes.Env) {
	time.Sleep(1) // want `^time.Sleep blocks outside of the simulator; use Env.Sleep$`
}
