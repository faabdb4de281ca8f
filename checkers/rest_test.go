package checkers

import (
	"testing"

	"zksim/model/history"
)

func TestQuiescenceNamesTheNewsOfASession(t *testing.T) {
	judge(t, Quiescence{}, []judgement{
		{name: "no watch, after a change of its session", text: `
			call c1 getW /l/a
			session c1 StateHasSession
			session c2 StateDisconnected
			Waiting c1`, event: -1, message: "c1 waits for something that will never happen, and for no watch, after its " +
			"last request, getW /l/a, and the news of its session, StateHasSession"},
	})
}

func TestQuiescenceNamesWhatIsWaitedFor(t *testing.T) {
	judge(t, Quiescence{}, []judgement{
		{name: "nobody waits"},
		{name: "a run that was stopped says nothing", text: `
			Outcome stopped
			Waiting c1 /l/a`},
		{name: "no watch", text: `Waiting c1`, event: -1,
			message: "c1 waits for something that will never happen, and for no watch"},
		{name: "no watch, after a request", text: `
			call c1 getW /l/a
			call c2 create /l/b
			Waiting c1`, event: -1, message: "c1 waits for something that will never happen, and for no watch, after its " +
			"last request, getW /l/a"},
		{name: "a znode that is gone", text: `Waiting c1 /l/a`, event: -1,
			message: "c1 waits for /l/a, which does not exist"},
		{name: "a znode that nobody knows of", text: `
			Waiting c1 /l/a
			Znode /l/a s12
			Open s12 c2`, event: -1, message: "c1 waits for /l/a, which no recipe object knows of; the live session of c2 " +
			"owns it"},
		{name: "a znode that somebody has", text: `
			Waiting c1 /l/a
			Znode /l/a s12
			Known /l/a
			Open s12 c2`, event: -1, message: "c1 waits for /l/a, which c2 has"},
		{name: "a holder that waits", text: `
			Waiting c1 /l/a
			Waiting c2 /d
			Waiting c3
			Znode /d s0
			Znode /l/a s12
			Known /l/a
			Open s12 c2`, event: -1, message: "c2 waits for /d, which is persistent"},
		{name: "a chain, each with what another waits for", text: `
			Waiting c1 /l/a
			Waiting c2 /l/b
			Znode /l/a s12
			Znode /l/b s13
			Known /l/a
			Known /l/b
			Open s12 c2
			Open s13 c3`, event: -1, message: "c1 waits for /l/a, which c2 has; c2 waits for /l/b, which c3 has"},
	})
}

func TestQuiescenceNamesWhoHoldsOthersUp(t *testing.T) {
	judge(t, Quiescence{}, []judgement{
		{name: "a circle", text: `
			Waiting c1 /l/a
			Waiting c2 /l/b
			Znode /l/a s12
			Znode /l/b s11
			Known /l/a
			Known /l/b
			Open s12 c2
			Open s11 c1`, event: -1, message: "c1 waits for /l/a, which c2 has; c2 waits for /l/b, which c1 has: a circle"},
		{name: "a circle of clients that watch what they have, too", text: `
			Waiting c1 /l/a /l/b
			Waiting c2 /l/b /l/a
			Waiting c3 /l/c /l/b
			Znode /l/a s11
			Znode /l/b s12
			Znode /l/c s13
			Known /l/a
			Known /l/b
			Known /l/c
			Open s11 c1
			Open s12 c2
			Open s13 c3`, event: -1, message: "c1 waits for /l/a, which it has itself, and for /l/b, which c2 has; " +
			"c2 waits for /l/a, which c1 has: a circle"},
		{name: "a program, rather than what may have nothing to do but wait", text: `
			Waiting c1/keeper /d
			Waiting c1 /l/a
			Waiting c2 /l/b
			Znode /d s0
			Znode /l/a s12
			Known /l/a
			Open s12 c2`, event: -1, message: "c2 waits for /l/b, which does not exist"},
		{name: "what a program has started, where all programs wait for others", text: `
			Waiting c1 /l/a
			Waiting c2/keeper /d
			Znode /d s0
			Znode /l/a s12
			Known /l/a
			Open s12 c2`, event: -1, message: "c2 waits for /d, which is persistent"},
		{name: "one that waits for what it has", text: `
			Waiting c1 /l/a
			Waiting c2 /l/b
			Znode /l/a s12
			Znode /l/b s12
			Known /l/a
			Known /l/b
			Open s12 c2`, event: -1, message: "c1 waits for /l/a, which c2 has; c2 waits for /l/b, which it has itself"},
		{name: "one that waits for what is nobody's, rather than one that waits for news", text: `
			Waiting c1 /d
			Waiting c2 /l/a
			Znode /d s0
			Znode /l/a s12
			Open s12 c3`, event: -1, message: "c2 waits for /l/a, which no recipe object knows of; the live session of c3 " +
			"owns it"},
		{name: "a znode of a session that is over", text: `
			Waiting c1 /l/a
			Znode /l/a s12`, event: -1, message: "c1 waits for /l/a, whose session is over"},
		{name: "several", text: `
			Waiting c1 /l /l/a
			Znode /l s0`, event: -1, message: "c1 waits for /l, which is persistent, and for /l/a, which does not exist"},
	})
}

