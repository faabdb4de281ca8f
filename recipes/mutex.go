package recipes

import (
	"context"

	"github.com/go-zookeeper/zk"
)

// Mutex is a lock between goroutines of one process, for code that waits by its [Env] while it has it: a sync.Mutex
// would then block its goroutine where the simulator cannot see it. It shares nothing with ZooKeeper.
type Mutex struct {
	env  Env
	free chan zk.Event // has something while the mutex is free
}

// NewMutex returns a mutex that is free.
func NewMutex(env Env) *Mutex {
	free := make(chan zk.Event, 1)
	free <- zk.Event{}
	return &Mutex{env, free}
}

// Lock waits for the mutex. It returns ctx.Err() when ctx is done first, and then does not have it.
func (m *Mutex) Lock(ctx context.Context) error {
	_, _, err := m.env.Await(ctx, m.free)
	return err
}

// Unlock gives it up. It panics if nobody has it.
func (m *Mutex) Unlock() {
	if len(m.free) > 0 {
		panic("recipes: Unlock of a Mutex that is not locked")
	}
	m.free <- zk.Event{} //zksim:ignore made with room for it
}

// Mailbox is a queue of values from goroutines of one process to others, without a limit. Unlike a channel of Go it
// can be waited for by [Env.Await], next to watches.
type Mailbox[T any] struct {
	guard  *Mutex
	values []T
	ready  chan zk.Event // has something while there are values
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

// Ready returns a channel to wait for, by [Env.Await]: it yields an event when there is a value. The goroutine that
// gets it calls Next, and no other one does.
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
