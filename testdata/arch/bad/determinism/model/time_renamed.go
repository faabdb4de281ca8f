package model

import clock "time"

func today() clock.Time { return clock.Now() }
