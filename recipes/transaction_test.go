package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"zksim/internal/zkserver/zkservertest"
	"zksim/model/history"
	"zksim/recipes"
	"zksim/sim"
)

// allForms runs a test with each form of two-phase commit.
func allForms(t *testing.T, f func(t *testing.T, form recipes.Form)) {
	for i, name := range []string{"all sites", "by coordinator", "ephemeral sites"} {
		t.Run(name, func(t *testing.T) { f(t, recipes.Form(i)) })
	}
}

// transaction makes a participant in the transaction /app/tx; site is empty for
// the coordinator.
func (a actor) transaction(form recipes.Form, site string) *recipes.Transaction {
	return recipes.NewTransaction(a.Conn, a.env, "/app/tx", recipes.TransactionOptions{Site: site, Form: form})
}

// decides reports anything but that decision.
func (a actor) decides(want recipes.Decision, ask func(context.Context) (recipes.Decision, error)) {
	a.t.Helper()
	if d, err := ask(ctx); d != want || err != nil {
		a.t.Errorf("%v, %v; want %v", d, err, want)
	}
}

// site makes a program that joins, votes, learns the decision and forgets.
func site(form recipes.Form, name string, yes bool, want recipes.Decision) func(a actor) {
	return func(a actor) {
		s := a.transaction(form, name)
		data, err := s.Join(ctx)
		if string(data) != "what to do" || err != nil {
			a.t.Errorf("joined %q, %v", data, err)
		}
		a.is("Vote", s.Vote(ctx, yes), nil)
		a.decides(want, s.Outcome)
		a.decides(want, s.Finish)
		a.is("Forget", s.Forget(ctx), nil)
		if len(s.Znodes()) > 0 {
			a.t.Errorf("knows of %v", s.Znodes())
		}
	}
}

// onlyApp reports what is left besides the parent of the transaction.
func onlyApp(t *testing.T, h *history.History) {
	t.Helper()
	for _, n := range h.Tree {
		if n.Path != "/app" && n.Path != "/" && !isSystem(n.Path) {
			t.Errorf("%s is left behind", n.Path)
		}
	}
}

func isSystem(path string) bool { return len(path) >= 10 && path[:10] == "/zookeeper" }

func TestATransactionIsCommittedIfAllVoteYes(t *testing.T) {
	for _, x := range []struct {
		yes  bool
		want recipes.Decision
	}{{true, recipes.Committed}, {false, recipes.Aborted}} {
		t.Run(x.want.String(), func(t *testing.T) {
			allForms(t, func(t *testing.T, form recipes.Form) {
				h := play(t, nil, func(a actor) {
					c := a.transaction(form, "")
					a.is("Begin", c.Begin(ctx, []byte("what to do"), "a", "b", "c"), nil)
					a.is("Forget before the decision", c.Forget(ctx), recipes.ErrUndecided)
					a.decides(x.want, c.Outcome)
					a.decides(x.want, c.Outcome)
					a.is("Forget", c.Forget(ctx), nil)
				}, site(form, "a", true, x.want), site(form, "b", x.yes, x.want), site(form, "c", true, x.want))
				onlyApp(t, h)
			})
		})
	}
}

func TestAVoteCannotBeChanged(t *testing.T) {
	allForms(t, func(t *testing.T, form recipes.Form) {
		play(t, nil, func(a actor) {
			c := a.transaction(form, "")
			s := a.transaction(form, "a")
			a.is("Vote in no transaction", s.Vote(ctx, true), zk.ErrNoNode)
			a.is("Begin", c.Begin(ctx, nil, "a", "b"), nil)
			a.is("Vote of a stranger", a.transaction(form, "x").Vote(ctx, true), zk.ErrNoNode)
			a.is("Vote", s.Vote(ctx, true), nil)
			a.is("the same again", s.Vote(ctx, true), nil)
			a.is("another", s.Vote(ctx, false), recipes.ErrVoted)
			a.is("another after a restart", a.transaction(form, "a").Vote(ctx, false), recipes.ErrVoted)
			b := a.transaction(form, "b")
			a.is("Vote", b.Vote(ctx, false), nil)
			a.is("the same again", b.Vote(ctx, false), nil)
			a.is("another", b.Vote(ctx, true), recipes.ErrVoted)
			a.decides(recipes.Aborted, s.Outcome)
		})
	})
}

