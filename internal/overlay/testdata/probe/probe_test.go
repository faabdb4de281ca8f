package probe

import (
	"context"
	"fmt"
	"hash/fnv"
	"iter"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// trace is what goroutines have done, in order.
type trace struct {
	mu   sync.Mutex
	text []byte
}

func (x *trace) add(format string, args ...any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.text = fmt.Appendf(x.text, format+"\n", args...)
}

// busy is code in which everything that the runtime decides shows.
func busy(x *trace) {
	const many = 6
	var all sync.WaitGroup
	var mu sync.Mutex
	a, b, quit := make(chan int), make(chan int, 2), make(chan bool)
	m := map[string]int{}
	for i := range 20 {
		m[strconv.Itoa(i)] = i
	}
	for i := range many {
		all.Go(func() {
			for k := range 4 {
				x.add("%d starts %d", i, k)
				select {
				case a <- i:
				case b <- i:
				case v := <-a:
					x.add("%d gets %d", i, v)
				case v := <-b:
					x.add("%d takes %d", i, v)
				case <-time.After(time.Duration(rand.IntN(3)) * time.Millisecond):
				}
				runtime.Gosched()
				mu.Lock()
				for key := range m {
					x.add("%s", key)
					break
				}
				if k%2 == 0 {
					time.Sleep(time.Millisecond) // others wait for the mutex, and time passes
				}
				mu.Unlock()
			}
		})
	}
	for i := range many { // timers of one instant
		time.AfterFunc(time.Millisecond, func() { x.add("timer %d", i) })
	}
	all.Go(func() { coroutines(x) })
	all.Go(func() {
		var inner sync.WaitGroup
		for i := range 3 {
			inner.Go(func() { <-quit; x.add("quits %d %d", i, rand.Uint64()) })
		}
		time.Sleep(2 * time.Millisecond)
		close(quit)
		inner.Wait()
		garbage = make([]byte, 1<<20) // so large that the runtime yields while it is zeroed
	})
	all.Go(func() { family(x) })
	all.Go(func() { timers(x, &all) })
	all.Go(func() { collected(x, &all) })
	all.Go(func() { signals(x, &all) })
	all.Wait()
	synctest.Wait()
}

// family is a context with so many others made of it that they do not lie in the order in which they were made.
func family(x *trace) {
	root, cancel := context.WithCancel(context.Background())
	for i := range 20 {
		context.AfterFunc(root, func() { x.add("child %d", i) })
	}
	time.Sleep(time.Millisecond)
	cancel()
}

// timers waits for several timers at a time.
func timers(x *trace, all *sync.WaitGroup) {
	for i := range 4 {
		all.Go(func() {
			tick, one := time.NewTicker(time.Millisecond), time.NewTimer(2*time.Millisecond)
			defer tick.Stop()
			for range 8 {
				select {
				case <-tick.C:
					x.add("%d ticks", i)
				case <-one.C:
					x.add("%d is told, %v", i, one.Reset(time.Millisecond))
				case <-time.After(time.Millisecond):
					x.add("%d waits", i)
				}
			}
		})
	}
}

// collected waits for the garbage collector, and stops all others.
func collected(x *trace, all *sync.WaitGroup) {
	for i := range 3 {
		all.Go(func() {
			x.add("%d collects", i)
			runtime.GC()
			x.add("%d looks", i)
			runtime.Stack(make([]byte, 100), true)
			x.add("%d is done", i)
		})
	}
}

// signals asks for a signal, and for no more of them.
func signals(x *trace, all *sync.WaitGroup) {
	for i := range 2 {
		all.Go(func() {
			c := make(chan os.Signal, 1)
			signal.Notify(c, syscall.SIGHUP)
			x.add("%d has asked", i)
			signal.Stop(c)
			x.add("%d asks no more", i)
		})
	}
}

// lazily makes maps at the first use only, as packages do, which is once for each seed.
func lazily(x *trace, seed uint64) {
	if kept[seed] == nil {
		kept[seed] = map[string]int{"a": 1}
		new(sync.Map).Store("a", 1)
	}
	large, m := map[int]bool{}, new(sync.Map)
	for i := range 20 {
		large[i] = true
		m.Store(i, true)
	}
	for key := range large {
		x.add("%d", key)
	}
	m.Range(func(key, _ any) bool { x.add("%d", key); return true })
}

var kept = map[uint64]map[string]int{}

var garbage []byte

// coroutines wait, while others run, and end.
func coroutines(x *trace) {
	next, stop := iter.Pull(func(yield func(int) bool) {
		for i := 0; ; i++ {
			time.Sleep(time.Millisecond)
			if !yield(i) {
				return
			}
		}
	})
	for range 3 {
		i, _ := next()
		x.add("yields %d", i)
	}
	stop()
}

// last is what showed in the last run.
var last []byte

// one runs it from a seed, and returns what shows. When the run is told as well, the goroutine that drives it loops
// over one more map.
func one(t *testing.T, seed uint64, told bool) (result string) {
	for range 4 {
		go runtime.LockOSThread() // it ends with its thread, so that the runtime starts others during the run
	}
	synctest.Test(t, func(t *testing.T) {
		seedBubble(seed)
		var x trace
		lazily(&x, seed)
		if told {
			for range kept {
				break
			}
		}
		busy(&x)
		turns, hash := readBubble()
		h := fnv.New64a()
		h.Write(x.text)
		result = fmt.Sprintf("%d turns, %x, %x", turns, hash, h.Sum64())
		last = x.text
	})
	return result
}

// common returns the last lines that two traces have in common, and the first in which they differ.
func common(a, b []byte) string {
	one, other := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	i := 0
	for i < min(len(one), len(other))-1 && one[i] == other[i] {
		i++
	}
	return strings.Join(one[max(i-5, 0):i], "\n") + "\n" + one[i] + "  or  " + other[i]
}

// TestRuns prints one line for all runs. Seeds are from 1.
func TestRuns(t *testing.T) {
	runs, _ := strconv.Atoi(os.Getenv("PROBE_RUNS"))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	signal.Notify(make(chan os.Signal, 1), syscall.SIGUSR1) // the first call starts a goroutine, in no bubble
	one(t, 0, false)                                        // what is made lazily
	h := fnv.New64a()
	different := map[string]bool{}
	for seed := range runs {
		result := one(t, uint64(seed+1), false)
		first := last
		if again := one(t, uint64(seed+1), true); again != result {
			t.Errorf("seed %d: %s, then %s; they part after\n%s", seed+1, result, again, common(first, last))
		}
		different[result] = true
		h.Write([]byte(result))
		if seed%64 == 0 {
			runtime.GC()
		}
	}
	fmt.Printf("runs %d, different %d, hash %x\n", runs, len(different), h.Sum64())
}

// TestADeadlockOfMutexesIsOne has the runtime report two goroutines that wait for each other's mutex.
func TestADeadlockOfMutexesIsOne(t *testing.T) {
	defer func() {
		if r := recover(); r == nil {
			t.Error("no panic")
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		seedBubble(1)
		var a, b sync.Mutex
		a.Lock()
		go func() {
			b.Lock()
			a.Lock()
		}()
		synctest.Wait()
		b.Lock()
	})
}
