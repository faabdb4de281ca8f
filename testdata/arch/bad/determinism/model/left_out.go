//go:build ignore

package model
