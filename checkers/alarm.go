package checkers

import (
	"slices"
	"time"

	"zksim/model/history"
)

// Alarm is the rest of the promise of a monitor of locks, beside [Overdue]. The monitor measures from the moment when
// somebody has got the lock, not from the moment when he asks for it. And it raises an alarm when one is due.
//
// Everybody tells the time in Value, in nanoseconds of one clock: a holder when it has got the lock by Path (since) and
// before it gives it up (until), a monitor before it raises an alarm (clock). A znode holds the lock from the moment
// when it is first in its folder, or when it is a reader's and only readers are ahead of it. The last time told before
// that moment is the earliest that it can have been, and an alarm must not claim an earlier one.
//
// When the faults are over, time passes only when nothing else can happen. So if a holder gets the lock then, while a
// monitor runs, and has it for more than twice the Limit, the alarm must have been raised by the time it gives the lock
// up. If it has it for more than four times the Limit, nothing is asked: time has jumped to the end of a session,
// perhaps beyond the end of the monitor. Nor is anything asked when a monitor ends meanwhile, or while the client of a
// monitor has no connection: a real library may wait before it connects again.
type Alarm struct{ Limit time.Duration }

// Name implements [Checker].
func (Alarm) Name() string { return "alarm" }

// Doc implements [Checker].
func (Alarm) Doc() string {
	return "an alarm counts from when the lock was acquired, and is raised when it is due"
}

// Needs implements [Declaring].
func (c Alarm) Needs() Needs {
	return Needs{
		Txns: true,
		Words: slices.Concat(
			tells("a holder has the lock by Path, at the time Value (Process.Clock)", "since"),
			tells("a holder is about to give up the lock by Path, at the time Value (Process.Clock)", "until"),
			tells("the time Value (Process.Clock) at which the monitor raises an alarm, right before it", "clock"),
			tells("a monitor says that the lock by Path has been held for Value nanoseconds", "overdue"),
			judged("a monitor runs", "monitor"),
			unjudged("is judged by what is told", "held", "lock", "rlock", "unlock", "runlock")),
		Seen: []Need{some("overdue, told by a monitor", "record it as Told", toldAs("overdue")),
			{What: "until, told by a holder of the ephemeral znode in Path", Hint: "record it as Told, with its Path",
				In: func(h *history.History) bool {
					m := &alarmed{Alarm: c}
					return reaches(h, m, func(e *history.Event) bool { return toldAs("until")(e) && m.find(e.Path) >= 0 })
				}},
			some("a monitor that runs", "record it by Invoke and Return", func(e *history.Event) bool {
				return e.Kind == history.Invoke && e.Op == "monitor"
			})},
	}
}

// Monitor implements [Monitored].
func (c Alarm) Monitor() Monitor { return &alarmed{Alarm: c} }

// Check implements [Checker].
func (c Alarm) Check(h *history.History) Verdict { return check(h, c.Monitor()) }

// heldTime is what is known of a znode of the queue.
type heldTime struct {
	path   string
	client int32
	zxid   int64
	reads  bool
	first  time.Duration // the latest time that was told before it came first; -1: it has not
	since  time.Duration // when its holder told that it has the lock with the faults over and a monitor running; -1
	told   bool          // the alarm was raised
}

// alarmed is the monitor of Alarm.
type alarmed struct {
	sessionEvents
	Alarm
	clock    time.Duration // the latest that was told
	queue    []heldTime
	past     []heldTime // znodes that are gone
	monitors []caller   // that run
	away     []int32    // clients without a connection
	calm     bool
}

func (m *alarmed) Reset() { *m = alarmed{Alarm: m.Alarm} }

func (m *alarmed) Step(h *history.History, i int) Verdict {
	e := &h.Events[i]
	switch {
	case e.Kind == history.Calm:
		m.calm = true
	case e.Kind == history.Created && e.Session != 0:
		m.queue = append(m.queue, heldTime{path: e.Path, client: e.Client, zxid: e.Zxid, first: -1, since: -1,
			reads: ofReader(e.Path)})
		m.pair(&m.queue[len(m.queue)-1])
		m.lead()
	case e.Kind == history.Deleted:
		m.remove(e.Path)
		m.lead()
	case e.Op == "monitor" && e.Kind == history.Invoke:
		m.monitors = append(m.monitors, callerOf(e))
		if !m.watched() {
			m.excuse()
		}
	case e.Op == "monitor" && e.Kind == history.Return:
		m.monitors = forget(m.monitors, callerOf(e))
		m.excuse()
	case e.Kind == history.Crashed:
		n := len(m.monitors)
		if m.monitors = withoutClient(m.monitors, e.Client); len(m.monitors) < n {
			m.excuse()
		}
	case e.Kind == history.Session:
		m.away = drop(m.away, func(c int32) bool { return c == e.Client })
		if e.Op != "StateHasSession" {
			m.away = append(m.away, e.Client)
			if !m.watched() {
				m.excuse()
			}
		}
	case e.Kind == history.Told:
		return m.told(h, i)
	}
	return Verdict{}
}

