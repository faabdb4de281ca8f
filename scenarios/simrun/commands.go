package simrun

import (
	"context"
	"slices"
)

// Exit statuses.
const (
	exitHeld             = 0
	exitViolation        = 1
	exitUsage            = 2
	exitInconclusive     = 3
	exitNondeterministic = 4
)

// command is a subcommand. The usage, the help, the completion and the tests read the same table.
type command struct {
	name, args, doc string
	more            string // what it does, in sentences
	examples        []example
	codes           []exit // besides those of all commands
	operands        operands
	run             func(ctx context.Context, a *app, args []string) (int, error)
	listens         bool // ends by itself when ctx is done; others listen once they have read their files, or never
}

// example is a command line, in shell syntax. Words in braces stand for what the program has: {it} for itself, {sound}
// for a scenario that must hold, {mutant} and {variant}. An example is not shown if one of its words stands for
// nothing.
type example struct {
	line, doc string
	code      int // what it ends with
}

// exit is an exit status and what it means.
type exit struct {
	code int
	doc  string
}

// operands says what the arguments of a command are.
type operands uint8

// The kinds of operands: none, scenarios, files, or words of the command's own.
const (
	noOperands operands = iota
	scenarioOperands
	fileOperands
	shellOperands
	commandOperands
)

const selectionText = "NAMES are those of scenarios, folders of scenarios, as lock, or patterns, as 'lock/*'; " +
	"recorded:FILE is what serve -record has written; none stand for all."

const scheduleText = "FILE is a schedule, the folder of a failure, which has one, or a recording of serve; - is the " +
	"standard input."

var (
	judged = []exit{
		{exitHeld, "everything held, and every mutant was caught"},
		{exitViolation, "a violation, or a mutant that was not caught"},
		{exitInconclusive, "inconclusive, or interrupted before a violation was found"},
		{exitNondeterministic, "one seed, or one schedule, gave two different runs"},
	}
	statusDone  = exit{exitHeld, "done"}
	statusCut   = exit{exitInconclusive, "interrupted"}
	statusUsage = exit{exitUsage, "wrong usage, an internal error, or a file that cannot be written; verdicts " +
		"are printed before"}
	nothingElse = []exit{statusDone}
)

// commands returns all commands, in the order of the usage.
func commands() []command {
	return slices.Concat(runCommands(), scheduleCommands(), exploreCommands(), measureCommands(), toolCommands())
}

