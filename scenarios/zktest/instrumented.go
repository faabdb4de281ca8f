//go:build race || msan || asan

package zktest

// instrumented says that each byte of memory has others beside it, so that memory which nobody touches costs some, too.
const instrumented = true
