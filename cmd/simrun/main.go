// Simrun runs coordination recipes for ZooKeeper through simulated and real
// ensembles and judges what they do.
//
// Usage:
//
//	simrun list [NAMES]        what there is to run
//	simrun check [NAMES]       run scenarios over many seeds
//	simrun prove [NAMES]       explore all schedules of a bounded scenario
//	simrun replay FILE         run one schedule again
//	simrun shrink FILE         print a minimal schedule that fails in the same way
//	simrun why FILE            find the step of a failing schedule that decides it
//	simrun diff A B            find where two schedules, or two histories, part
//	simrun conform             compare the simulator with recordings or with real servers
//	simrun museum              print the page of the mutants, and what catches them
//	simrun strategies [NAMES]  measure what it takes each strategy to catch the mutants
//	simrun herd                measure and draw how many clients recipes wake
//	simrun vet [PACKAGES]      find what simulated code must not have
//	simrun completion SHELL    print what completes commands in bash or zsh
//	simrun version             print the version
//	simrun help [COMMAND]      print this, or what a command does
//
// "simrun COMMAND -h" shows the flags, examples and exit statuses of a command. The exit status is 0 when everything
// held (and every mutant was caught), 1 for a violation, 2 for wrong usage, code that leaves the simulator, internal
// errors and files that cannot be written (verdicts are printed before), 3 when a run was inconclusive or was
// interrupted before it had found a violation, and 4 when one seed gave two different runs.
package main

import (
	"zksim/scenarios/catalog"
	"zksim/scenarios/catalog/variants"
	"zksim/scenarios/simrun"
)

func main() { simrun.Tool{Scenarios: catalog.All, Variants: variants.All}.Main() }
