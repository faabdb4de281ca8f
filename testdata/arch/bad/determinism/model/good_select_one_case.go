package model

func poll(ch chan int) int {
	select {
	case x := <-ch:
		return x
	default:
		return 0
	}
}
