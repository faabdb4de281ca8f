package recipes

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
)

// ErrUnknownOutcome says that a write may or may not have been executed and that nobody can tell any more: its answer
// was lost, and then the session ended, the context was done or the connection was closed.
var ErrUnknownOutcome = errors.New("recipes: it is unknown whether the write was executed")

// receiptPrefix begins the names of receipts.
const receiptPrefix = "_r_"

func isReceipt(name string) bool { return strings.HasPrefix(name, receiptPrefix) }

// receipted executes ops in one multi exactly once. It returns the multi's error, and then nothing was executed; or
// an error that wraps ErrUnknownOutcome; or ctx's error or zk.ErrClosing, if nothing was sent.
//
// The znodes that the multi writes cannot show later whether it was executed, because others may have written them
// since. So the multi also creates a receipt, an ephemeral znode in dir with a unique name, which is looked for when
// the answer is lost. If it is missing while the session that would own it is alive, the multi was not executed. The
// receipt is ephemeral, so that a client that crashes does not leave it forever, and is deleted once it has served.
// This costs a second write, for which only the client waits.
func (s session) receipted(ctx context.Context, dir string, acl []zk.ACL, ops ...interface{}) (err error) {
	path := dir + "/" + receiptPrefix + s.env.UUID()
	ops = append(ops, &zk.CreateRequest{Path: path, Acl: acl, Flags: zk.FlagEphemeral})
	defer Forget(s.env)(&path, &err)
	var issued int64 // the session in which the multi was issued; it may run in a later one
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
