package faults

var _ = missing