func TestFinishAbortsUnlessAllHaveVotedYes(t *testing.T) {
	allForms(t, func(t *testing.T, form recipes.Form) {
		play(t, nil, func(a actor) {
			c, s, b := a.transaction(form, ""), a.transaction(form, "a"), a.transaction(form, "b")
			a.is("Begin", c.Begin(ctx, nil, "a", "b"), nil)
			a.is("Vote", s.Vote(ctx, true), nil)
			a.decides(recipes.Aborted, s.Finish)
			a.is("a late yes", b.Vote(ctx, true), nil)
			a.decides(recipes.Aborted, b.Outcome)
			a.decides(recipes.Aborted, c.Finish)
		})
		play(t, nil, func(a actor) {
			c, s, b := a.transaction(form, ""), a.transaction(form, "a"), a.transaction(form, "b")
			a.is("Begin", c.Begin(ctx, nil, "a", "b"), nil)
			a.is("Vote", errors.Join(s.Vote(ctx, true), b.Vote(ctx, true)), nil)
			a.decides(recipes.Committed, b.Finish)
			a.decides(recipes.Committed, a.transaction(form, "").Outcome) // a new coordinator
			a.decides(recipes.Committed, s.Outcome)
		})
		// A no after the abort is none, and is no error either.
		play(t, nil, func(a actor) {
			c, s := a.transaction(form, ""), a.transaction(form, "a")
			a.is("Begin", c.Begin(ctx, nil, "a"), nil)
			a.decides(recipes.Aborted, c.Finish)
			a.is("a late no", s.Vote(ctx, false), nil)
		})
	})
}

// Whoever asks, and however many at once: there is one decision.
func TestTheLastVoteAndFinishRace(t *testing.T) {
	allForms(t, func(t *testing.T, form recipes.Form) {
		seen := map[recipes.Decision]bool{}
		var learned []recipes.Decision
		learn := func(a actor, x *recipes.Transaction, ask func(context.Context) (recipes.Decision, error)) {
			d, err := ask(ctx)
			a.is("asking", err, nil)
			learned = append(learned, d)
			seen[d] = true
			if d != learned[0] {
				a.t.Errorf("learned %v", learned)
			}
		}
		play(t, func(*sim.World) { learned = nil }, func(a actor) {
			c, s := a.transaction(form, ""), a.transaction(form, "a")
			a.is("Begin", c.Begin(ctx, nil, "a", "b"), nil)
			a.is("Vote", s.Vote(ctx, true), nil)
			learn(a, c, c.Outcome)
			learn(a, s, s.Outcome)
		}, func(a actor) {
			b := a.transaction(form, "b")
			_, err := b.Join(ctx)
			a.is("Join", err, nil)
			for range a.random.IntN(20) {
				a.env.Now()
			}
			a.is("Vote", b.Vote(ctx, true), nil)
			learn(a, b, b.Outcome)
		}, func(a actor) {
			s := a.transaction(form, "a")
			_, err := s.Join(ctx)
			a.is("Join", err, nil)
			for range a.random.IntN(9) {
				a.env.Now()
			}
			learn(a, s, s.Finish)
		})
		if len(seen) != 2 {
			t.Errorf("all runs ended with %v", seen)
		}
	})
}

