package sim_test

import (
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model"
	"zksim/sim"
)

var guarantees = []guarantee{
	{"M1", "answers come per connection in the order of the requests", repliesInOrder, func(tp *tape) bool {
		return tp.spoilPair("reply", func(a, b *note) bool {
			if a.link() != b.link() || a.n == 0 || b.n == 0 {
				return false
			}
			a.n, b.n = b.n, a.n
			return true
		})
	}},
	{"M2", "events of a connection come in the order of zxids", eventsInOrder, func(tp *tape) bool {
		return tp.spoilPair("event", func(a, b *note) bool {
			if a.link() != b.link() || a.zxid == b.zxid || a.caught || b.caught {
				return false
			}
			a.zxid, b.zxid = b.zxid, a.zxid
			return true
		})
	}},
	{"M3", "an event comes before every answer made at its state or later", eventsBeforeReplies, func(tp *tape) bool {
		return tp.spoil(func(n *note) bool {
			ok := n.kind == "event" && !n.caught && tp.replied(n)
			if ok {
				n.zxid = 1
			}
			return ok
		})
	}},
	{"M4", "no event comes without a watch, and a watch fires once", eventsNeedWatches, func(tp *tape) bool {
		for i, n := range tp.notes {
			if n.kind == "event" && !n.caught {
				tp.notes = append(tp.notes[:i+1], tp.notes[i:]...)
				return true
			}
		}
		return false
	}},
	{"M5", "a session never sees an older state than before, on any server", sessionsNeverGoBack, func(tp *tape) bool {
		return tp.spoilPair("reply", func(a, b *note) bool {
			ok := a.session == b.session && a.zxid > 0 && b.op != model.OpAuth
			if ok {
				b.zxid = a.zxid - 1
			}
			return ok
		})
	}},
	{"M6", "writes of a session are executed in order, and of a connection a prefix", writesInOrder, func(tp *tape) bool {
		return tp.spoilPair("commit", func(a, b *note) bool {
			ok := a.session == b.session && a.session != 0 && a.op == model.OpSetData && b.op == model.OpSetData &&
				a.key != b.key
			if ok {
				a.key, b.key = b.key, a.key
			}
			return ok
		})
	}},
	{"M7", "a multi is executed as a whole, under one zxid", multisAreAtomic, func(tp *tape) bool {
		for i := range tp.w.History.Events {
			if e := &tp.w.History.Events[i]; len(e.Path) > 3 && e.Path[:3] == "/m/" && e.Zxid > 0 {
				e.Zxid++
				return true
			}
		}
		return false
	}},
	{"M8", "after a sync that no deposed leader answers, reads show all that was acknowledged to anyone before it",
		syncsCatchUp, func(tp *tape) bool {
			acked := false
			return tp.spoil(func(n *note) bool {
				acked = acked || n.kind == "reply" && n.op.IsWrite() && n.res.Err == model.OK
				ok := acked && n.kind == "reply" && n.op == model.OpSync
				if ok {
					n.zxid = 1
				}
				return ok && syncsCatchUp(tp) != nil
			})
		}},
	{"M8'", "after an own acknowledged write, reads of the connection show all that was acknowledged to anyone before it",
		ownWritesCatchUp, func(tp *tape) bool {
			return tp.spoilPair("reply", func(a, b *note) bool {
				ok := a.link() == b.link() && a.op.IsWrite() && !b.op.IsWrite() && b.op != model.OpAuth && a.res.Err == model.OK
				if z := b.zxid; ok {
					if b.zxid = 1; ownWritesCatchUp(tp) == nil {
						b.zxid, ok = z, false
					}
				}
				return ok
			})
		}},
	{"M9", "reads show the session's own acknowledged writes", ownWritesAreSeen, func(tp *tape) bool {
		return tp.spoilPair("reply", func(a, b *note) bool {
			ok := a.session == b.session && a.op.IsWrite() && !b.op.IsWrite() && b.op != model.OpAuth
			if ok {
				b.zxid = a.zxid - 1
			}
			return ok
		})
	}},
	{"M10", "a session ends in one txn, after which nothing is executed for it", sessionsEndAtOnce, func(tp *tape) bool {
		return tp.spoilPair("commit", func(a, b *note) bool {
			ok := a.op == model.OpCloseSession && b.op == model.OpSetData
			if ok {
				b.session = a.session
			}
			return ok
		})
	}},
	{"M11", "sequential names count the creations under the parent", sequencesCount, func(tp *tape) bool {
		for i := range tp.w.History.Events {
			if e := &tp.w.History.Events[i]; len(e.Path) > 3 && e.Path[:3] == "/q/" && e.Kind.String() == "created" {
				e.Path += "1"
				return true
			}
		}
		return false
	}},
	{"M12", "a successful set makes the version one more", versionsCount, func(tp *tape) bool {
		return tp.spoil(func(n *note) bool {
			ok := n.kind == "reply" && n.op == model.OpSetData && n.res.Err == model.OK
			n.res.Stat.Version++
			return ok
		})
	}},
	{"M13", "an acknowledged write is never lost", acknowledgedIsKept, func(tp *tape) bool {
		return tp.spoil(func(n *note) bool {
			ok := n.kind == "reply" && n.op == model.OpCreate && n.req.Flags == 0 && n.res.Err == model.OK
			if ok {
				tp.tree = nil
			}
			return ok && acknowledgedIsKept(tp) != nil
		})
	}},
	{"M14", "after a reconnect a watch is made up for exactly as the contract says", catchUpIsExact, func(tp *tape) bool {
		return tp.spoil(func(n *note) bool {
			ok := n.caught
			if ok {
				n.typ = zk.EventNodeCreated + zk.EventNodeDeleted - n.typ%2
			}
			return ok && catchUpIsExact(tp) != nil
		})
	}},
	{"relative", "watches are made up for from the last answer on, not the last event", relativeToTheLastAnswer,
		func(tp *tape) bool {
			return tp.spoil(func(n *note) bool {
				ok := n.kind == "reply" && n.op == model.OpSetWatches
				if ok {
					n.req.Watches.RelativeZxid--
				}
				return ok
			})
		}},
	{"reads", "a read is answered from a state that the log passed through", readsShowTheirState, func(tp *tape) bool {
		return tp.spoil(func(n *note) bool {
			ok := n.kind == "reply" && n.op == model.OpGetData && n.res.Err == model.OK
			n.res.Stat.Mzxid++
			return ok
		})
	}},
}

