package model

import "time"

const timeout = 10 * time.Second

func at(ms int64) time.Time { return time.UnixMilli(ms).Add(timeout).UTC() }
