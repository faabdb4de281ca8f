package recipes_test

import (
	"context"
	"slices"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
	"zksim/sim"
)

// swallowsMulti is a connection that loses the first multi of two operations before it is sent.
type swallowsMulti struct {
	recipes.Conn
	giveUp func()
}

func (c *swallowsMulti) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if len(ops) == 2 && c.giveUp != nil {
		f := c.giveUp
		c.giveUp = nil
		f()
		return nil, zk.ErrConnectionClosed
	}
	return c.Conn.Multi(ops...)
}

// What a Join that was given up has not made is not taken from another object that has joined for the site meanwhile.
func TestAJoinThatWasGivenUpTakesNoOthersSignOfLife(t *testing.T) {
	play(t, nil, func(a actor) {
		c := a.transaction(recipes.EphemeralSites, "")
		a.is("Begin", c.Begin(ctx, nil, "a"), nil)
		soon, cancel := context.WithCancel(ctx)
		env := &lateUndo{Env: a.env, a: a}
		opt := recipes.TransactionOptions{Form: recipes.EphemeralSites, Site: "a"}
		_, err := recipes.NewTransaction(&swallowsMulti{a.Conn, cancel}, env, "/app/tx", opt).Join(soon)
		a.is("Join", err, context.Canceled)
		s := a.transaction(recipes.EphemeralSites, "a")
		_, err = s.Join(ctx)
		a.is("Join of another object", err, nil)
		env.release = true
		for range 100 {
			a.env.Now()
		}
		if d, err := a.patiently(c.Outcome); err == nil {
			a.t.Errorf("%v, though the site lives and has not voted", d)
		}
		a.is("Vote", s.Vote(ctx, true), nil)
		a.decides(recipes.Committed, c.Outcome)
	})
}

// A Join after one that was given up makes a sign of life, also where its session shows the site as it was before.
func TestAJoinAfterOneThatWasGivenUpIsNotMisledByThePast(t *testing.T) {
	var o olderSession
	begun, joined := false, false
	playOn(t, 3, func(name string) bool { return o.avoid(name) }, func(*sim.World) {
		o, begun, joined = olderSession{client: "c1"}, false, false
	}, func(a actor) {
		a.until(func() bool { return begun })
		o.lag(a)
		soon, cancel := context.WithCancel(ctx)
		s := recipes.NewTransaction(&unlucky{Conn: a.Conn, meanwhile: cancel}, a.env, "/app/tx",
			recipes.TransactionOptions{Form: recipes.EphemeralSites, Site: "a"})
		_, err := s.Join(soon)
		a.is("Join", err, context.Canceled)
		for range 300 {
			a.env.Now()
		}
		o.begin(a)
		a.env.Go("catch up", func() {
			for range 100 {
				a.env.Now()
			}
			o.lagging = false
		})
		_, err = s.Join(ctx)
		a.is("Join again", err, nil)
		if exists, _, err := a.Exists("/app/tx/live-a"); !exists {
			a.t.Errorf("no sign of life: %v", err)
		}
		o.finished, joined = true, true
	}, func(a actor) {
		a.is("Begin", a.transaction(recipes.EphemeralSites, "").Begin(ctx, nil, "a"), nil)
		begun = true
		a.until(func() bool { return joined })
	})
}

// A second Join that is given up does not make the object forget the sign of life of the first.
func TestAnObjectThatHasJoinedKnowsOfItsSignOfLife(t *testing.T) {
	h := play(t, nil, func(a actor) {
		c := a.transaction(recipes.EphemeralSites, "")
		a.is("Begin", c.Begin(ctx, nil, "a"), nil)
		conn := &swallowsMulti{Conn: a.Conn}
		s := recipes.NewTransaction(conn, a.env, "/app/tx",
			recipes.TransactionOptions{Form: recipes.EphemeralSites, Site: "a"})
		_, err := s.Join(ctx)
		a.is("Join", err, nil)
		soon, cancel := context.WithCancel(ctx)
		conn.giveUp = cancel
		s.Join(soon)
		cancel()
		if want := []string{"/app/tx/live-a"}; !slices.Equal(s.Znodes(), want) {
			a.t.Errorf("knows of %q, want %q", s.Znodes(), want)
		}
		conn.giveUp = nil
		a.is("Vote", s.Vote(ctx, true), nil)
		a.decides(recipes.Committed, s.Outcome)
		a.is("Forget", s.Forget(ctx), nil)
	})
	nothingLeft(t, h)
}
