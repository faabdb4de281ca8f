package model

import "context"

var _ = context.WithTimeout
