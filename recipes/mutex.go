package recipes

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// Mutex is a lock between goroutines of one process, for code that waits by its [Env] while it holds the lock: a
// sync.Mutex would then block other goroutines where the simulator cannot see it. It has nothing to do with
// ZooKeeper.
type Mutex struct {
	env  Env
	free chan zk.Event // has an event while the mutex is free
}

// NewMutex returns a mutex that is free.
func NewMutex(env Env) *Mutex {
	free := make(chan zk.Event, 1)
	free <- zk.Event{}
	return &Mutex{env, free}
}

// Lock waits for the mutex. When ctx is done first it returns ctx.Err() and does not take the mutex.
func (m *Mutex) Lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil { // Await would take a free mutex all the same
		return err
	}
	_, _, err := m.env.Await(ctx, m.free)
	return err
}

// Unlock gives up the mutex. It panics if nobody has it.
func (m *Mutex) Unlock() {
	if len(m.free) > 0 {
		panic("recipes: Unlock of a Mutex that is not locked")
	}
	m.free <- zk.Event{} //zksim:ignore made with room for it
}

// Mailbox is a queue of values, without a limit, between goroutines of one process. Unlike a Go channel it can be
// waited for by [Env.Await], next to watches.
type Mailbox[T any] struct {
	guard  *Mutex
	values []T
	ready  chan zk.Event // has an event while there are values
}

// NewMailbox returns an empty mailbox.
func NewMailbox[T any](env Env) *Mailbox[T] {
	return &Mailbox[T]{guard: NewMutex(env), ready: make(chan zk.Event, 1)}
}

// Put adds a value at the end.
func (m *Mailbox[T]) Put(value T) {
	m.guard.Lock(context.Background())
	defer m.guard.Unlock()
	if m.values = append(m.values, value); len(m.values) == 1 {
		m.ready <- zk.Event{} //zksim:ignore made with room for it: it is empty while there are no values
	}
}

// Ready returns a channel for [Env.Await] that yields an event when there is a value. The goroutine that gets the
// event must call Next, and no other goroutine may.
func (m *Mailbox[T]) Ready() <-chan zk.Event { return m.ready }

// Next removes the first value, after an event of Ready.
func (m *Mailbox[T]) Next() T {
	m.guard.Lock(context.Background())
	defer m.guard.Unlock()
	value := m.values[0]
	if m.values = m.values[1:]; len(m.values) > 0 {
		m.ready <- zk.Event{} //zksim:ignore made with room for it: this event was taken
	}
	return value
}

// Get waits for a value and removes it. It returns ctx.Err() when ctx is done first.
func (m *Mailbox[T]) Get(ctx context.Context) (value T, err error) {
	if _, _, err := m.guard.env.Await(ctx, m.ready); err != nil {
		return value, err
	}
	return m.Next(), nil
}
