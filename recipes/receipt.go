package recipes

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
)

// ErrUnknownOutcome says that a write was perhaps executed and perhaps not, and
// that nobody can tell any more: its answer was lost, and then the session ended,
// the context was done or the connection was closed.
var ErrUnknownOutcome = errors.New("recipes: it is unknown whether the write was executed")

// receiptPrefix begins the names of receipts.
const receiptPrefix = "_r_"

func isReceipt(name string) bool { return strings.HasPrefix(name, receiptPrefix) }

// receipted executes ops in one multi exactly once. Its error is that of the
// multi, and then nothing was executed; or wraps ErrUnknownOutcome; or is ctx's
// or zk.ErrClosing, before anything was sent.
//
// A later state of the znodes written cannot show whether the multi was
// executed, because others may have written them since. So the multi leaves a
// receipt as well, an ephemeral znode in dir with a name of its own, which is
// looked for when the answer is lost. Without it the multi was not executed, as
// long as the session that the receipt would belong to is alive. The receipt is
// ephemeral, so that a client that crashes does not leave it forever, and is deleted as soon
// as it has served: this costs a second write, which nobody waits for but the
// client.
func (s session) receipted(ctx context.Context, dir string, acl []zk.ACL, ops ...interface{}) (err error) {
	path := dir + "/" + receiptPrefix + s.env.UUID()
	ops = append(ops, &zk.CreateRequest{Path: path, Acl: acl, Flags: zk.FlagEphemeral})
	defer Forget(s.env)(&path, &err)
	var issued int64 // session in which the multi was issued; it may run in a later one
	err = s.create(ctx, creation{what: "receipt", kept: []any{&issued},
		do: func() error {
			issued = s.conn.SessionID()
			_, err := s.on(ctx).Multi(ops...)
			return err
		},
		done: func(ctx context.Context) (executed bool, err error) {
			err = s.fresh(ctx, func() (err error) {
				executed, _, err = s.on(ctx).Exists(path)
				return err
			}, &executed)
			if err != nil {
				return false, fmt.Errorf("%w: %w", ErrUnknownOutcome, err)
			}
			if !executed && !s.continues(issued) {
				return false, ErrUnknownOutcome
			}
			return executed, nil
		},
		undo: func(ctx context.Context) { s.remove(ctx, path) },
	})
	if err == nil {
		s.abandon(ctx, "receipt", path)
	}
	return err
}