// runCommands are the commands that run scenarios.
func runCommands() []command {
	return []command{
		{name: "list", args: "[NAMES]", doc: "what there is to run", run: list, operands: scenarioOperands,
			codes: nothingElse,
			more:  "Prints the scenarios, and what each consists of. " + selectionText,
			examples: []example{
				{"{it} list -short", "a line for each scenario", exitHeld},
				{"{it} list {sound}", "its clients, faults, checkers and goals", exitHeld},
			}},
		{name: "check", args: "[NAMES]", doc: "run scenarios over many seeds", run: check, listens: true,
			operands: scenarioOperands, codes: judged,
			more: "Runs scenarios in the simulator, each with a thousand seeds or until a mutant is caught, and " +
				"judges every run. " +
				"A failure is shrunk, explained, written to a folder below out, and replayed from there. " +
				selectionText,
			examples: []example{
				{"{it} check {sound} -seeds 1-2000", "two thousand seeds of one scenario", exitHeld},
				{"{it} check {mutant} -v", "how a mutant is caught, and its page below out", exitHeld},
				{"{it} check {sound} {mutant} -o out -junit junit.xml", "out/index.html tells of all that was run",
					exitHeld},
				{"{it} check {sound} -seeds 1-1000 -shard 1/2 -o parts/1", "half of the seeds, for merge", exitHeld},
				{"{it} check {sound} -seeds 1-1000 -shard 2/2 -o parts/2", "the others, on another machine", exitHeld},
			}},
		{name: "prove", args: "[NAMES]", doc: "explore all schedules of a bounded scenario", run: proveCommand,
			listens:  true,
			operands: scenarioOperands, codes: judged,
			more: "Explores every schedule of a small scope, every placement of its faults included, and prints " +
				"a certificate. " +
				selectionText,
			examples: []example{
				{"{it} prove {sound} -most 0", "every schedule of two clients without faults", exitHeld},
				{"{it} prove {sound} -most 0 -cert cert.json", "a certificate", exitHeld},
				{"{it} prove -verify cert.json", "derives it again", exitHeld},
				{"{it} prove {mutant} -json", "a scope that grows until the mutant is refuted, for machines", exitHeld},
			}},
		{name: "merge", args: "DIR...", doc: "put the parts of a check, or of proofs, together", run: mergeCommand,
			listens: true, operands: fileOperands,
			codes: []exit{judged[0], judged[1], {exitInconclusive, "inconclusive, or a part is missing or was interrupted"},
				judged[3]},
			more: "Adds up what check, or prove, has left with -shard and -o in folders, and judges the whole. A DIR is " +
				"the folder of a part, or one with folders of parts. Findings are compared with those of the merge before.",
			examples: []example{
				{"{it} merge parts -o merged", "merged/index.html tells of both", exitHeld},
				{"{it} merge parts/1", "is inconclusive: a part is not there", exitInconclusive},
			}},
		{name: "serve", doc: "serve ZooKeeper's protocol, for clients of any language", run: serveCommand, listens: true,
			codes: []exit{{exitHeld, "nothing was violated"}, {exitViolation, "a violation"},
				{exitInconclusive, "a rule has never struck, nothing was done that can be judged, or too much happened to be " +
					"judged"}},
			more: "Serves the simulated ensemble on real sockets, with faults that strike the requests of a plan. Prints " +
				"its connect string when it is ready, and at the end, on a signal, what has struck and what the judges say " +
				"that need only the wire.",
			examples: []example{
				{"{it} serve -listen 127.0.0.1:0 -nodes 3 -for 1s", "for a second, in which nobody comes", exitInconclusive},
				{"{it} serve -listen 127.0.0.1:0 -faults lose-reply=1@client=c2,op=create -control 127.0.0.1:0 -for 1s", "",
					exitInconclusive},
			}},
	}
}

// scheduleCommands are the commands that run schedules.
func scheduleCommands() []command {
	one := []exit{{exitHeld, "everything held"}, {exitViolation, "a violation"}, {exitInconclusive, "inconclusive"},
		{exitNondeterministic, "the schedule gave two different runs"}}
	return []command{
		{name: "replay", args: "FILE", doc: "run one schedule again", run: replay, operands: fileOperands, codes: one,
			more: "Runs a schedule twice, compares the runs, and judges them. " + scheduleText,
			examples: []example{
				{"{it} replay -v schedule.txt", "what happens at each step", exitViolation},
				{"{it} replay -o page - < schedule.txt", "writes the page of the violation", exitViolation},
				{"{it} replay -columns schedule.txt", "a table with a column for each server and client", exitViolation},
			}},
		{name: "shrink", args: "FILE", doc: "print a minimal schedule that fails in the same way", run: shrink,
			operands: fileOperands,
			codes: []exit{statusDone, {exitInconclusive, "the schedule may not be minimal: interrupted, or " +
				"-attempts were not enough"}},
			more: "Leaves out clients, rounds, faults and steps as long as the schedule violates the same checker. " +
				scheduleText,
			examples: []example{
				{"{it} shrink -o small.txt schedule.full.txt", "", exitHeld},
				{"{it} shrink schedule.full.txt | {it} replay -", "", exitViolation},
			}},
		{name: "why", args: "FILE", doc: "find the step of a failing schedule that decides it", run: why,
			operands: fileOperands,
			codes:    []exit{statusDone, statusCut, {exitNondeterministic, "the schedule gave two different runs"}},
			more: "Lets random futures follow after each step of a schedule, and names the step after which they " +
				"fail. " +
				scheduleText,
			examples: []example{{"{it} why schedule.txt", "", exitHeld}}},
		{name: "diff", args: "A B", doc: "find where two schedules, or two histories, part", run: diff,
			operands: fileOperands,
			codes:    []exit{{exitHeld, "both are the same"}, {exitViolation, "they differ"}},
			more: "Compares two schedules of one scenario step by step, or two histories line by line. One of " +
				"them may be -, the standard input.",
			examples: []example{
				{"{it} diff schedule.txt schedule.full.txt", "", exitViolation},
				{"{it} diff schedule.txt - < schedule.txt", "", exitHeld},
			}},
	}
}

