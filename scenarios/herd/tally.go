package herd

import (
	"time"

	"zksim/model/history"
)

// tally counts the events of one history, in one pass.
type tally struct {
	times     []time.Duration
	begin     time.Duration
	alone     bool // a lone client waits for nobody
	follows   bool // clients wait for news, which none of them gets in vain
	bystander int32

	authors map[int64]int32 // by zxid
	bursts  map[int64]int
	pending []bool // by client: notified, and has not gone on
	watches map[watch]bool

	m         Measurement
	told      int // notifications in the whole history
	waiting   int // watches that were set when the measurement began
	notified  int // in the measurement, to any client, the authors too
	answered  int
	requested int
	wasted    int
	txns      int
	lastTxn   int64
	fanout    int
	released  time.Duration
	last      time.Duration // event
	handovers []time.Duration
	asked     time.Duration // by the bystander
	quiet     []time.Duration
}

// watch is a watch that is set.
type watch struct {
	client   int32
	path     string
	children bool
}

// count counts a whole history.
func (v *Variant) count(h *history.History, times []time.Duration, begin time.Duration, clients int) *tally {
	t := newTally(times, begin, clients)
	t.alone, t.follows = clients == 1 && v.Drive == nil, v.Interval > 0
	for i := range h.Events {
		t.add(&h.Events[i])
	}
	t.finish()
	t.m.Variant, t.m.Clients = v.Name, clients
	return t
}

func newTally(times []time.Duration, begin time.Duration, clients int) *tally {
	return &tally{times: times, begin: begin, bystander: int32(clients + 2),
		authors: map[int64]int32{}, bursts: map[int64]int{}, pending: make([]bool, clients+3), watches: map[watch]bool{}}
}

// add counts an event. Events before the measurement begins count only for what is there then.
func (t *tally) add(e *history.Event) {
	now := time.Duration(0)
	if e.Step > 0 {
		now = t.times[e.Step-1]
	}
	measured := now >= t.begin
	if !measured {
		t.waiting = len(t.watches)
	}
	switch e.Kind {
	case history.Call, history.Reply:
		t.exchange(e, now, measured)
	case history.Notify:
		t.told++
		t.unwatch(e)
		if measured {
			t.notify(e)
		}
	case history.Created, history.Changed, history.Deleted:
		t.authors[e.Zxid] = e.Client
		if measured && e.Zxid != t.lastTxn {
			t.txns++
			t.lastTxn = e.Zxid
		}
	case history.Released:
		t.released = now
	case history.Acquired:
		if measured {
			t.goOn(e, now)
		}
	}
}

// exchange counts a request or an answer.
func (t *tally) exchange(e *history.Event, now time.Duration, measured bool) {
	if e.Client == t.bystander {
		if e.Kind == history.Call {
			t.asked = now
			return
		}
		took := now - t.asked
		if measured {
			t.m.Spike = max(t.m.Spike, took)
		} else {
			t.quiet = append(t.quiet, took)
		}
		return
	}
	if e.Kind == history.Reply {
		t.watch(e)
	}
	switch {
	case !measured:
	case e.Kind == history.Call:
		t.requested++
	default:
		t.answered++
	}
}

func (t *tally) notify(e *history.Event) {
	t.notified++
	if e.Client == t.authors[e.Zxid] {
		return
	}
	t.fanout++
	t.bursts[e.Zxid]++
	t.m.Burst = max(t.m.Burst, t.bursts[e.Zxid])
	if t.pending[e.Client] {
		t.wasted++
	}
	t.pending[e.Client] = !t.follows
}

func (t *tally) goOn(e *history.Event, now time.Duration) {
	t.m.Events++
	t.last = now
	t.pending[e.Client] = false
	if !t.alone && t.released >= t.begin {
		t.handovers = append(t.handovers, now-t.released)
	}
}

// watch notes a watch that an answer has set.
func (t *tally) watch(e *history.Event) {
	if e.Err != nil && e.Op != "existsW" {
		return
	}
	switch e.Op {
	case "getW", "existsW", "childrenW":
		t.watches[watch{e.Client, e.Path, e.Op == "childrenW"}] = true
		t.m.Watches = max(t.m.Watches, len(t.watches))
	}
}

// unwatch notes that watches have fired.
func (t *tally) unwatch(e *history.Event) {
	if e.Op == "child" || e.Op == "deleted" {
		delete(t.watches, watch{e.Client, e.Path, true})
	}
	if e.Op != "child" {
		delete(t.watches, watch{e.Client, e.Path, false})
	}
}

// finish computes the sums.
func (t *tally) finish() {
	for _, waits := range t.pending {
		if waits {
			t.wasted++
		}
	}
	m := &t.m
	per := func(n int) float64 { return float64(n) / float64(m.Events) }
	m.Notifications, m.Wasted, m.Requests, m.Txns = per(t.fanout), per(t.wasted), per(t.requested), per(t.txns)
	m.Messages = per(t.requested + t.answered + t.notified)
	m.Rate = float64(t.requested) / (t.last - t.begin).Seconds()
	m.P50, m.P99 = quantile(t.handovers, 0.5), quantile(t.handovers, 0.99)
	m.Quiet = quantile(t.quiet, 0.5)
}
