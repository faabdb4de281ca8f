// Run prints what the sample does without a mutant, and with each of so many.
package main

import (
	"fmt"
	"os"
	"strconv"

	"zksim/internal/mutate/active"
	"zksim/internal/mutate/testdata/sample"
)

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	for i := range n + 1 {
		reached := make([]bool, n+1)
		active.Begin(reached)
		active.Select(i)
		fmt.Println(sample.Shown())
	}
}