// measureCommands are the commands that measure and compare.
func measureCommands() []command {
	compared := []exit{{exitHeld, "no difference"}, {exitViolation, "a difference"},
		{exitInconclusive, "a difference that did not happen again, or interrupted"}}
	return []command{
		{name: "conform", doc: "compare the simulator with recordings or real servers", run: conformance,
			listens: true,
			codes:   compared,
			more: "Runs random operations of several sessions on a real ensemble and in the simulator, and " +
				"prints what differs.",
			examples: []example{
				{"{it} conform -ops 200", "starts a server", exitHeld},
				{"{it} conform -ops 200 -report differences.md", "the same, with a page", exitHeld},
				{"{it} conform -replay recordings", "compares with what a server has answered before", exitHeld},
			}},
		{name: "museum", doc: "print the page of the mutants, and what catches them", run: museum, listens: true,
			codes: []exit{statusDone, statusCut},
			more: "Hunts every mutant many times, by uniform choices and by priorities, and prints a page in " +
				"Markdown.",
			examples: []example{{"{it} museum -reps 1 > museum.md", "", exitHeld}}},
		{name: "strategies", args: "[NAMES]", doc: "measure what it takes each strategy to catch mutants",
			run:     strategies,
			listens: true, operands: scenarioOperands, codes: []exit{statusDone, statusCut},
			more: "Compares the strategies on mutants, in schedules and CPU time, and prints a page in " +
				"Markdown. " + selectionText,
			examples: []example{{"{it} strategies -reps 3 {mutant}", "", exitHeld}}},
		{name: "herd", doc: "measure and draw how many clients recipes wake", run: herdEffect, listens: true,
			codes: []exit{statusDone, {exitViolation, "a count differs from that of the real ensemble, although " +
				"it must not"}, statusCut},
			more: "Measures how many clients a change wakes, and in vain, and writes figures, numbers and a " +
				"page to out/herd.",
			examples: []example{
				{"{it} herd -variants '^{variant}$' -clients 1,10,100", "one way to wait", exitHeld}}},
	}
}

// toolCommands are the commands about code and about the program itself.
func toolCommands() []command {
	return []command{
		{name: "vet", args: "[PACKAGES]", doc: "find what simulated code must not have", run: vetCommand, listens: true,
			codes:    []exit{{exitHeld, "nothing was found"}, {exitViolation, "something was found"}, statusCut},
			more:     "Finds waits, goroutines, clocks and random numbers that do not come from a recipe's Env.",
			examples: []example{{"{it} vet ./...", "", exitHeld}}},
		{name: "overlay", doc: "write an overlay of Go's runtime, for exact tests", run: overlayCommand,
			codes: nothingElse,
			more: "Writes changed files of the runtime of your Go, for \"go test -overlay\", and prints the flags. With them " +
				"tests of zktest.Run repeat exactly: turns of goroutines, select, the order of maps and random numbers come " +
				"from the seed of a run.",
			examples: []example{
				{"{it} overlay -o flags", "prints -overlay=flags/...", exitHeld},
				{"go test $({it} overlay) ./...", "what \"{it} test ./...\" does", exitHeld},
			}},
		{name: "test", args: "[ARGUMENTS]", doc: "run go test with that overlay", run: testCommand, listens: true,
			codes: []exit{{exitHeld, "the tests pass"}, {exitViolation, "a test fails, or does not compile"},
				statusCut},
			more:     "Writes the overlay, and runs \"go test\" with its flags and these arguments.",
			examples: []example{{"{it} test ./...", "", exitHeld}}},
		{name: "completion", args: "SHELL", doc: "print what completes commands in bash or zsh", run: completion,
			operands: shellOperands, codes: nothingElse,
			more: "Prints a script for a shell, bash or zsh, that completes commands, flags and names. " +
				"The script asks the program: completion words ... prints what the last of these words may become.",
			examples: []example{
				{"{it} completion bash > completion.bash", "source that file in ~/.bashrc", exitHeld},
				{"{it} completion zsh > _completion", "in a folder of fpath", exitHeld},
				{"{it} completion words check -fai", "prints -failfast", exitHeld},
			}},
		{name: "version", doc: "print the version", run: version, codes: nothingElse,
			more:     "Prints the version of the program and that of Go.",
			examples: []example{{"{it} version", "", exitHeld}}},
		{name: "help", args: "[COMMAND]", doc: "print this, or what a command does", run: help,
			operands: commandOperands,
			codes:    nothingElse,
			more: "Prints what there is, or, as -h does, what a command does, its flags, examples and exit " +
				"statuses.",
			examples: []example{{"{it} help check", "", exitHeld}}},
	}
}