// spoil offers the notes to f until it has changed one.
func (tp *tape) spoil(f func(n *note) bool) bool {
	for i := range tp.notes {
		if f(&tp.notes[i]) {
			return true
		}
	}
	return false
}

// spoilPair does so with two notes of a kind, the earlier first.
func (tp *tape) spoilPair(kind string, f func(a, b *note) bool) bool {
	for i := range tp.notes {
		for j := i + 1; j < len(tp.notes) && tp.notes[i].kind == kind; j++ {
			if tp.notes[j].kind == kind && f(&tp.notes[i], &tp.notes[j]) {
				return true
			}
		}
	}
	return false
}

// replied reports whether the connection of n had an answer before it.
func (tp *tape) replied(n *note) bool {
	for i := range tp.notes {
		m := &tp.notes[i]
		if m == n {
			return false
		}
		if m.kind == "reply" && m.link() == n.link() && m.zxid > 0 {
			return true
		}
	}
	return false
}

func TestEveryGuaranteeHoldsUnderAllFaults(t *testing.T) {
	w := sim.NewWorld()
	defer w.Close()
	var tp tape
	seeds := uint64(5000)
	if testing.Short() {
		seeds = 1000
	}
	for seed := range seeds {
		tp.random(w, 3, seed)
		if err := tp.run(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, g := range guarantees {
			if err := g.check(&tp); err != nil {
				t.Fatalf("seed %d: %s: %s, but: %v\nschedule %q", seed, g.name, g.sentence, err, w.Schedule())
			}
		}
	}
}

func TestEveryGuaranteeCanBeSeenToFail(t *testing.T) {
	w := sim.NewWorld()
	defer w.Close()
	for _, g := range guarantees {
		var tp tape
		seed := uint64(0)
		for ; seed < 200; seed++ {
			tp.random(w, 3, seed)
			if err := tp.run(); err != nil {
				t.Fatal(err)
			}
			if g.doctor(&tp) && g.check(&tp) != nil {
				break
			}
		}
		if seed == 200 {
			t.Errorf("%s: no run has anything to spoil, or all that are spoilt pass", g.name)
		}
	}
}
