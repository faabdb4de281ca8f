package election

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"zksim/recipes"
)

// Candidacy is the common interface of [Election] and [Mended].
type Candidacy interface {
	Run()
	Status() *recipes.Mailbox[Status]
	Resign()
	End()
}

// Candidate uses an election as its documentation demands: it waits for its status, and resigns after an error.
// [zksim/scenarios.Election] takes a Candidate.
type Candidate struct {
	env    recipes.Env
	begin  func() (Candidacy, error)
	now    Candidacy
	ended  chan zk.Event // closed when the candidacy has ended
	znodes []string
}

// NewCandidate returns a candidate that calls begin for each new candidacy.
func NewCandidate(env recipes.Env, begin func() (Candidacy, error)) *Candidate {
	return &Candidate{env: env, begin: begin}
}

// Campaign waits until the candidate leads. After ErrDeleted and ErrLost it begins a new candidacy.
func (c *Candidate) Campaign(ctx context.Context) error {
	for {
		err := c.campaign(ctx)
		if !errors.Is(err, ErrDeleted) && !errors.Is(err, ErrLost) {
			return err
		}
	}
}

// campaign is Campaign with a single candidacy.
func (c *Candidate) campaign(ctx context.Context) error {
	now, err := c.begin()
	if err != nil {
		return err
	}
	ended := make(chan zk.Event)
	c.now, c.ended = now, ended
	c.env.Go("elect", func() {
		now.Run()
		close(ended)
	})
	for {
		status, err := now.Status().Get(ctx)
		for err == nil && len(now.Status().Ready()) > 0 { // a later status may say that it no longer leads
			status, err = now.Status().Get(ctx)
		}
		if err = errors.Join(err, status.Err); err != nil {
			return errors.Join(err, c.Resign(context.Background()))
		}
		c.znodes = []string{status.Candidate}
		if status.Leads {
			return nil
		}
	}
}

// Resign ends the candidacy, if there is one.
func (c *Candidate) Resign(ctx context.Context) error {
	if c.now == nil {
		return nil
	}
	c.now.Resign()
	_, _, err := c.env.Await(ctx, c.ended)
	c.now, c.znodes = nil, nil
	return err
}

// Lost returns a channel that is ready when the leader has a new status: it may no longer lead then.
func (c *Candidate) Lost() <-chan zk.Event { return c.now.Status().Ready() }

// Znodes returns the znode of the candidacy, once a status has named it.
func (c *Candidate) Znodes() []string { return c.znodes }
