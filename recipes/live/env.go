package live

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"reflect"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// env is the recipes.Env of a Client; see that interface for the contracts.
type env struct{ c *Client }

var _ recipes.Env = env{}

func (env) Now() time.Time { return time.Now() }

func (env) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (env) Await(ctx context.Context, chans ...<-chan zk.Event) (int, zk.Event, error) {
	if i, ev := firstReady(chans); i >= 0 {
		return i, ev, nil
	}
	i, ev := block(ctx, chans)
	if i < 0 {
		// If the context is done and a channel is ready, select takes either.
		i, ev = firstReady(chans)
	}
	if i < 0 {
		return -1, zk.Event{}, ctx.Err()
	}
	return i, ev, nil
}

// firstReady receives from the first channel that is ready, or returns -1.
func firstReady(chans []<-chan zk.Event) (int, zk.Event) {
	for i, ch := range chans {
		select {
		case ev := <-ch:
			return i, ev
		default:
		}
	}
	return -1, zk.Event{}
}

// block receives from the channel that is ready first, or returns -1 when ctx
// is done.
func block(ctx context.Context, chans []<-chan zk.Event) (int, zk.Event) {
	switch len(chans) {
	case 1: // reflect.Select allocates, and nearly all waits of recipes have few channels
		select {
		case ev := <-chans[0]:
			return 0, ev
		case <-ctx.Done():
			return -1, zk.Event{}
		}
	case 2:
		select {
		case ev := <-chans[0]:
			return 0, ev
		case ev := <-chans[1]:
			return 1, ev
		case <-ctx.Done():
			return -1, zk.Event{}
		}
	}
	cases := make([]reflect.SelectCase, 0, len(chans)+1)
	for _, ch := range chans {
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(ch)})
	}
	cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(ctx.Done())})
	i, v, _ := reflect.Select(cases)
	if i == len(chans) {
		return -1, zk.Event{}
	}
	return i, v.Interface().(zk.Event) // the zero Event for a closed channel
}

func (env) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}

func (e env) Go(name string, f func()) { e.c.running.start(name, f) }

// Within leaves f running in a goroutine of its own if ctx is done first. If ctx can never be done, f needs no
// goroutine.
func (e env) Within(ctx context.Context, f func()) bool {
	if ctx.Done() == nil {
		f()
		return true
	}
	if ctx.Err() != nil {
		return false
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f()
	}()
	select {
	case <-ended:
		return true
	case <-ctx.Done():
	}
	select {
	case <-ended: // both at once
		return true
	default:
		e.c.left.add(ended)
		return false
	}
}

func (e env) Undo(name string, f func()) {
	before := e.c.left.list()
	e.Go(name, func() {
		for _, ended := range before {
			<-ended
		}
		f()
	})
}

func (env) UUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	return hex.EncodeToString(b[:])
}

func (env) Forget() func(kept ...any) { return func(...any) {} }

func (env) Keep(...any) {}

func (e env) SessionEvents() <-chan zk.Event { return e.c.feed.next() }
