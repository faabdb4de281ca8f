//go:build race || msan || asan

package zktest

// instrumented says that each byte of memory has shadow bytes, so that even untouched memory costs some.
const instrumented = true
