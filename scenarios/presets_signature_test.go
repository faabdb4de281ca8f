package scenarios_test

import (
	"context"
	"slices"
	"testing"

	"zksim/checkers"
	"zksim/recipes"
	"zksim/scenarios"
)

// otherwise is a lock whose other methods have parameters and results of its own.
type otherwise struct{ lock *recipes.Lock }

func (b otherwise) Lock(ctx context.Context) error            { return b.lock.Lock(ctx) }
func (b otherwise) Unlock(ctx context.Context) error          { return b.lock.Unlock(ctx) }
func (b otherwise) TryLock(ctx context.Context) (bool, error) { panic("called") }
func (b otherwise) Lost() bool                                { panic("called") }
func (b otherwise) Token() string                             { panic("called") }
func (b otherwise) Znodes() string                            { panic("called") }

// TestAMethodWithAnotherSignatureDoesNotCount expects what docs/adopt.md says of it: it is not called, and what it
// would have told is not judged.
func TestAMethodWithAnotherSignatureDoesNotCount(t *testing.T) {
	lock := func(p *scenarios.Process) *recipes.Lock {
		return recipes.NewLock(p.Conn, p.Env, p.Path("/lock"), recipes.LockOptions{})
	}
	s := scenarios.Lock("mine/otherwise", func(p *scenarios.Process) otherwise { return otherwise{lock(p)} })
	scenarios.Check(t, s)
	for _, x := range scenarios.Lock("mine/whole", lock).Checkers {
		named := slices.ContainsFunc(s.Checkers, func(c checkers.Checker) bool { return c.Name() == x.Name() })
		if counts := x.Name() != "ownership" && x.Name() != "fenced"; counts != named {
			t.Errorf("%s: among the checkers is %t", x.Name(), named)
		}
	}
}
