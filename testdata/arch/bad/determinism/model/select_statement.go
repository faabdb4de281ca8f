package model

func wait(a, b chan int) {
	select {
	case <-a:
	case <-b:
	}
}
