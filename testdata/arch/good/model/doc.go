// Package model is a package that no rule minds.
package model

// Names are in the order they were added in.
type Names []string