func TestWhatATransactionRefuses(t *testing.T) {
	done, cancel := context.WithCancel(ctx)
	cancel()
	allForms(t, func(t *testing.T, form recipes.Form) {
		h := play(t, nil, func(a actor) {
			c, s := a.transaction(form, ""), a.transaction(form, "a")
			for _, sites := range [][]string{nil, {""}, {"a", "a"}, {"a/b"}} {
				a.is("Begin with bad names", c.Begin(ctx, nil, sites...), zk.ErrBadArguments)
			}
			a.is("Begin by a site", s.Begin(ctx, nil, "a"), recipes.ErrRole)
			a.is("Vote by the coordinator", c.Vote(ctx, true), recipes.ErrRole)
			_, err := c.Join(ctx)
			a.is("Join by the coordinator", err, recipes.ErrRole)

			a.is("Begin with a done context", c.Begin(done, nil, "a"), context.Canceled)
			soon, end := a.env.WithTimeout(ctx, time.Second)
			_, err = s.Join(soon)
			a.is("Join of nothing", err, context.DeadlineExceeded)
			end()
			for _, x := range []*recipes.Transaction{c, s} {
				d, err := x.Outcome(ctx)
				a.is("Outcome of nothing", err, zk.ErrNoNode)
				a.is("Forget nothing", x.Forget(ctx), recipes.ErrUndecided)
				if d, err = x.Finish(ctx); d != recipes.Undecided || err != zk.ErrNoNode {
					a.t.Errorf("Finish nothing: %v, %v", d, err)
				}
			}

			a.is("Begin", c.Begin(ctx, nil, "a"), nil)
			a.is("Begin again", c.Begin(ctx, nil, "a"), zk.ErrNodeExists)
			_, err = s.Join(done)
			a.is("Join with a done context", err, context.Canceled)
			a.is("Vote with a done context", s.Vote(done, true), context.Canceled)
			_, err = s.Outcome(done)
			a.is("Outcome with a done context", err, context.Canceled)
			_, err = s.Finish(done)
			a.is("Finish with a done context", err, context.Canceled)
			soon, end = a.env.WithTimeout(ctx, time.Second)
			_, err = s.Outcome(soon)
			a.is("Outcome that takes too long", err, context.DeadlineExceeded)
			end()
			if stat, err := statOf(a, "/app/tx/site-a"); err != nil || stat.Version != 0 {
				a.t.Errorf("%+v, %v", stat, err)
			}
			a.is("Vote", s.Vote(ctx, true), nil)
			a.decides(recipes.Committed, c.Outcome)
			a.decides(recipes.Committed, s.Outcome)
			a.is("Forget", errors.Join(s.Forget(ctx), s.Forget(ctx), c.Forget(ctx), s.Forget(ctx)), nil)
			_, err = a.transaction(form, "a").Outcome(ctx)
			a.is("Outcome of what is forgotten", err, zk.ErrNoNode)
		})
		onlyApp(t, h)
	})
}

func statOf(a actor, path string) (*zk.Stat, error) {
	_, stat, err := a.Get(path)
	return stat, err
}

func TestALostReplyIsSettled(t *testing.T) {
	allForms(t, func(t *testing.T, form recipes.Form) {
		h := play(t, nil, func(a actor) {
			c, s := a.transaction(form, ""), a.transaction(form, "a")
			lossy := func(what string, f func() error) {
				a.t.Helper()
				for _, fault := range []string{"lose-reply c1", "lose-request c1"} {
					a.wanted = append(a.wanted, fault)
					a.is(what, f(), nil)
					a.until(func() bool { return len(a.wanted) == 0 || a.wanted[0] != fault })
				}
			}
			a.wanted = append(a.wanted, "lose-reply c1")
			a.is("Begin", c.Begin(ctx, nil, "a"), nil)
			lossy("Join", func() error { _, err := s.Join(ctx); return err })
			a.wanted = append(a.wanted, "lose-reply c1")
			a.is("Vote", s.Vote(ctx, true), nil)
			a.wanted = append(a.wanted, "lose-reply c1")
			a.decides(recipes.Committed, c.Outcome)
			a.decides(recipes.Committed, s.Outcome)
			lossy("Forget", func() error { return c.Forget(ctx) })
			lossy("Forget", func() error { return s.Forget(ctx) })
		})
		onlyApp(t, h)
	})
}

// unlucky is a connection that loses the answer of the first multi, and of the
// read that asks what became of it.
type unlucky struct {
	recipes.Conn
	lost      int
	meanwhile func()
}

func (u *unlucky) Multi(ops ...interface{}) ([]zk.MultiResponse, error) {
	res, err := u.Conn.Multi(ops...)
	if u.lost++; u.lost > 1 {
		return res, err
	}
	u.meanwhile()
	return nil, zk.ErrConnectionClosed
}

func (u *unlucky) Get(path string) ([]byte, *zk.Stat, error) {
	if u.lost == 1 {
		u.lost++
		return nil, nil, zk.ErrConnectionClosed
	}
	return u.Conn.Get(path)
}

