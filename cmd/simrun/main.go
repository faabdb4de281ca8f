// Simrun runs ZooKeeper recipes on simulated and real ensembles and judges what they do.
//
// Usage:
//
//	simrun COMMAND [flags] [arguments]
//
// "simrun help" lists the commands, and "simrun COMMAND -h" shows the flags, examples and exit statuses of a command.
// The exit status is 0 when everything held (and every mutant was caught), 1 for a violation, 2 for wrong usage, code
// that leaves the simulator, internal errors and files that cannot be read or written (verdicts are printed first), 3
// when a run was inconclusive or was interrupted before it had found a violation, and 4 when one seed gave two
// different runs.
package main

import (
	"zksim/scenarios/catalog"
	"zksim/scenarios/catalog/variants"
	"zksim/scenarios/simrun"
)

func main() { simrun.Tool{Scenarios: catalog.All, Variants: variants.All}.Main() }
