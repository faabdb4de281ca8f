package zktest

import "time"

// watchdog looks after code that may not come to rest. It knows by the number of turns: a process whose code has had
// the same turn for long is asked to look whether its goroutines wait for one another, and in the end to show them.
// Time is counted in looks, so that a machine that was asleep is no reason.
type watchdog struct {
	*time.Ticker
	p     *process
	turn  int64
	looks int
}

// How often it looks, after how many looks it asks, which may change the turns of goroutines, and after how many the
// process is ended. It asks again after twice as many each time: to look at a deep stack takes long, and code that
// makes one would do nothing else.
const (
	lookEvery = 20 * time.Millisecond
	askAfter  = 2
	endAfter  = stuck * int(time.Second/lookEvery)
)

func newWatchdog(p *process) *watchdog {
	return &watchdog{Ticker: time.NewTicker(lookEvery), p: p, turn: -1}
}

// look looks once.
func (x *watchdog) look() {
	if now := x.p.shared.turns().Load(); now != x.turn || now%2 == 0 {
		x.turn, x.looks = now, 0
		return
	}
	x.looks++
	switch {
	case x.looks == endAfter:
		x.p.shared.hung().Store(1)
		x.p.cmd.Process.Signal(showSignal)
	case x.looks == endAfter+endAfter/stuck*showFor:
		x.p.cmd.Process.Kill()
	case x.looks >= askAfter && x.looks&(x.looks-1) == 0 && x.looks < endAfter:
		x.p.cmd.Process.Signal(askSignal)
	}
}

// showFor is how many seconds a process may take to show its goroutines.
const showFor = 10