// A Begin that ends with its context while nobody knows what became of it leaves
// nothing behind, or, when a site has voted, a decision for the sites.
func TestABeginThatIsCancelledIsUndone(t *testing.T) {
	allForms(t, func(t *testing.T, form recipes.Form) {
		for _, vote := range []bool{false, true} {
			var voted bool
			h := play(t, func(*sim.World) { voted = !vote }, func(a actor) {
				soon, cancel := context.WithCancel(ctx)
				conn := &unlucky{Conn: a.Conn, meanwhile: func() {
					a.until(func() bool { return voted })
					cancel()
				}}
				c := recipes.NewTransaction(conn, a.env, "/app/tx", recipes.TransactionOptions{Form: form})
				a.is("mkdir", a.mkdir("/app"), nil)
				a.is("Begin", c.Begin(soon, []byte("what to do"), "a", "b"), context.Canceled)
			}, func(a actor) {
				if !vote {
					return
				}
				s, b := a.transaction(form, "a"), a.transaction(form, "b")
				_, err := s.Join(ctx)
				a.is("Join", err, nil)
				a.is("Vote", s.Vote(ctx, true), nil)
				voted = true
				a.decides(recipes.Aborted, s.Outcome)
				a.decides(recipes.Aborted, b.Outcome)
				a.is("Forget", errors.Join(s.Forget(ctx), b.Forget(ctx)), nil)
			})
			onlyApp(t, h)
		}
	})
}

// A site that waits before it has voted hears that there is nothing to wait for.
func TestASiteWaitsForNoTransactionThatWasWithdrawn(t *testing.T) {
	allForms(t, func(t *testing.T, form recipes.Form) {
		var begun bool
		h := play(t, func(*sim.World) { begun = false }, func(a actor) {
			soon, cancel := context.WithCancel(ctx)
			conn := &unlucky{Conn: a.Conn, meanwhile: func() {
				begun = true
				for range a.random.IntN(40) {
					a.env.Now()
				}
				cancel()
			}}
			c := recipes.NewTransaction(conn, a.env, "/app/tx", recipes.TransactionOptions{Form: form})
			a.is("mkdir", a.mkdir("/app"), nil)
			a.is("Begin", c.Begin(soon, nil, "a", "b"), context.Canceled)
		}, func(a actor) {
			a.until(func() bool { return begun })
			_, err := a.transaction(form, "a").Outcome(ctx)
			a.is("Outcome", err, zk.ErrNoNode)
		})
		onlyApp(t, h)
	})
}

func (a actor) mkdir(path string) error {
	_, err := a.Create(path, nil, 0, openACL)
	return err
}

// cancelledJoin begins a transaction of which the site is cancelled in its Join, while nobody knows what came of that.
func (a actor) cancelledJoin() (coordinator, site *recipes.Transaction) {
	c := a.transaction(recipes.EphemeralSites, "")
	a.is("Begin", c.Begin(ctx, nil, "a"), nil)
	soon, cancel := context.WithCancel(ctx)
	conn := &unlucky{Conn: a.Conn, meanwhile: cancel}
	s := recipes.NewTransaction(conn, a.env, "/app/tx",
		recipes.TransactionOptions{Form: recipes.EphemeralSites, Site: "a"})
	_, err := s.Join(soon)
	a.is("Join", err, context.Canceled)
	return c, s
}

// A Join that is cancelled while nobody knows what became of it leaves no sign of
// life, so the others do not wait for the site.
func TestAJoinThatIsCancelledIsUndone(t *testing.T) {
	h := play(t, nil, func(a actor) {
		c, _ := a.cancelledJoin()
		a.decides(recipes.Aborted, c.Outcome)
	})
	nothingLeft(t, h)
}

func TestASiteThatFailsAbortsUnlessItHasVoted(t *testing.T) {
	for _, fault := range []string{"crash c2", "learn-late c2"} {
		for _, vote := range []bool{false, true} {
			joined := false
			want := map[bool]recipes.Decision{false: recipes.Aborted, true: recipes.Committed}[vote]
			play(t, func(*sim.World) { joined = false }, func(a actor) {
				c, s := a.transaction(recipes.EphemeralSites, ""), a.transaction(recipes.EphemeralSites, "a")
				a.is("Begin", c.Begin(ctx, []byte("what to do"), "a", "b"), nil)
				a.until(func() bool { return joined })
				a.happen(fault)
				a.is("Vote", s.Vote(ctx, true), nil)
				a.decides(want, c.Outcome)
				a.decides(want, s.Outcome)
			}, func(a actor) {
				b := a.transaction(recipes.EphemeralSites, "b")
				_, err := b.Join(ctx)
				a.is("Join", err, nil)
				if !slices.Equal(b.Znodes(), []string{"/app/tx/live-b"}) {
					a.t.Errorf("knows of %v", b.Znodes())
				}
				if vote {
					a.is("Vote", b.Vote(ctx, true), nil)
				}
				id := a.SessionID()
				joined = true
				if fault != "crash c2" {
					a.until(func() bool { return a.SessionID() != id })
					a.decides(want, b.Outcome)
				}
			})
		}
	}
}

