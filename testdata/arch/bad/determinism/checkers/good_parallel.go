package checkers

import "time"

func start(f func()) time.Time {
	go f()
	return time.Now()
}
