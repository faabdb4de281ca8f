// Package banned uses what simulated code must not use.
package banned

import (
	"context"
	"time"

	"zksim/recipes"
)

func waits(ctx context.Context, env recipes.Env) {
	time.Sleep(time.Second)         // want `^time.Sleep blocks outside of the simulator; use Env.Sleep$`
	_ = time.After(time.Second)     // want `^time.After waits for the real clock; use Env.Sleep, or Env.WithTimeout and Env.Await$`
	time.AfterFunc(1, func() {})    // want `^time.AfterFunc starts a goroutine by the real clock; use Env.Go, and Env.Sleep in it$`
	_ = time.NewTimer(time.Second)  // want `^time.NewTimer waits for the real clock; use Env.Sleep, or`
	_ = time.NewTicker(time.Second) // want `^time.NewTicker waits for the real clock; use Env.Sleep, or`
	_ = time.Tick(time.Second)      // want `^time.Tick waits for the real clock; use Env.Sleep, or`
	env.Sleep(ctx, time.Second)
}

func reads(env recipes.Env) time.Duration {
	begin := time.Now()                 // want `^time.Now reads the real clock; use Env.Now$`
	_ = time.Since(begin)               // want `^time.Since reads the real clock; use Env.Now and Time.Sub$`
	_ = time.Until(begin)               // want `^time.Until reads the real clock; use Env.Now and Time.Sub$`
	_ = begin.In(time.Local)            // want `^time.Local depends on the machine; use time.UTC$`
	_ = begin.Local()                   // want `^\(time.Time\).Local depends on the machine; use time.UTC$`
	_, _ = time.LoadLocation("Etc/UTC") // want `^time.LoadLocation depends on the machine; use time.UTC$`
	return env.Now().Sub(time.Unix(0, 0))
}

func ends(ctx context.Context, env recipes.Env) {
	_, end := context.WithTimeout(ctx, 1)                   // want `^context.WithTimeout ends by the real clock; use Env.WithTimeout$`
	_, end = context.WithTimeoutCause(ctx, 1, nil)          // want `^context.WithTimeoutCause ends by the real clock; use Env.WithTimeout$`
	_, end = context.WithDeadline(ctx, env.Now())           // want `^context.WithDeadline ends by the real clock; use Env.WithTimeout$`
	_, end = context.WithDeadlineCause(ctx, env.Now(), nil) // want `^context.WithDeadlineCause ends by the real clock; use Env.WithTimeout$`
	context.AfterFunc(ctx, end)                             // want `^context.AfterFunc starts a goroutine outside of the simulator; use Env.Go, and Env.Await in it$`
	_, end = env.WithTimeout(ctx, 1)
	_, end = context.WithCancel(ctx)
	end()
}

// later shows that to mention a function is enough.
func later(env recipes.Env) func() time.Time {
	return time.Now // want `^time.Now reads`
}