// mover is a connection that moves, once, between two reads of a count: the second
// is answered in a new session, by a server that lags.
type mover struct {
	recipes.Conn
	moved bool
}

func (m *mover) GetW(path string) ([]byte, *zk.Stat, <-chan zk.Event, error) {
	data, stat, event, err := m.Conn.GetW(path)
	if err == nil && strings.Contains(path, "/live-") && !m.moved {
		m.moved = true
		return nil, nil, nil, zk.ErrNoNode
	}
	return data, stat, event, err
}

func (m *mover) SessionID() int64 {
	if m.moved {
		return m.Conn.SessionID() + 1
	}
	return m.Conn.SessionID()
}

func TestASiteHasNotFailedBecauseAServerLags(t *testing.T) {
	play(t, nil, func(a actor) {
		a.is("Begin", a.transaction(recipes.EphemeralSites, "").Begin(ctx, nil, "a"), nil)
		s := a.transaction(recipes.EphemeralSites, "a")
		_, err := s.Join(ctx)
		a.is("Join", err, nil)
		conn := &mover{Conn: a.Conn}
		c := recipes.NewTransaction(conn, a.env, "/app/tx", recipes.TransactionOptions{Form: recipes.EphemeralSites})
		a.env.Go("site", func() {
			a.until(func() bool { return conn.moved })
			a.is("Vote", s.Vote(ctx, true), nil)
		})
		a.decides(recipes.Committed, c.Outcome)
	})
}

// The coordinator is not needed for an abort.
func TestANoIsADecision(t *testing.T) {
	allForms(t, func(t *testing.T, form recipes.Form) {
		play(t, nil, func(a actor) {
			a.is("Begin", a.transaction(form, "").Begin(ctx, nil, "a", "b"), nil)
			a.is("Vote", a.transaction(form, "a").Vote(ctx, false), nil)
			a.decides(recipes.Aborted, a.transaction(form, "b").Outcome)
			a.decides(recipes.Aborted, a.transaction(form, "a").Outcome)
		})
	})
}

func TestTheSitesEndWhatTheirCoordinatorHasBegun(t *testing.T) {
	begun := false
	h := play(t, func(*sim.World) { begun = false }, func(a actor) {
		a.is("Begin", a.transaction(recipes.ByCoordinator, "").Begin(ctx, []byte("what to do"), "a", "b"), nil)
		begun = true
	}, func(a actor) {
		a.until(func() bool { return begun })
		a.happen("crash c1")
		s := a.transaction(recipes.ByCoordinator, "a")
		a.is("Vote", s.Vote(ctx, true), nil)
		soon, end := a.env.WithTimeout(ctx, time.Minute)
		defer end()
		d, err := s.Outcome(soon)
		if err == context.DeadlineExceeded {
			d, err = s.Finish(ctx)
		}
		a.is("the outcome", err, nil)
		b := a.transaction(recipes.ByCoordinator, "b")
		a.is("a late vote", b.Vote(ctx, true), nil)
		a.decides(d, b.Outcome)
		c := a.transaction(recipes.ByCoordinator, "")
		a.decides(d, c.Outcome)
		a.is("Forget", s.Forget(ctx), nil)
		a.decides(d, a.transaction(recipes.ByCoordinator, "a").Outcome) // others still need it
		a.is("Forget", errors.Join(c.Forget(ctx), b.Forget(ctx)), nil)
		_, err = a.transaction(recipes.ByCoordinator, "a").Outcome(ctx)
		a.is("Outcome", err, zk.ErrNoNode)
	})
	onlyApp(t, h)
}