func TestQuiescenceNamesWhatAClientWaitsIn(t *testing.T) {
	judge(t, Quiescence{}, []judgement{
		{name: "one that looked and then left its watch", text: `
			created c4 /d/a z3
			call c1 childrenW /d
			reply c1 childrenW /d
			Waiting c1 /d
			Znode /d s0`, event: -1, message: "c1 waits for /d, which is persistent, by a watch that it asked for after the " +
			"last change, by c4"},
		{name: "a folder with what a session has left that is over", text: `
			session c2 s12 StateHasSession
			session c3 s13 StateHasSession
			created c3 /d/a z3
			created c2 /d/b z4
			created c2 /d/c z5
			created c2 /d/f z6
			call c1 childrenW /d
			reply c1 childrenW /d
			deleted c3 /d/f z7
			Waiting c1 /d /d/e
			Znode /d s0
			Znode /d/a s0
			Znode /d/b s0
			Znode /d/c s0
			Open s13 c3`, event: -1, message: "c1 waits for /d, which is persistent and holds /d/c, which c2 made in a " +
			"session that is over, and for /d/e, which does not exist"},
		{name: "a folder with what is nobody's", text: `
			call c1 childrenW /d
			reply c1 childrenW /d
			Waiting c1 /d
			Znode /d s0
			Znode /d/a s12
			Znode /d/b s12
			Known /d/a
			Open s12 c2`, event: -1, message: "c1 waits for /d, which is persistent and holds /d/b, which no recipe object " +
			"knows of; the live session of c2 owns it"},
		{name: "one that waits for no watch", text: `
			invoke c1 o1 join
			return c1 o1 join
			invoke c1 o1 outcome
			Waiting c1`, event: -1, message: "c1 waits in its outcome for something that will never happen, and for no watch"},
		{name: "one that waits for no watch and has asked for something", text: `
			invoke c1 o1 lock
			call c1 existsW /l/a
			reply c1 existsW /l/a
			Waiting c1`, event: -1, message: "c1 waits in its lock for something that will never happen, and for no watch, " +
			"after its last request, existsW /l/a"},
	})
}

func TestTheTreeHasNoZnodesThatNobodyAnswersFor(t *testing.T) {
	judge(t, Tree{}, []judgement{
		{name: "persistent, known, or of an ended session", text: `
			Open s11 c1
			Znode /l s0
			Znode /l/a s11
			Known /l/a
			Znode /l/b s12`},
		{name: "left behind", text: `
			Open s11 c1
			Znode /l/a s11`, event: -1, message: "/l/a stays behind: the live session of c1 owns it and no recipe object " +
			"knows of it"},
		{name: "a run that was stopped says nothing", text: `
			Outcome step-limit
			Open s11 c1
			Znode /l/a s11`},
	})
}

func TestTheHerdIsCountedPerChange(t *testing.T) {
	const release = `
		created c1 /l/a z1 s11
		acquired c1 o1 /l/a
		deleted c1 /l/a z4
	`
	judge(t, Herd{PerEvent: 1}, []judgement{
		{name: "one other client", text: release + `
			notify c1 deleted /l/a z4
			notify c2 deleted /l/a z4`},
		{name: "two others, one of them in vain", text: release + `
			notify c2 deleted /l/a z4
			notify c3 deleted /l/a z4
			call c3 children /l
			call c3 existsW /l/b
			acquired c2 o2 /l/b`, event: 4, message: "one change of /l/a caused 2 notifications, 1 of them in vain; " +
			"at most 1 may be"},
		{name: "another change of the same znode", text: release + `
			notify c2 deleted /l/a z4
			created c1 /l/a z5 s11
			notify c3 created /l/a z5`},
		{name: "what a reconnect brings", text: release + `
			notify c2 deleted /l/a
			notify c3 deleted /l/a`},
		{name: "the end of a session has no author", text: `
			created c1 /l/a z1 s11
			deleted c0 /l/a z4
			notify c2 deleted /l/a z4
			notify c3 deleted /l/a z4`, event: 3, message: "one change of /l/a caused 2 notifications, 2 of them in vain; " +
			"at most 1 may be"},
	})
	judge(t, Herd{PerEvent: 2}, []judgement{{name: "as many as may be", text: release + `
		notify c2 deleted /l/a z4
		notify c3 deleted /l/a z4`}})
}

