// Package ignores silences findings.
package ignores

import (
	"time"

	"zksim/recipes"
)

func lines(env recipes.Env) {
	time.Sleep(0) //zksim:ignore no time at all
	//zksim:ignore no time at all
	time.Sleep(0)
	// A comment around it.
	//zksim:ignore no time at all
	// Another one.
	time.Sleep(time.Until(time.Now()))

	time.Sleep(0) //zksim:ignore this line only
	time.Sleep(0) // want `time.Sleep`

	//zksim:ignore the next line only // want `silences nothing`

	time.Sleep(0) // want `time.Sleep`
}

// whole sleeps.
//
//zksim:ignore on a real server only
func whole(env recipes.Env) {
	time.Sleep(1)
	go func() {
		time.Sleep(1)
	}()
}

func reasons(env recipes.Env) {
	time.Sleep(0) //zksim:ignore // want `^//zksim:ignore without a reason; say after it why the run stays the same$`
	//zksim:ignored no such thing // want `^//zksim:ignored is no directive; write //zksim:ignore and a reason$`
	// zksim:ignore a space // want `^a directive has no space after the slashes; write //zksim:ignore and a reason$`
	env.Now()
}

func idle(env recipes.Env) {
	env.Now() //zksim:ignore nothing to silence // want `^//zksim:ignore silences nothing; remove it$`
}

//zksim:ignore nothing at all // want `^//zksim:ignore silences nothing; remove it$`
func idleFunction(env recipes.Env) {
	time.Sleep(0) //zksim:ignore the nearer comment is used
}

// helper is not simulated; others may still use it, so its comment counts.
func helper() {
	time.Sleep(0) //zksim:ignore no time at all
}
