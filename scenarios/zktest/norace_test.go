//go:build !race

package zktest_test

const raced = false
