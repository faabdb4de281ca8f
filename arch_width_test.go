package zksim_test

import (
	"fmt"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// widthProblems measures the lines of Go files and documents. A tab is one character. What was recorded, and what
// cannot be broken, may be longer.
func widthProblems(t *tree) (problems []string) {
	kinds := map[string]func(*file) map[int]bool{".go": rawLines, ".md": quotedLines}
	for _, f := range t.files {
		free := kinds[path.Ext(f.path)]
		if free == nil {
			continue
		}
		exempt := free(f)
		for i, line := range strings.Split(f.body, "\n") {
			if width := utf8.RuneCountInString(line); width > 120 && !exempt[i+1] {
				problems = append(problems, fmt.Sprintf("%s:%d: line of %d characters, expected at most 120", f.path, i+1, width))
			}
		}
	}
	return problems
}

// rawLines are the lines of string literals of several lines, and what tests of analyzers expect beside the code.
func rawLines(f *file) map[int]bool {
	free := map[int]bool{}
	fset := token.NewFileSet()
	var s scanner.Scanner
	s.Init(fset.AddFile(f.path, -1, len(f.body)), []byte(f.body), nil, scanner.ScanComments)
	for pos, tok, text := s.Scan(); tok != token.EOF; pos, tok, text = s.Scan() {
		line, more := fset.PositionFor(pos, false).Line, strings.Count(text, "\n")
		want := strings.HasPrefix(text, "// want ") && strings.Contains("/"+f.path, "/testdata/")
		if tok == token.STRING && more > 0 || want {
			for i := range more + 1 {
				free[line+i] = true
			}
		}
	}
	return free
}

// quotedLines are the rows of tables and, as output is quoted, the blocks without a language.
func quotedLines(f *file) map[int]bool {
	free := map[int]bool{}
	fence := "" // with its language
	for i, line := range strings.Split(f.body, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			fence = map[bool]string{true: line}[fence == ""]
		}
		free[i+1] = fence == "```" || fence == "" && strings.HasPrefix(line, "|")
	}
	return free
}

