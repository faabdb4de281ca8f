// Worker tries mutants of package recipes for the command mutation, which builds it with all of them and runs it.
package main

import (
	"fmt"
	"os"

	"zksim/internal/mutate/trial"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "worker: run go run ./internal/mutate/mutation, which runs this")
		os.Exit(2)
	}
	if err := trial.Work(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(2)
	}
}
