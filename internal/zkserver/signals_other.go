//go:build !unix

package zkserver

import "os"

// Where processes cannot be stopped, sending these signals fails.
var stopSignal, goSignal os.Signal = os.Interrupt, os.Interrupt
