// Program runs a recipe on a real ensemble. It is not simulated.
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"zksim/recipes"
	"zksim/recipes/live"
)

func main() {
	ctx, end := context.WithTimeout(context.Background(), time.Minute)
	defer end()
	c, err := live.Dial(ctx, []string{"127.0.0.1:2181"}, live.Options{})
	if err != nil {
		panic(err)
	}
	lock := recipes.NewLock(c, c.Env(), "/lock", recipes.LockOptions{})
	done := make(chan error)
	go func() { done <- use(ctx, lock) }()
	select {
	case err := <-done:
		fmt.Println(err)
	case <-time.After(time.Second):
	}
}

func use(ctx context.Context, lock *recipes.Lock) error {
	time.Sleep(time.Duration(rand.IntN(10)) * time.Millisecond)
	return lock.Lock(ctx)
}
