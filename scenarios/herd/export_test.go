package herd

// Series is series, for tests from outside.
var Series = series
