package recipes_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
	"zksim/recipes"
)

// closedMeanwhile is a connection that somebody closes while a multi is under way, which the server executes.
type closedMeanwhile struct{ recipes.Conn }

func (c closedMeanwhile) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if len(ops) > 0 {
		if _, err := c.Conn.Multi(ops...); err != nil {
			return nil, err
		}
	}
	c.Conn.Close()
	return nil, zk.ErrClosing
}

// The library ends a request that was under way when the connection was closed with zk.ErrClosing, which says nothing
// about its outcome.
func TestWhatWasUnderWayAtTheEndMayHaveBeenExecuted(t *testing.T) {
	h := play(t, create("/counter", openACL), func(a actor) {
		c := recipes.NewCounter(closedMeanwhile{a.Conn}, a.env, "/counter", recipes.CounterOptions{})
		if _, err := c.Add(ctx, 1); !errors.Is(err, recipes.ErrUnknownOutcome) {
			a.t.Errorf("Add: %v, though it was executed", err)
		}
	})
	if len(h.Tree) == 0 {
		t.Error("nothing was made")
	}
}

// closedWhenAcked is a connection that somebody closes while an acknowledgement is under way, which the server
// executes.
type closedWhenAcked struct{ recipes.Conn }

func (c closedWhenAcked) Multi(ops ...any) ([]zk.MultiResponse, error) {
	if len(ops) == 3 {
		if _, ack := ops[2].(*zk.DeleteRequest); ack {
			return closedMeanwhile{c.Conn}.Multi(ops...)
		}
	}
	return c.Conn.Multi(ops...)
}

func TestAnItemMayBeGoneWhoseConsumerWasClosedMeanwhile(t *testing.T) {
	play(t, nil, func(a actor) {
		q := recipes.NewQueue(closedWhenAcked{a.Conn}, a.env, "/q", recipes.QueueOptions{})
		a.puts(q, "a")
		if _, err := q.Take(ctx); !errors.Is(err, recipes.ErrUnknownOutcome) {
			a.t.Errorf("Take: %v, though the item was removed", err)
		}
	})
	play(t, nil, func(a actor) {
		q := recipes.NewQueue(closedWhenAcked{a.Conn}, a.env, "/q", recipes.QueueOptions{})
		a.puts(q, "a")
		if err := a.claim(q, "a").Ack(ctx); !errors.Is(err, recipes.ErrUnknownOutcome) {
			a.t.Errorf("Ack: %v, though the item was removed", err)
		}
	})
}

// Nobody can undo what was under way when the connection was closed, and only its ephemeral znodes end with the
// session.
func TestWhatLastsMayStayWhenTheConnectionIsClosed(t *testing.T) {
	h := play(t, nil, func(a actor) {
		n := recipes.NewNames(closedMeanwhile{a.Conn}, a.env, "/names", recipes.NamesOptions{})
		a.is("Register", n.Register(ctx, "x", nil), zk.ErrClosing)
	}, func(a actor) {
		c := recipes.NewTaskClient(closedMeanwhile{a.Conn}, a.env, "/pool", recipes.PoolOptions{})
		a.is("makeFolders", a.submit(a.client(), "done").Forget(ctx), nil)
		_, err := c.Submit(ctx, nil)
		a.is("Submit", err, zk.ErrClosing)
	}, func(a actor) {
		tx := recipes.NewTransaction(closedMeanwhile{a.Conn}, a.env, "/tx", recipes.TransactionOptions{})
		a.is("Begin", tx.Begin(ctx, nil, "a"), zk.ErrClosing)
	})
	for _, want := range []string{"/names/x", "/pool/tasks/task-", "/tx"} {
		if !slices.ContainsFunc(h.Tree, func(n history.Node) bool { return strings.HasPrefix(n.Path, want) }) {
			t.Errorf("%s is not there", want)
		}
	}
}
