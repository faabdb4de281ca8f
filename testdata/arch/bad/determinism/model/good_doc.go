package model

// Table is a map that other packages range over.
type Table map[string]int
