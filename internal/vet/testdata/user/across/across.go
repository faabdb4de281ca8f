// Package across is simulated, and uses package helper.
package across

import (
	"zksim/recipes"
	"zksim/scenarios/engine"

	"example.com/user/helper"
)

type lock struct {
	env  recipes.Env
	held helper.Lock
}

func (l *lock) acquire() {
	helper.Retry(func() error { return nil }) // want `^helper.Retry leads to time.Sleep \(helper/helper.go:21\), which blocks outside of the simulator; use Env.Sleep$`
	l.held.Take()                             // want `^helper.Lock.Take leads to \(\*sync.Mutex\).Lock \(helper/helper.go:27\), which blocks`
	helper.Retry(nil)                         //zksim:ignore never repeats
	_ = helper.Pure(1, 2)
	helper.Excused()
	helper.Simulated(l.env)
	engine.Run(nil, nil, engine.Options{}) // in another module
	nested()                               // the finding is in nested
}

func nested() { helper.Retry(nil) } // want `^helper.Retry leads to .* \(simulated because lock.acquire uses nested\)$`

// Chain is not simulated.
func Chain() { helper.Retry(nil) } // want Chain:`^time.Sleep at helper/helper.go:21$`