func TestATransactionNeedsPermission(t *testing.T) {
	h := play(t, create("/app", zk.WorldACL(zk.PermRead)), func(a actor) {
		a.is("Begin", a.transaction(recipes.AllSites, "").Begin(ctx, nil, "a"), zk.ErrNoAuth)
	})
	onlyApp(t, h)
	mine := zk.DigestACL(zk.PermAll, "me", "secret")
	begun := false
	play(t, func(*sim.World) { begun = false }, func(a actor) {
		a.is("AddAuth", a.AddAuth("digest", []byte("me:secret")), nil)
		opt := recipes.TransactionOptions{ACL: mine, Form: recipes.EphemeralSites}
		c := recipes.NewTransaction(a.Conn, a.env, "/app/tx", opt)
		a.is("Begin", c.Begin(ctx, nil, "a"), nil)
		opt.Site = "a"
		s := recipes.NewTransaction(a.Conn, a.env, "/app/tx", opt)
		_, err := s.Join(ctx)
		a.is("Join", err, nil)
		begun = true
		a.is("Vote", s.Vote(ctx, true), nil)
		a.decides(recipes.Committed, c.Outcome)
		for _, name := range []string{"", "/coordinator", "/site-a", "/live-a", "/decision"} {
			if acl, _, err := a.GetACL("/app/tx" + name); err != nil || !slices.Equal(acl, mine) {
				a.t.Errorf("%s: %v, %v", name, acl, err)
			}
		}
	}, func(a actor) {
		a.until(func() bool { return begun })
		s := a.transaction(recipes.EphemeralSites, "a")
		_, err := s.Join(ctx)
		a.is("Join by a stranger", err, zk.ErrNoAuth)
		a.is("Vote by a stranger", s.Vote(ctx, false), zk.ErrNoAuth)
		_, err = s.Finish(ctx)
		a.is("Finish by a stranger", err, zk.ErrNoAuth)
	})
}

func TestCloseEndsATransaction(t *testing.T) {
	allForms(t, func(t *testing.T, form recipes.Form) {
		for _, role := range []string{"", "a"} {
			h := play(t, nil, func(a actor) {
				a.is("Begin", a.transaction(form, "").Begin(ctx, nil, "a", "b"), nil)
				s := a.transaction(form, "a")
				_, err := s.Join(ctx)
				a.is("Join", err, nil)
				a.is("Vote", s.Vote(ctx, true), nil)
				a.env.Go("closer", func() {
					a.until(func() bool { return a.random.IntN(40) == 0 })
					a.Close()
				})
				x := a.transaction(form, role)
				if _, err := x.Outcome(ctx); err != zk.ErrClosing && err != zk.ErrConnectionClosed {
					a.t.Errorf("Outcome: %v", err)
				}
				_, err = x.Finish(ctx)
				a.is("Finish", err, zk.ErrClosing)
			})
			nothingLeft(t, h)
		}
	})
}

// The sites vote one after the other, each when all before it are waiting: the
// most notifications that there can be. The coordinator is a client of its own.
func TestTheNumberOfNotifications(t *testing.T) {
	for _, x := range []struct {
		form recipes.Form
		want map[int]int // by number of sites
	}{
		{recipes.AllSites, map[int]int{3: 6, 5: 15, 8: 36}},        // n(n-1)/2 + n
		{recipes.ByCoordinator, map[int]int{3: 7, 5: 11, 8: 17}},   // 2n + 1
		{recipes.EphemeralSites, map[int]int{3: 12, 5: 35, 8: 92}}, // 3n(n-1)/2 + n
	} {
		for n, want := range x.want {
			if got := notifications(t, x.form, n); got != want {
				t.Errorf("form %d, %d sites: %d notifications, want %d", x.form, n, got, want)
			}
		}
	}
}

