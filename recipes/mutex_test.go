package recipes_test

import (
	"context"
	"testing"

	"zksim/recipes"
)

func TestAFreeMutexIsNotTakenWithAContextThatIsDone(t *testing.T) {
	play(t, nil, func(a actor) {
		m := recipes.NewMutex(a.env)
		done, cancel := context.WithCancel(ctx)
		cancel()
		a.is("Lock", m.Lock(done), context.Canceled)
		a.is("Lock by somebody else", m.Lock(ctx), nil)
		m.Unlock()
	})
}
