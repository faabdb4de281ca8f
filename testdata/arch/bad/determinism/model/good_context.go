package model

import "context"

func cancellable(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}
