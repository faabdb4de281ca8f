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

// The kinds of operands: scenarios, words of the command's own, or others, such as files, which the shell completes.
const (
	_ operands = iota
	scenarioOperands
	shellOperands
	commandOperands
)

const selectionText = "NAMES are scenarios, folders of scenarios such as lock, patterns such as 'lock/*', or " +
	"recorded:FILE, a file that serve -record wrote. The default is all scenarios."

const scheduleText = "FILE is a schedule, the folder of a failure, or a recording of serve; - is standard input, " +
	"which cannot be a recording."

var (
	judged = []exit{
		{exitHeld, "everything held, and every mutant was caught"},
		{exitViolation, "a violation, or a mutant that was not caught"},
		{exitInconclusive, "inconclusive, or interrupted before a violation was found"},
		{exitNondeterministic, "one seed, or one schedule, gave two different runs"},
	}
	statusDone  = exit{exitHeld, "done"}
	statusCut   = exit{exitInconclusive, "interrupted"}
	statusUsage = exit{exitUsage, "wrong usage, an internal error, or a file that cannot be read or written; " +
		"verdicts are printed first"}
	nothingElse = []exit{statusDone}
)

// commands returns all commands, in the order of the usage.
func commands() []command {
	return slices.Concat(runCommands(), scheduleCommands(), exploreCommands(), measureCommands(), toolCommands())
}

// runCommands are the commands that run scenarios.
func runCommands() []command {
	return []command{
		{name: "list", args: "[NAMES]", doc: "list scenarios", run: list, operands: scenarioOperands,
			codes: nothingElse,
			more:  "Prints scenarios and what each consists of. " + selectionText,
			examples: []example{
				{"{it} list -short", "one line per scenario", exitHeld},
				{"{it} list {sound}", "its clients, faults, checkers and goals", exitHeld},
			}},
		{name: "check", args: "[NAMES]", doc: "run scenarios with many seeds", run: check, listens: true,
			operands: scenarioOperands, codes: judged,
			more: "Runs each scenario in the simulator with a thousand seeds, a mutant until it is caught, and " +
				"judges every run. A failure is shrunk, explained, written to a folder below out, and replayed from " +
				"there. " + selectionText,
			examples: []example{
				{"{it} check {sound} -seeds 1-2000", "two thousand seeds of one scenario", exitHeld},
				{"{it} check {mutant} -v", "how a mutant is caught; its page is below out", exitHeld},
				{"{it} check {sound} {mutant} -o out -junit junit.xml", "out/index.html covers the whole run", exitHeld},
				{"{it} check {sound} -seeds 1-1000 -shard 1/2 -o parts/1", "half of the seeds, for merge", exitHeld},
				{"{it} check {sound} -seeds 1-1000 -shard 2/2 -o parts/2", "the other half, on another machine", exitHeld},
			}},
		{name: "prove", args: "[NAMES]", doc: "explore all schedules of a bounded scenario", run: proveCommand,
			listens:  true,
			operands: scenarioOperands, codes: judged,
			more: "Explores every schedule of a small scope, with every placement of its faults, and prints a " +
				"certificate. If the only flags are -run, -for, -mem, -p, -shard, -o, -json and -junit, the scope of a mutant " +
				"grows until it is refuted, and a recipe that is not refuted is searched in other scopes, too. " +
				selectionText,
			examples: []example{
				{"{it} prove {sound} -most 0", "every schedule of two clients, without faults", exitHeld},
				{"{it} prove {sound} -most 0 -cert cert.json", "writes a certificate", exitHeld},
				{"{it} prove -verify cert.json", "derives it again", exitHeld},
				{"{it} prove {mutant} -json", "growing scopes until the mutant is refuted, as JSON", exitHeld},
			}},
		{name: "merge", args: "DIR...", doc: "combine the parts of a check or of proofs", run: mergeCommand,
			listens: true,
			codes: []exit{judged[0], judged[1], {exitInconclusive, "inconclusive, or a part is missing or was interrupted"},
				judged[3]},
			more: "Combines the folders that check wrote with -shard and -o, or prove with -split or -obligations as well, " +
				"and judges the whole. Each DIR is the folder of a part, or contains folders of parts. Findings are compared " +
				"with those of the last merge.",
			examples: []example{
				{"{it} merge parts -o merged", "merged/index.html covers all parts", exitHeld},
				{"{it} merge parts/1", "inconclusive, because a part is missing", exitInconclusive},
			}},
		{name: "serve", doc: "serve ZooKeeper's protocol to clients in any language", run: serveCommand, listens: true,
			codes: []exit{{exitHeld, "no violation"}, {exitViolation, "a violation"},
				{exitInconclusive, "a rule never struck, nothing could be judged, or too much happened to judge or record"}},
			more: "Serves the simulated ensemble on real sockets, and strikes the requests of its clients with the faults " +
				"of a plan. When ready, it prints its connect string. A signal ends it; then it prints which faults struck, " +
				"and judges what passed over the wire.",
			examples: []example{
				{"{it} serve -listen 127.0.0.1:0 -nodes 3 -for 1s", "three servers, for a second", exitInconclusive},
				{"{it} serve -listen 127.0.0.1:0 -faults lose-reply=1@client=c2,op=create -control 127.0.0.1:0 -for 1s",
					"loses the reply to the first create of the second client", exitInconclusive},
			}},
	}
}

