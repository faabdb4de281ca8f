package history

import "fmt"

// Counted formats a number of things, given the word for one of them: "1 run", "2 runs".
func Counted[N int | int64 | uint64](n N, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
