// Package nothing has no code.
package nothing
