package engine

import "testing"

// Under go test -fuzz, the shapes of states count as code that has run.
func TestEachShapeHasCodeOfItsOwn(t *testing.T) {
	var n novelty
	for i, f := range places {
		f(&n)
		if n.reached[i] != 1 {
			t.Fatalf("place %d counts for another", i)
		}
	}
}
