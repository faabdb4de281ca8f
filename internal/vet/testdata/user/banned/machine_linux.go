package banned

import (
	"syscall"

	"zksim/recipes"
)

func nanosleep(env recipes.Env) {
	syscall.Nanosleep(&syscall.Timespec{}, nil) // want `^syscall.Nanosleep waits for the real clock; use Env.Sleep, or Env.WithTimeout and Env.Await$`
}