// A file with longer lines is in a list with their number, and the list must be right.
func TestLinesAreNoLongerThan120Characters(t *testing.T) {
	const name, mark = "arch_width_test.go", "\nconst wide = `"
	byFile, list := map[string][]string{}, "\n"
	for _, problem := range widthProblems(loadTree(t, ".")) {
		name, _, _ := strings.Cut(problem, ":")
		byFile[name] = append(byFile[name], problem)
	}
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		entry := fmt.Sprintf("%s: %d\n", name, len(byFile[name]))
		if list += entry; !strings.Contains(wide, "\n"+entry) && !*rewrite {
			t.Errorf("%s\nthe list has another number for this file", strings.Join(byFile[name], "\n"))
		}
	}
	for entry := range strings.Lines(strings.TrimPrefix(wide, "\n")) {
		if !strings.Contains(list, "\n"+entry) && !*rewrite {
			t.Errorf("the list has %q; break new lines, then run go test . -run 120 -rewrite", entry)
		}
	}
	if code, err := os.ReadFile(name); *rewrite && err == nil {
		before, _, _ := strings.Cut(string(code), mark)
		if err := os.WriteFile(name, []byte(before+mark+list+"`\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// wide is the files with longer lines, and how many. The numbers may only shrink.
const wide = `
ARCHITECTURE.md: 14
README.md: 40
arch_determinism_test.go: 1
arch_test.go: 1
checkers/acknowledged.go: 1
checkers/atomicity.go: 1
checkers/barrier.go: 2
checkers/barrier_past_test.go: 1
checkers/barrier_test.go: 1
checkers/belief.go: 1
checkers/commit_past_test.go: 5
checkers/config_monitor_test.go: 2
checkers/convergence.go: 2
checkers/counter.go: 1
checkers/counter_monitor.go: 1
checkers/counter_monitor_test.go: 1
checkers/counter_test.go: 5
checkers/double_barrier_past_test.go: 6
checkers/double_barrier_test.go: 1
checkers/draw_test.go: 2
checkers/entry.go: 1
checkers/fenced.go: 6
checkers/forgetting_test.go: 2
checkers/gather.go: 1
checkers/linearizability_test.go: 1
checkers/lost_item.go: 3
checkers/monitor_test.go: 1
checkers/monotone.go: 3
checkers/naive_test.go: 5
checkers/names.go: 1
checkers/names_monitor_test.go: 1
checkers/owners.go: 1
checkers/ownership.go: 1
checkers/plays_test.go: 4
checkers/porcupine.go: 3
checkers/progress.go: 1
checkers/queue_monitor_test.go: 6
checkers/queue_order.go: 2
checkers/recency.go: 1
checkers/rest_test.go: 4
checkers/rounds.go: 1
checkers/scene_test.go: 4
checkers/script_test.go: 1
checkers/tasks.go: 2
checkers/tasks_monitor_test.go: 3
checkers/tree.go: 1
checkers/validity.go: 2
checkers/watch_monitor_test.go: 1
checkers/watch_test.go: 10
checkers/words_test.go: 2
checkers/workload_test.go: 3
checkers/znodes.go: 1
checkers/znodes_test.go: 4
docs/adopt.md: 4
docs/checkers.md: 10
docs/faults.md: 15
docs/files.md: 14
docs/herd-real.md: 2
docs/herd.md: 38
docs/museum.md: 4
docs/promela/README.md: 18
docs/prove.md: 58
docs/recipes.md: 5
docs/speed.md: 5
docs/strategies.md: 9
docs/why.md: 9
examples/zklock/mended.go: 1
faults/faults.go: 1
faults/faults_test.go: 26
faults/injector.go: 1
faults/plan_test.go: 1
internal/conform/compare_test.go: 2
internal/conform/conform_test.go: 3
internal/conform/coverage.go: 1
internal/conform/coverage_test.go: 1
internal/conform/generate.go: 2
internal/conform/generate_create.go: 1
internal/conform/op.go: 1
internal/conform/outcome.go: 1
internal/conform/reachable.go: 9
internal/conform/real_test.go: 1
internal/conform/replay.go: 1
internal/conform/run.go: 1
internal/conform/sequence.go: 1
internal/edit/edit_test.go: 1
internal/perturb/perturb_test.go: 1
internal/plots/plots_test.go: 3
internal/transcript/mutation_test.go: 1
internal/transcript/parse_test.go: 20
internal/transcript/testdata/golden/README.md: 10
internal/vet/holder.go: 1
internal/wire/tap.go: 1
internal/wire/wire_test.go: 5
internal/zkserver/config_test.go: 4
internal/zkserver/ensemble_test.go: 1
internal/zkserver/figures_test.go: 1
internal/zkserver/find.go: 2
internal/zkserver/find_test.go: 4
model/history/futures_test.go: 1
model/history/history.go: 1
model/message.go: 7
model/path_test.go: 1
model/random_test.go: 8
model/sequence_test.go: 1
model/watch_test.go: 1
module_test.go: 4
recipes/config_test.go: 1
recipes/double_barrier_test.go: 2
recipes/election.go: 1
recipes/election_test.go: 6
recipes/group_test.go: 1
recipes/live/client_test.go: 1
recipes/lock_test.go: 4
recipes/monitor.go: 1
recipes/patient_watch.go: 1
recipes/place.go: 1
recipes/pool_test.go: 2
recipes/queue_store.go: 1
recipes/real_shared_test.go: 1
recipes/real_test.go: 1
recipes/rwlock_test.go: 1
recipes/semaphore.go: 1
recipes/transaction_test.go: 2
recipes/watch.go: 4
recipes/watch_real_test.go: 3
recipes/watch_test.go: 7
reports/curve.go: 5
reports/curve_test.go: 5
reports/labels.go: 1
reports/names.go: 1
reports/narrate.go: 2
reports/page.go: 4
reports/page_test.go: 8
reports/picture.go: 8
reports/picture_test.go: 24
reports/place.go: 2
reports/place_test.go: 4
reports/reports.go: 2
reports/reports_test.go: 2
reports/spans.go: 1
scenarios/assert_test.go: 1
scenarios/catalog/barrier.go: 4
scenarios/catalog/brief_test.go: 1
scenarios/catalog/catch_test.go: 1
scenarios/catalog/commit.go: 10
scenarios/catalog/commit_test.go: 2
scenarios/catalog/config.go: 2
scenarios/catalog/config_list.go: 9
scenarios/catalog/config_test.go: 1
scenarios/catalog/counter.go: 4
scenarios/catalog/determinism_test.go: 4
scenarios/catalog/double_barrier.go: 1
scenarios/catalog/double_barrier_list.go: 12
scenarios/catalog/double_barrier_test.go: 2
scenarios/catalog/election.go: 6
scenarios/catalog/lock_list.go: 13
scenarios/catalog/master.go: 1
scenarios/catalog/master_list.go: 9
scenarios/catalog/master_test.go: 3
scenarios/catalog/members_list.go: 2
scenarios/catalog/monitor.go: 3
scenarios/catalog/mutants/double_barrier.go: 2
scenarios/catalog/mutants/group.go: 2
scenarios/catalog/mutants/lock.go: 1
scenarios/catalog/mutants/queue.go: 1
scenarios/catalog/mutants/semaphore.go: 1
scenarios/catalog/names.go: 5
scenarios/catalog/promela_prove_test.go: 1
scenarios/catalog/promela_test.go: 3
scenarios/catalog/queue.go: 1
scenarios/catalog/queue_list.go: 5
scenarios/catalog/queue_test.go: 1
scenarios/catalog/revocable.go: 3
scenarios/catalog/rwlock.go: 2
scenarios/catalog/schedules_test.go: 1
scenarios/catalog/sees_test.go: 2
scenarios/catalog/semaphore.go: 4
scenarios/catalog/variants/fanout_pool_test.go: 2
scenarios/catalog/variants/fanout_test.go: 8
scenarios/catalog/variants/list.go: 13
scenarios/catalog/variants/live_test.go: 2
scenarios/catalog/variants/rearm.go: 3
scenarios/catalog/watch.go: 9
scenarios/catalog/watch_list.go: 1
scenarios/catalog/watch_test.go: 1
scenarios/catalog/znodes.go: 2
scenarios/check_test.go: 12
scenarios/engine/coverage_test.go: 5
scenarios/engine/engine_test.go: 21
scenarios/engine/guard_own_test.go: 1
scenarios/engine/novelty.go: 254
scenarios/engine/observe.go: 3
scenarios/engine/parse_test.go: 6
scenarios/engine/runner.go: 2
scenarios/engine/schedule.go: 1
scenarios/engine/shrink.go: 1
scenarios/engine/shrink_test.go: 3
scenarios/engine/size_test.go: 1
scenarios/engine/strict_test.go: 1
scenarios/engine/trace.go: 1
scenarios/engine/trace_test.go: 12
scenarios/engine/why.go: 1
scenarios/engine/why_test.go: 2
scenarios/ensemble/live.go: 3
scenarios/ensemble/live_observe.go: 5
scenarios/ensemble/live_test.go: 9
scenarios/example_test.go: 1
scenarios/fail.go: 1
scenarios/flags.go: 2
scenarios/fuzz_test.go: 3
scenarios/herd/claim.go: 3
scenarios/herd/herd_test.go: 3
scenarios/herd/live.go: 2
scenarios/herd/locks.go: 1
scenarios/herd/measure.go: 2
scenarios/herd/pace.go: 2
scenarios/herd/tally_test.go: 1
scenarios/prove/audit.go: 1
scenarios/prove/audit_test.go: 4
scenarios/prove/bench_test.go: 1
scenarios/prove/certificate.go: 6
scenarios/prove/checkpoint.go: 2
scenarios/prove/enumerate_test.go: 1
scenarios/prove/hostile_test.go: 3
scenarios/prove/memo_test.go: 1
scenarios/prove/memory_test.go: 1
scenarios/prove/past.go: 1
scenarios/prove/property_test.go: 5
scenarios/prove/prove.go: 4
scenarios/prove/prove_test.go: 7
scenarios/prove/run.go: 2
scenarios/prove/search.go: 4
scenarios/prove/table_test.go: 1
scenarios/prove/tiny_test.go: 4
scenarios/prove/widen.go: 1
scenarios/prove/worker.go: 2
scenarios/simrun/browser_test.go: 14
scenarios/simrun/check.go: 6
scenarios/simrun/conform.go: 4
scenarios/simrun/conform_test.go: 6
scenarios/simrun/diff.go: 3
scenarios/simrun/ended_test.go: 1
scenarios/simrun/exhaust_test.go: 2
scenarios/simrun/herd.go: 4
scenarios/simrun/herd_compare.go: 6
scenarios/simrun/herd_figures.go: 29
scenarios/simrun/herd_memory.go: 4
scenarios/simrun/herd_test.go: 16
scenarios/simrun/hostile_test.go: 24
scenarios/simrun/live.go: 3
scenarios/simrun/main_test.go: 21
scenarios/simrun/page_test.go: 5
scenarios/simrun/prove.go: 12
scenarios/simrun/prove_run.go: 1
scenarios/simrun/prove_test.go: 14
scenarios/simrun/record_test.go: 2
scenarios/simrun/reproduce_test.go: 11
scenarios/simrun/strategies.go: 2
scenarios/simrun/strategies_test.go: 2
scenarios/simrun/why_test.go: 9
sim/chooser.go: 1
sim/client.go: 6
sim/client_test.go: 2
sim/determinism_test.go: 1
sim/ensemble.go: 1
sim/fingerprint_test.go: 1
sim/freedom_test.go: 4
sim/guarantees_list_test.go: 4
sim/guarantees_test.go: 1
sim/kept.go: 2
sim/kernel_test.go: 3
sim/library_test.go: 1
sim/part.go: 2
sim/parts.go: 2
sim/protected_test.go: 1
sim/random_test.go: 1
sim/schedule.go: 1
sim/scope.go: 1
sim/shape_test.go: 1
sim/state_test.go: 1
`