// commandNamed returns the command of that name, nil if there is none.
func commandNamed(name string) *command {
	all := commands()
	if i := slices.IndexFunc(all, func(c command) bool { return c.name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

func commandNames() (names []string) {
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

// exploreCommands are the commands that look at a run in other ways.
func exploreCommands() []command {
	return []command{
		{name: "explore", args: "FILE", doc: "walk through a run, transition by transition", run: exploreRun,
			operands: fileOperands, codes: nothingElse,
			more: "Shows how everything stands and which transitions are possible, takes the one whose key is pressed, " +
				"goes back and forward, runs on, and writes the schedule. On a terminal it obeys single keys, and else " +
				"the lines of the standard input; h shows what there is. " +
				"FILE is a schedule, of which all is taken at first; with -run it is the run of a seed, of which nothing is.",
			examples: []example{
				{"{it} explore schedule.txt < /dev/null", "how the run ends", exitHeld},
				{"printf 'r 7\\nw walked.txt\\n' | {it} explore -run {sound} -seed 1", "a run that another seed ends",
					exitHeld},
			}},
		{name: "grep", args: "PATTERN [NAMES]", doc: "count the runs in which a pattern is found",
			run: grepRuns, listens: true, operands: scenarioOperands,
			codes: []exit{{exitHeld, "it was found"}, {exitViolation, "it was not found"}, statusCut},
			more: "Says in how many runs of the seeds of scenarios, failing and passing, a pattern is found, and where " +
				"first; or in which histories: files whose names end in .jsonl, or - for the standard input. A pattern is " +
				"clauses with commas between, each with what happens and, if it matters, to which client, by which " +
				"operation, at which path. " + selectionText,
			examples: []example{
				{"{it} grep 'lose-reply of c1, later c2 acquired, before expiry of c1' {sound}", "", exitHeld},
				{"{it} grep 'cA acquired, later cB acquired, before released of cA' {sound}",
					"two clients at once: cA and cB stand for any two", exitHeld},
				{"{it} grep -words", "the words of patterns", exitHeld},
			}},
		{name: "explain", args: "FILE", doc: "find a simulated run with a recorded history", run: explainHistory,
			listens: true, operands: fileOperands,
			codes: []exit{{exitHeld, "there is one"}, {exitViolation, "there is none"},
				{exitInconclusive, "none was found before -runs were tried, or interrupted"}},
			more: "Looks for a schedule in which clients do and see what they have in a history, as history.jsonl of a " +
				"failure on a real ensemble: the same operations, errors, created paths and watch events, in the same " +
				"order at each client. Names that are drawn, zxids and sessions may differ, and so may the numbers that " +
				"recipes get and answer, as items and tokens, and what was read.",
			examples: []example{
				{"{it} explain -o explained.txt run/history.jsonl", "", exitHeld},
			}},
		{name: "judge", args: "[FILE]", doc: "judge the traffic of clients in any language", run: judgeTraffic,
			listens: true, operands: fileOperands,
			codes: []exit{{exitHeld, "nothing was violated"}, {exitViolation, "a violation"},
				{exitInconclusive, "nobody has asked for anything, or some of it cannot be judged"}},
			more: "Stands between clients and a server, passes all bytes on as they are, and says at the end, on a signal, " +
				"what can be said from the wire: whether znodes are linearizable in the order of their zxids, whether locks " +
				"with the names of Curator, Kazoo or go-zookeeper keep their order and fence, which ephemerals are left over, " +
				"how many clients a change wakes. FILE is a history that -record has written.",
			examples: []example{
				{"{it} judge -listen 127.0.0.1:0 -forward 127.0.0.1:2181 -for 1s", "for a second, in which nobody comes",
					exitInconclusive},
				{"{it} judge -guard /config=/locks/config history.jsonl", "the lock must protect that znode", exitInconclusive},
			}},
	}
}
