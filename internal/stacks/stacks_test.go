package stacks

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const dump = `goroutine 7 [sleep, 2 minutes, locked to thread]:
time.Sleep(0x5f5e100)
	/usr/local/go/src/runtime/time.go:363 +0x105
example.com/my lock.(*Lock).Lock(0xc000012345, {0x1, 0x2})
	/src/my lock/lock.go:41 +0x1d
zksim/scenarios/engine.(*Runner).run.func2(...)
	/x/scenarios/engine/runner.go:195
zksim/sim.(*World).main(0xc0000)
	/x/sim/world.go:207 +0x6e
zksim/sim.(*coroutine).run(0xc000)
	/x/sim/coroutine.go:103 +0x95
iter.Pull[...].func1()
	/usr/local/go/src/iter/iter.go:301 +0xe5
created by iter.Pull[...] in goroutine 6
	/usr/local/go/src/iter/iter.go:271 +0x90`

func TestADumpIsReadAsItIsWritten(t *testing.T) {
	g, ok := parse([]byte(dump))
	if !ok || g.ID != 7 || g.State != "sleep" || g.Waits() != Event || g.Parked() {
		t.Fatalf("%+v", g)
	}
	frames, call := Client(g.Frames())
	if got, want := Text(frames),
		"time.Sleep runtime/time.go:363\nexample.com/my lock.(*Lock).Lock my lock/lock.go:41"; got != want ||
		call != "" {
		t.Errorf("got\n%s, %q\nwant\n%s", got, call, want)
	}
	if id, by := g.Parent(); id != 6 || by.String() != "iter.Pull[...] iter/iter.go:271" || by.Starts() {
		t.Errorf("%d, %v", id, by)
	}
	for _, text := range []string{"", "goroutine", "goroutine x [running]:", "exit status 2", "goroutine 7"} {
		if g, ok := parse([]byte(text)); ok && (g.ID != 7 || g.Waits() != Not || len(g.Frames()) > 0) {
			t.Errorf("%q: %+v", text, g)
		}
	}
}

func TestWhatIsAWait(t *testing.T) {
	const inSync, inMain = "sync.runtime_Semacquire(0x1)\n\t/go/sema.go:1\n", "main.f(0x1)\n\t/main.go:1\n"
	for _, x := range []struct {
		state, text string
		want        Wait
	}{
		{"running", inMain, Not}, {"runnable", inMain, Not}, {"syscall", inMain, Not}, {"preempted", inMain, Not},
		{"GC assist wait", inMain, Not}, {"GC assist marking", inMain, Not}, {"coroutine", inMain, Not},
		{"copystack", inMain, Not},
		{"semacquire", inMain, Not}, // the runtime begins to collect garbage
		{"semacquire", inSync, Lock}, {"sync.Mutex.Lock", inSync, Lock},
		{"sync.WaitGroup.Wait", inSync, Event}, {"select", inMain, Event}, {"chan send", inMain, Event},
		{"chan receive (nil chan)", inMain, Event},
		{"IO wait", "internal/poll.runtime_pollWait(0x1)\n\t/go/netpoll.go:1\n" + inMain, Event},
		{"IO wait",
			"internal/poll.runtime_pollWait(0x1)\n\t/go/netpoll.go:1\nos.(*File).Write(0x1)\n\t/go/file.go:1\n" +
				inMain, Lock},
	} {
		for _, suffix := range []string{"", " (scan)", ", 3 minutes"} {
			g, _ := parse([]byte("goroutine 1 gp=0xc0 m=nil [" + x.state + suffix + "]:\n" + x.text))
			if got := g.Waits(); got != x.want {
				t.Errorf("%s%s: %d, want %d", x.state, suffix, got, x.want)
			}
		}
	}
}

func TestGoroutinesOfThisProcess(t *testing.T) {
	var wg sync.WaitGroup
	ids, release := make(chan uint64), make(chan bool)
	for range 200 { // more than the first buffer holds
		wg.Go(func() {
			ids <- ID()
			<-release
		})
	}
	var all []uint64
	for range 200 {
		all = append(all, <-ids)
	}
	slices.Sort(all)
	if n := len(slices.Compact(slices.Clone(all))); n != 200 || slices.Contains(all, ID()) || ID() != Current().ID {
		t.Errorf("%d different numbers, own %d and %d", n, ID(), Current().ID)
	}
	var d Dump
	for deadline := time.Now().Add(time.Minute); ; {
		seen := 0
		d.Each(func(g Goroutine) bool {
			id, by := g.Parent()
			if slices.Contains(all, g.ID) && g.State == "chan receive" && id == ID() &&
				by.Func == "sync.(*WaitGroup).Go" && by.Starts() {
				seen++
			}
			return true
		})
		if seen == 200 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of 200 goroutines were seen", seen)
		}
	}
	close(release)
	wg.Wait()
	here := Current()
	if frames, _ := Client(here.Frames()); !strings.HasPrefix(frames[0].String(),
		"zksim/internal/stacks.TestGoroutinesOfThisProcess stacks/stacks_test.go:") {
		t.Error(fmt.Sprint(frames))
	}
}