// scheduleCommands are the commands that run schedules.
func scheduleCommands() []command {
	one := []exit{{exitHeld, "everything held"}, {exitViolation, "a violation"}, {exitInconclusive, "inconclusive"},
		{exitNondeterministic, "the schedule gave two different runs"}}
	return []command{
		{name: "replay", args: "FILE", doc: "run a schedule again", run: replay, codes: one,
			more: "Runs a schedule twice, compares the runs, and judges them. " + scheduleText + " A history cannot be " +
				"run; -v, -columns, -perfetto and -shiviz show it.",
			examples: []example{
				{"{it} replay -v schedule.txt", "what happens at each step", exitViolation},
				{"{it} replay -o page - < schedule.txt", "writes the page of the violation", exitViolation},
				{"{it} replay -columns schedule.txt", "a table with a column per server and client", exitViolation},
			}},
		{name: "shrink", args: "FILE", doc: "print a minimal schedule that fails in the same way", run: shrink,
			codes: []exit{statusDone, {exitInconclusive, "the schedule may not be minimal: interrupted, or " +
				"-attempts was too low"}},
			more: "Removes clients, rounds, faults and steps while the schedule still violates the same checker. " +
				scheduleText,
			examples: []example{
				{"{it} shrink -o small.txt schedule.full.txt", "", exitHeld},
				{"{it} shrink schedule.full.txt | {it} replay -", "", exitViolation},
			}},
		{name: "why", args: "FILE", doc: "find the step that decides a failing schedule", run: why,
			codes: []exit{statusDone, statusCut, {exitNondeterministic, "the schedule gave two different runs"}},
			more: "Runs random futures from each step of a schedule, and names the step at which their chance of " +
				"failure rises most. " + scheduleText,
			examples: []example{{"{it} why schedule.txt", "", exitHeld}}},
		{name: "diff", args: "A B", doc: "find where two schedules or histories diverge", run: diff,
			codes: []exit{{exitHeld, "they are the same"}, {exitViolation, "they differ"}},
			more: "Compares two schedules of one scenario step by step, or two histories line by line. One of " +
				"them may be -, standard input.",
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
				"prints the differences.",
			examples: []example{
				{"{it} conform -ops 200", "starts a server and compares", exitHeld},
				{"{it} conform -ops 200 -report differences.md", "the same, and writes a page", exitHeld},
				{"{it} conform -replay recordings", "compares with recorded answers of a server", exitHeld},
			}},
		{name: "museum", doc: "print a page of the mutants and what catches them", run: museum, listens: true,
			codes: []exit{statusDone, statusCut},
			more: "Hunts every mutant many times, with uniform choices and with priorities, and prints a " +
				"Markdown page.",
			examples: []example{{"{it} museum -reps 1 > museum.md", "", exitHeld}}},
		{name: "strategies", args: "[NAMES]", doc: "measure what each strategy needs to catch mutants",
			run:     strategies,
			listens: true, operands: scenarioOperands, codes: []exit{statusDone, statusCut},
			more: "Measures how many schedules and how much CPU time each strategy needs to catch mutants, and " +
				"prints a Markdown page. Other scenarios are skipped. " + selectionText,
			examples: []example{{"{it} strategies -reps 3 {mutant}", "", exitHeld}}},
		{name: "herd", doc: "measure and plot how many clients recipes wake", run: herdEffect, listens: true,
			codes: []exit{statusDone, {exitViolation, "a count differs from that of the real ensemble where " +
				"it must not"}, statusCut},
			more: "Measures how many clients a change wakes, and how many in vain, and writes plots, numbers " +
				"and a page to out/herd.",
			examples: []example{
				{"{it} herd -variants '^{variant}$' -clients 1,10,100", "one variant, with three numbers of clients", exitHeld}}},
	}
}

