package sim

import (
	"reflect"
	"unsafe"
)

// queue is the beginning of a channel in the memory of Go's runtime: hchan in its file chan.go. There is no other way
// to see what is in a channel and leave it there, since what is taken from a closed channel cannot be put back.
type queue struct {
	count, room  uint
	buffer       unsafe.Pointer
	size         uint16
	closed       uint32
	_, _         unsafe.Pointer
	sends, takes uint // where in the buffer the next one is put, and taken from
}

// queueKnown says that channels look like this in the Go version that built this program.
var queueKnown = likeQueue()

// likeQueue reports whether a channel with known content looks like a queue.
func likeQueue() bool {
	ch := make(chan int32, 3)
	for i := range int32(3) {
		ch <- i
	}
	<-ch
	<-ch
	ch <- 3
	q := (*queue)(reflect.ValueOf(ch).UnsafePointer())
	if q.count != 2 || q.room != 3 || q.size != 4 || q.closed != 0 || q.sends != 1 || q.takes != 2 {
		return false
	}
	close(ch)
	int32s := reflect.TypeFor[int32]()
	return q.closed == 1 && q.item(0, int32s).Int() == 2 && q.item(1, int32s).Int() == 3
}

// queueOf returns the queue of a channel that is not nil and that nobody uses meanwhile; nil if the layout of channels
// is not known.
func queueOf(v reflect.Value) *queue {
	if !queueKnown {
		return nil
	}
	return (*queue)(v.UnsafePointer())
}

// item returns the i-th item in the queue, which has type t; 0 is the one that would be taken next.
func (q *queue) item(i int, t reflect.Type) reflect.Value {
	at := (q.takes + uint(i)) % q.room
	return reflect.NewAt(t, unsafe.Add(q.buffer, uintptr(at)*t.Size())).Elem()
}
