package model

import "context"

var _ = context.WithDeadlineCause
