// Package faults has its comment in a test only.
package faults
