package model

import "context"

var _ = context.AfterFunc