// excuse notes that no alarm is due for those that have the lock now.
func (m *alarmed) excuse() {
	for k := range m.queue {
		m.queue[k].since = -1
	}
}

// watched reports whether a monitor runs and the clients of all monitors have a connection.
func (m *alarmed) watched() bool {
	return len(m.monitors) > 0 &&
		!slices.ContainsFunc(m.monitors, func(x caller) bool { return slices.Contains(m.away, x.client) })
}

// told judges what holders and monitors tell.
func (m *alarmed) told(h *history.History, i int) Verdict {
	e := &h.Events[i]
	now := time.Duration(e.Value)
	k := m.find(e.Path)
	switch e.Op {
	case "clock":
		m.clock = now
	case "since":
		m.clock = now
		if k >= 0 && m.calm && m.watched() {
			m.queue[k].since = now
		}
	case "until":
		m.clock = now
		if k < 0 {
			break
		}
		x := &m.queue[k]
		if had := now - x.since; x.since >= 0 && 2*m.Limit < had && had <= 4*m.Limit && !x.told {
			return violated(m, i, "c%d has had the lock by %s for %v, with the faults over, and no monitor has said so; "+
				"the limit is %v", e.Client, e.Path, had, m.Limit)
		}
		x.since = -1
	case "overdue":
		return m.raised(h, i)
	}
	return Verdict{}
}

// find returns the index of a znode in the queue, or -1 if it is not there.
func (m *alarmed) find(path string) int {
	return slices.IndexFunc(m.queue, func(x heldTime) bool { return x.path == path })
}

// raised judges an alarm, even if its znode is gone.
func (m *alarmed) raised(h *history.History, i int) Verdict {
	e := &h.Events[i]
	of := func(x heldTime) bool { return x.path == e.Path }
	var x heldTime
	if k := slices.IndexFunc(m.queue, of); k >= 0 {
		x = m.queue[k]
	} else if k = slices.IndexFunc(m.past, of); k >= 0 {
		x = m.past[k]
	} else {
		return Verdict{}
	}
	for j := range m.queue { // a writer has the lock by two znodes, but gets one alarm
		if y := &m.queue[j]; y.client == x.client && y.zxid == x.zxid {
			y.told = true
		}
	}
	if x.first < 0 {
		return violated(m, i, "c%d says that the lock has been held by %s, which has only waited for it", e.Client, e.Path)
	}
	if most := m.clock - x.first; time.Duration(e.Value) > most {
		return violated(m, i, "c%d says that the lock has been held by %s for %v, but that came first %v ago at most",
			e.Client, e.Path, time.Duration(e.Value), most)
	}
	return Verdict{}
}

// remove notes that a znode is gone.
func (m *alarmed) remove(path string) {
	if k := m.find(path); k >= 0 {
		m.past = append(m.past, m.queue[k])
		m.queue = slices.Delete(m.queue, k, k+1)
	}
}

// pair makes the read znode that a writer has made for itself hold nothing. It seemed to be a reader's until the write
// znode of the same txn was seen.
func (m *alarmed) pair(write *heldTime) {
	for k := range m.queue {
		if x := &m.queue[k]; !write.reads && x.client == write.client && x.zxid == write.zxid {
			x.first = -1
		}
	}
}

// waits reports whether x is the read znode of a writer that has not got the lock. It is there for a downgrade.
func (m *alarmed) waits(x *heldTime) bool {
	return x.reads && slices.ContainsFunc(m.queue, func(y heldTime) bool {
		return y.client == x.client && y.zxid == x.zxid && !y.reads && y.first < 0
	})
}

// lead notes which znodes hold the lock now. It looks at the writes first: they decide which reads wait.
func (m *alarmed) lead() {
	for _, reads := range [...]bool{false, true} {
		for k := range m.queue {
			if x := &m.queue[k]; x.first < 0 && x.reads == reads && !m.waits(x) && !m.blocked(k) {
				x.first = m.clock
			}
		}
	}
}

// blocked reports whether a znode of somebody else is ahead of znode k and in its way.
func (m *alarmed) blocked(k int) bool {
	x := &m.queue[k]
	return slices.ContainsFunc(m.queue[:k], func(y heldTime) bool {
		partner := y.client == x.client && y.zxid == x.zxid
		return siblings(y.path, x.path) && !partner && !(y.reads && x.reads)
	})
}