// toolCommands are the commands about code and about the program itself.
func toolCommands() []command {
	return []command{
		{name: "vet", args: "[PACKAGES]", doc: "find code that the simulator cannot control", run: vetCommand, listens: true,
			codes: []exit{{exitHeld, "nothing was found"}, {exitViolation, "something was found"}, statusCut},
			more: "Finds waits, goroutines, clocks and random numbers that do not come from a recipe's Env. PACKAGES are " +
				"those of go vet; the default is ./...",
			examples: []example{{"{it} vet ./...", "", exitHeld}}},
		{name: "overlay", doc: "write an overlay of Go's runtime, for repeatable tests", run: overlayCommand,
			codes: nothingElse,
			more: "Writes changed files of your Go's runtime for \"go test -overlay\", and prints the flags to use. With " +
				"these, tests with zktest.Run repeat exactly: the seed of a run decides goroutine turns, select, map order " +
				"and random numbers. One of the flags is -tags; build tags of your own go into GOFLAGS, because a second -tags " +
				"would replace it.",
			examples: []example{
				{"{it} overlay -o flags", "prints -overlay=flags/...", exitHeld},
				{"go test $({it} overlay) ./...", "what \"{it} test ./...\" does", exitHeld},
			}},
		{name: "test", args: "[ARGUMENTS]", doc: "run go test with that overlay", run: testCommand, listens: true,
			codes: []exit{{exitHeld, "the tests pass"}, {exitViolation, "a test fails, or does not compile"},
				statusCut},
			more:     "Writes the overlay, and runs \"go test\" with its flags and ARGUMENTS.",
			examples: []example{{"{it} test ./...", "", exitHeld}}},
		{name: "completion", args: "SHELL", doc: "print a completion script for bash or zsh", run: completion,
			operands: shellOperands, codes: nothingElse,
			more: "Prints a script that completes commands, flags and names in bash or zsh. The script asks the program: " +
				"\"completion words WORD...\" prints the completions of the last word.",
			examples: []example{
				{"{it} completion bash > completion.bash", "to be sourced in ~/.bashrc", exitHeld},
				{"{it} completion zsh > _completion", "to be put into a folder of fpath", exitHeld},
				{"{it} completion words check -fai", "prints -failfast", exitHeld},
			}},
		{name: "version", doc: "print the version", run: version, codes: nothingElse,
			more:     "Prints the versions of the program and of Go.",
			examples: []example{{"{it} version", "", exitHeld}}},
		{name: "help", args: "[COMMAND]", doc: "print this, or the help of a command", run: help,
			operands: commandOperands,
			codes:    nothingElse,
			more: "Lists the commands, or, like -h, prints what a command does, its flags, examples and exit " +
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
			codes: nothingElse,
			more: "Shows the state of a run and the transitions that are possible. Keys take a transition, go back and " +
				"forward, run to the end, and write the schedule; h lists them. Where there is no terminal, it reads lines " +
				"from standard input instead. FILE is a schedule, and it starts after the last step; with -run it starts " +
				"before the first step of a seed's run.",
			examples: []example{
				{"{it} explore schedule.txt < /dev/null", "the state at the end of the schedule", exitHeld},
				{"printf 'r 7\\nw walked.txt\\n' | {it} explore -run {sound} -seed 1", "another seed runs it to the end",
					exitHeld},
			}},
		{name: "grep", args: "PATTERN [NAMES]", doc: "count the runs that match a pattern",
			run: grepRuns, listens: true, operands: scenarioOperands,
			codes: []exit{{exitHeld, "found"}, {exitViolation, "not found"}, statusCut},
			more: "Counts the failing and the passing runs of scenarios that match a pattern, and shows the first match. " +
				"It searches histories if NAMES are files that end in .jsonl, or - for standard input. A pattern is clauses " +
				"separated by commas. Each says what happens and, optionally, to which client or server, by which operation and " +
				"at which path. " + selectionText,
			examples: []example{
				{"{it} grep 'lose-reply of c1, later c2 acquired, before expiry of c1' {sound}", "", exitHeld},
				{"{it} grep 'cA acquired, later cB acquired, before released of cA' {sound}",
					"two holders at once; cA and cB are any two clients", exitHeld},
				{"{it} grep -words", "prints the words of patterns", exitHeld},
			}},
		{name: "explain", args: "FILE", doc: "find a simulated run that matches a recorded one", run: explainHistory,
			listens: true,
			codes: []exit{{exitHeld, "there is such a schedule"},
				{exitViolation, "there is none with these servers and one order of listings"},
				{exitInconclusive, "none was found, but not all runs were tried"}},
			more: "Looks for a schedule in which clients do and see the same as in a history, such as history.jsonl of a " +
				"failure on a real ensemble: the same operations, errors, created paths and watch events, in the same " +
				"order for each client. Random names, zxids, sessions and what was read may differ, and so may numbers " +
				"that recipes take and return, such as items and tokens.",
			examples: []example{
				{"{it} explain -o explained.txt run/history.jsonl", "", exitHeld},
			}},
		{name: "judge", args: "[FILE]", doc: "judge the traffic of clients in any language", run: judgeTraffic,
			listens: true,
			codes: []exit{{exitHeld, "no violation"}, {exitViolation, "a violation"},
				{exitInconclusive, "no client asked for anything, or some of it cannot be judged"}},
			more: "Runs a proxy that passes all bytes between clients and a server unchanged. A signal ends it; then it " +
				"judges what passed over the wire: whether znodes are linearizable in zxid order, whether locks with the " +
				"names of Curator, Kazoo or go-zookeeper keep their order and fence, which ephemerals are left over, and how " +
				"many clients a change wakes. FILE is a history that -record wrote, to be judged instead.",
			examples: []example{
				{"{it} judge -listen 127.0.0.1:0 -forward 127.0.0.1:2181 -for 1s", "a proxy, for a second",
					exitInconclusive},
				{"{it} judge -guard /config=/locks/config history.jsonl", "the lock must protect /config", exitInconclusive},
			}},
	}
}
