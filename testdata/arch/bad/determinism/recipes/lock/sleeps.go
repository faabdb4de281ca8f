package lock

import "time"

func wait() { time.Sleep(time.Second) }
