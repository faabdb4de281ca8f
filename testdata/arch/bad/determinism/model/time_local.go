package model

import "time"

var _ = time.Local