func notifications(t *testing.T, form recipes.Form, n int) (count int) {
	w := sim.NewWorld()
	defer w.Close()
	check := func(d recipes.Decision, err error) {
		if d != recipes.Committed || err != nil {
			t.Errorf("%v, %v", d, err)
		}
	}
	program := func(conn recipes.Conn, env recipes.Env, id int) {
		minutes := func(m int) { env.Sleep(ctx, time.Duration(m)*time.Minute) }
		if id > n {
			c := recipes.NewTransaction(conn, env, "/tx", recipes.TransactionOptions{Form: form})
			var sites []string
			for i := range n {
				sites = append(sites, fmt.Sprint(i+1))
			}
			if err := c.Begin(ctx, nil, sites...); err != nil {
				t.Error(err)
			}
			if form != recipes.ByCoordinator {
				minutes(3 * n) // until the decision is made
			}
			check(c.Outcome(ctx))
			if err := c.Forget(ctx); err != nil {
				t.Error(err)
			}
			return
		}
		s := recipes.NewTransaction(conn, env, "/tx", recipes.TransactionOptions{Site: fmt.Sprint(id), Form: form})
		minutes(2 * id)
		_, err := s.Join(ctx)
		minutes(1)
		if err := errors.Join(err, s.Vote(ctx, true)); err != nil {
			t.Error(err)
		}
		check(s.Outcome(ctx))
		minutes(5 * n)
		if err := s.Forget(ctx); err != nil {
			t.Error(err)
		}
	}
	w.Reset(sim.Config{Clients: n + 1, SafetySteps: 1e6, MaxSteps: 1e6}, nil,
		func(c *sim.Client) { program(c.Conn(), c.Env(), c.ID()) })
	if err := w.Run(&sim.Replay{}); err != nil {
		t.Fatal(err)
	}
	for _, e := range w.History.Events {
		if e.Kind == history.Notify {
			count++
		}
	}
	return count
}

func TestARealTransaction(t *testing.T) {
	addrs := zkservertest.ForTest(t, 1).Addrs()
	sites := []string{"a", "b", "c", "d"}
	allForms(t, func(t *testing.T, form recipes.Form) {
		for round, want := range []recipes.Decision{recipes.Committed, recipes.Aborted} {
			ctx := bounded(t)
			dir := fmt.Sprintf("/%s/%d", t.Name(), round)
			var all sync.WaitGroup
			take := func(name string) {
				conn := dial(t, addrs)
				all.Go(func() {
					x := recipes.NewTransaction(conn, conn.Env(), dir, recipes.TransactionOptions{Site: name, Form: form})
					var err error
					if name == "" {
						err = x.Begin(ctx, []byte("data"), sites...)
					} else if _, err = x.Join(ctx); err == nil {
						err = x.Vote(ctx, name != "b" || want == recipes.Committed)
					}
					d, problem := x.Outcome(ctx)
					if err = errors.Join(err, problem, x.Forget(ctx)); d != want || err != nil {
						t.Errorf("%q: %v, %v; want %v", name, d, err, want)
					}
				})
			}
			take("")
			for _, name := range sites {
				take(name)
			}
			all.Wait()
			if exists, _, err := dial(t, addrs).Exists(dir); exists || err != nil {
				t.Errorf("left behind: %t, %v", exists, err)
			}
		}
	})
}

// ExampleTransaction has two sites commit. With a real ensemble conn and env come
// from live.Dial, and nothing else changes.
func ExampleTransaction() {
	ctx := context.Background()
	program := func(conn recipes.Conn, env recipes.Env, name string) {
		if name == "c1" { // the coordinator
			begin := recipes.NewTransaction(conn, env, "/transfers/17", recipes.TransactionOptions{})
			if err := begin.Begin(ctx, []byte("5 from c1 to c2"), "c1", "c2"); err != nil {
				fmt.Println(err)
			}
			defer func() {
				begin.Finish(ctx) // it is decided by now
				begin.Forget(ctx)
			}()
		}
		site := recipes.NewTransaction(conn, env, "/transfers/17", recipes.TransactionOptions{Site: name})
		if _, err := site.Join(ctx); err != nil {
			fmt.Println(err)
			return
		}
		// Here the site makes sure that it can do its part, and still undo it.
		if err := site.Vote(ctx, true); err != nil {
			fmt.Println(err)
			return
		}
		patience, cancel := env.WithTimeout(ctx, time.Minute)
		defer cancel()
		decision, err := site.Outcome(patience)
		if errors.Is(err, context.DeadlineExceeded) {
			decision, err = site.Finish(ctx)
		}
		fmt.Println(name, decision, err)
		// Here it does its part, or undoes it, in a way that lasts.
		if err := site.Forget(ctx); err != nil {
			fmt.Println(err)
		}
	}
	world := sim.NewWorld()
	defer world.Close()
	world.Reset(sim.Config{Clients: 2}, nil, func(c *sim.Client) { program(c.Conn(), c.Env(), c.Name()) })
	if err := world.Run(&sim.Replay{}); err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// c1 committed <nil>
	// c2 committed <nil>
}
