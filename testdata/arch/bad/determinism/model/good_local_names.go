package model

type watch struct{}

func (watch) Now() int       { return 0 }
func (watch) IntN(n int) int { return n }

func locals(time watch) int {
	var rand watch
	context := struct{ WithTimeout func() }{}
	_ = context.WithTimeout
	return time.Now() + rand.IntN(6)
}