func TestProgressIsMade(t *testing.T) {
	judge(t, Steps{}, []judgement{
		{name: "at rest", text: `call c1 get /l`},
		{name: "busy", text: `
			Outcome step-limit
			call c1 get /l
			call c2 existsW /l/a
			notify c1 child /l`, event: -1, message: "still busy at the step limit: c2 goes on with existsW /l/a"},
		{name: "busy with itself", text: `Outcome step-limit`, event: -1,
			message: "still busy at the step limit: a client goes on without a request"},
		{name: "busy after others have ended", text: `
			Outcome step-limit
			Steps 1000
			Finished c1 c3 c4 c5 c6 c7 c8 c9
			call c2 get /l t899
			call c1 get /l t950`, event: -1, message: "still busy at the step limit: c2 goes on without a request"},
		{name: "busy after a crash", text: `
			Outcome step-limit
			Steps 1000
			Finished c1 c4 c5 c6 c7 c8 c9
			crashed c3 t5`, event: -1, message: "still busy at the step limit: c2 goes on without a request"},
		{name: "busy to the end", text: `
			Outcome step-limit
			Steps 1000
			call c1 get /a t10
			call c2 get /l t900`, event: -1, message: "still busy at the step limit: c2 goes on with get /l"},
	})
	judge(t, Liveness{}, []judgement{
		{name: "no failure"},
		{name: "the first of two", text: `
			Failed c3 no node
			Failed c2 bad version`, event: -1, message: "c2 gave up: bad version"},
	})
}

func TestTheWorstVerdictWinsAndTheFirstOfEquals(t *testing.T) {
	h := script(t, `
		Failed c1 no node
		Waiting c1`)
	if v := Worst(h, []Checker{Tree{}, Quiescence{}, Liveness{}}); v.Checker != "quiescence" {
		t.Errorf("%+v", v)
	}
	if v := Worst(h, []Checker{opinion{Unknown}, Liveness{}}); v.Checker != "liveness" {
		t.Errorf("%+v", v)
	}
	if v := Worst(h, []Checker{Tree{}, opinion{Unknown}, opinion{OK}}); v.Level != Unknown {
		t.Errorf("%+v", v)
	}
	if v := Worst(h, nil); v != (Verdict{}) {
		t.Errorf("%+v", v)
	}
	if v, ok := Caught(h, []Checker{Quiescence{}, Tree{}, Liveness{}}, []string{"liveness", "tree"}); !ok ||
		v.Checker != "liveness" {
		t.Errorf("%+v, %t", v, ok)
	}
	if v, ok := Caught(h, []Checker{Quiescence{}, Tree{}}, []string{"liveness", "tree"}); ok {
		t.Errorf("%+v", v)
	}
	h = script(t, `Outcome panicked oh no`)
	if v := Worst(h, []Checker{Tree{}}); v != (Verdict{Violated, "panic", "oh", -1}) {
		t.Errorf("%+v", v)
	}
}

// opinion is a checker that always says the same.
type opinion struct{ level Level }

func (opinion) Name() string { return "opinion" }
func (opinion) Doc() string  { return "" }
func (o opinion) Check(h *history.History) Verdict {
	return Verdict{Level: o.level, Checker: "opinion"}
}

func TestNamesAreUniqueAndLevelsAreInOrder(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range []Checker{
		Steps{},
		Herd{},
		Znodes{},
		Monotone{},
		Convergence{},
		Departure{},
		Presence{},
		Belief{},
		Atomicity{},
		Validity{},
		Fenced{},
		Torn{},
		Conflict{},
		Recency{},
		Names{},
		Counter{},
		Liveness{},
		LostRevoke{},
		Overdue{},
		Refusal{},
		Linearizability{},
		LostItem{},
		DoubledItem{},
		DoubledEffect{},
		Length{},
		FIFO{},
		PriorityOrder{},
		Quiescence{},
		Barrier{},
		Entry{},
		Exit{},
		Rounds{},
		Gather{},
		Tree{},
		Acknowledged{},
		Tasks{},
		StaleLeader{},
		Alarm{},
		Leftover{},
		Passage{},
		Watches{},
	} {
		if seen[c.Name()] || c.Name() == "" || c.Doc() == "" {
			t.Errorf("%T: %q, %q", c, c.Name(), c.Doc())
		}
		seen[c.Name()] = true
	}
	if !(OK < Unknown && Unknown < Violated) || OK.String()+Unknown.String()+Violated.String() != "okunknownviolated" {
		t.Error("the levels")
	}
}
