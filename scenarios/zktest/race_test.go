//go:build race

package zktest_test

// raced says that the scheduler draws turns by itself, as it does under the race detector.
const raced = true
