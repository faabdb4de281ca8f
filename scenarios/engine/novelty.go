package engine

// novelty shows Go's fuzzer which states a run has reached. The fuzzer knows only which code has run how often. So each
// shape of a state, see [zksim/sim.World.Shape], has some code of its own, shared with few others. Under go test -fuzz
// that code has counters: bytes that lead to another kind of state are kept and mutated.
//
// The code is one of the 1024 leaves of a tree of generic functions. The compiler makes an instance of each function
// for every size of array in its type argument, so the four branches of the last function are 4^5 pieces of code.
type novelty struct{ leaves uint32 }

// branch1 notes the shape of a state.
func branch1(n *novelty, shape uint64) {
	switch shape % 4 {
	case 0:
		branch2[[1]byte](n, shape/4)
	case 1:
		branch2[[2]byte](n, shape/4)
	case 2:
		branch2[[3]byte](n, shape/4)
	case 3:
		branch2[[4]byte](n, shape/4)
	}
}

func branch2[T any](n *novelty, shape uint64) {
	switch shape % 4 {
	case 0:
		branch3[[1]T](n, shape/4)
	case 1:
		branch3[[2]T](n, shape/4)
	case 2:
		branch3[[3]T](n, shape/4)
	case 3:
		branch3[[4]T](n, shape/4)
	}
}

func branch3[T any](n *novelty, shape uint64) {
	switch shape % 4 {
	case 0:
		branch4[[1]T](n, shape/4)
	case 1:
		branch4[[2]T](n, shape/4)
	case 2:
		branch4[[3]T](n, shape/4)
	case 3:
		branch4[[4]T](n, shape/4)
	}
}

func branch4[T any](n *novelty, shape uint64) {
	switch shape % 4 {
	case 0:
		branch5[[1]T](n, shape/4)
	case 1:
		branch5[[2]T](n, shape/4)
	case 2:
		branch5[[3]T](n, shape/4)
	case 3:
		branch5[[4]T](n, shape/4)
	}
}

// branch5 counts its runs, so that the compiler cannot remove its branches.
func branch5[T any](n *novelty, shape uint64) {
	switch shape % 4 {
	case 0:
		n.leaves++
	case 1:
		n.leaves++
	case 2:
		n.leaves++
	case 3:
		n.leaves++
	}
}
