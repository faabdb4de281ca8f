package zktest

import "time"

// watchdog handles code that does not come to rest. It watches the number of turns: when a process has had the same
// turn for long, the watchdog asks it to check whether its goroutines wait for one another, and in the end to show
// them. It counts time in looks, so that a machine that was asleep does not matter. It also measures processor time, so
// that code that spins is reported sooner, and never because other processes had the processors.
type watchdog struct {
	*time.Ticker
	p     *process
	turn  int64
	looks int
	time  func() time.Duration // processor time of the process
	used  time.Duration        // that time when the turn was first seen; 0: unknown
}

// How often it looks, after how many looks it asks, and after how many it ends the process. Asking may change the turns
// of goroutines. It waits twice as many looks each time before it asks again: looking at a deep stack takes long, and
// code that makes one would do nothing else.
const (
	lookEvery = 20 * time.Millisecond
	askAfter  = 2
	endAfter  = stuck * aSecond
	aSecond   = int(time.Second / lookEvery)
)

// spinning is how many seconds of processor time one turn may take. Instrumented code is exempt, because it is slower.
const spinning = 10

// The ways in which code does not come to rest.
const (
	hangs = 1 + iota // for stuck seconds
	spins            // for spinning seconds of a processor
)

func newWatchdog(p *process) *watchdog {
	return &watchdog{Ticker: time.NewTicker(lookEvery), p: p, turn: -1,
		time: func() time.Duration { return processorTime(p.cmd.Process.Pid) }}
}

// look looks once.
func (x *watchdog) look() {
	if now := x.p.shared.turns().Load(); now != x.turn || now%2 == 0 {
		x.turn, x.looks = now, 0
		return
	}
	x.looks++
	how := int64(hangs)
	if x.looks < endAfter && x.spins() {
		x.looks, how = endAfter, spins
	}
	switch {
	case x.looks == endAfter:
		x.p.shared.hung().Store(how)
		x.p.cmd.Process.Signal(showSignal)
	case x.looks == endAfter+aSecond*showFor:
		x.p.cmd.Process.Kill()
	case x.looks >= askAfter && x.looks&(x.looks-1) == 0 && x.looks < endAfter:
		x.p.cmd.Process.Signal(askSignal)
	}
}

// spins reports whether the turn has taken too much processor time. It checks once a second.
func (x *watchdog) spins() bool {
	if x.looks == 1 {
		x.used = x.time()
	}
	return x.looks%aSecond == 0 && x.used > 0 && !instrumented && x.time()-x.used >= spinning*time.Second
}

// showFor is how many seconds a process may take to show its goroutines.
const showFor = 10
