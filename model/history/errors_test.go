package history

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/internal/hash"
)

type coded struct {
	code int
	note map[string][]any
}

func (coded) Error() string { return "coded" }

type other struct{ error }

// TestErrorsAreToldApart has errors that say the same and are not.
func TestErrorsAreToldApart(t *testing.T) {
	circle := &other{}
	circle.error = coded{9, map[string][]any{"a": {circle}}}
	text := zk.ErrNoNode.Error()
	alike := [][]error{
		{zk.ErrNoNode, errors.New(text), fmt.Errorf("%w", zk.ErrNoNode), fmt.Errorf("%w", errors.New(text)),
			errors.Join(zk.ErrNoNode), errors.Join(errors.New(text)), other{zk.ErrNoNode}, other{errors.New(text)}},
		{coded{}, coded{code: 1}, &coded{}, other{coded{}}, coded{note: map[string][]any{"a": {1}}},
			coded{note: map[string][]any{"a": {int8(1)}}}, circle},
		{context.Canceled, errors.New(context.Canceled.Error())},
		{context.DeadlineExceeded, errors.New(context.DeadlineExceeded.Error())},
	}
	for _, list := range alike {
		for i, a := range list {
			for _, b := range list[i+1:] {
				if a.Error() == b.Error() && HashError(0, a) == HashError(0, b) {
					t.Errorf("%T and %T are one: %v", a, b, a)
				}
			}
			if HashError(0, a) != HashError(0, a) {
				t.Errorf("%T is another one when it is asked again", a)
			}
		}
	}
	if HashError(0, errors.New("a")) != HashError(0, errors.New("a")) {
		t.Error("errors are told apart by where they are")
	}
	mine, same := errors.New("mine"), errors.New("mine")
	Distinguish(mine)
	if HashError(0, mine) == HashError(0, same) || HashError(hash.Hash(1), mine) == HashError(0, mine) {
		t.Error("an error that is to be told apart is not")
	}
}

func TestAnErrorThatIsNamedTwiceDoesNotTakeTheNumberOfTheNext(t *testing.T) {
	twice, next := errors.New("alike"), errors.New("alike")
	Distinguish(twice)
	before := HashError(0, twice)
	Distinguish(twice, next)
	if HashError(0, twice) == HashError(0, next) {
		t.Error("two errors have one number")
	}
	if HashError(0, twice) != before {
		t.Error("an error that is named again has another number")
	}
}
