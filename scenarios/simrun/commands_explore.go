package simrun

// exploreCommands are those that look at a run from other sides.
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
				"failure on a real ensemble: the same operations, answers and watch events, in the same order at each " +
				"client. Names that are drawn, zxids and sessions may differ.",
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
