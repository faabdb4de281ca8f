// Package zksim_test keeps the architecture true. Each test is one rule about
// the source of the whole module; the rules are functions of a tree, so that
// arch_self_test.go can prove on small bad trees that they fire. The package
// must not know what the code does.
package zksim_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// checkout parses the module once for all tests.
var checkout = sync.OnceValues(func() (*tree, error) { return loadTree(".") })

// holds runs a rule on the module.
func holds(t *testing.T, rule func(*tree) []string) {
	t.Helper()
	source, err := checkout()
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range rule(source) {
		t.Error(problem)
	}
}

func TestEveryGoFileParses(t *testing.T) {
	holds(t, func(source *tree) []string { return source.problems })
}

func TestPackagesImportOnlyWhatTheTableAllows(t *testing.T) {
	table, err := loadTable(".")
	if err != nil {
		t.Fatal(err)
	}
	holds(t, importProblems)
	source, err := checkout()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range slices.Sorted(maps.Keys(table)) {
		if !slices.ContainsFunc(source.packages, func(p *pkg) bool { return table.row(p.dir) == row }) {
			t.Logf("row %s of ARCHITECTURE.md has no package yet", row)
		}
	}
}

// A rule about a folder or module that was renamed would hold for ever.
func TestTheRulesSpeakOfWhatThereIs(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(mod), "module "+module+"\n") {
		t.Errorf("go.mod:1: expected module %s", module)
	}
	table, err := loadTable(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range append([]string{zkHome, plotHome}, deterministicRoots...) {
		if _, ok := table[place]; !ok {
			t.Errorf("ARCHITECTURE.md: no row for %s, which a rule of this test is about", place)
		}
	}
}

func TestThirdPartyLibrariesStayInTheirPlaces(t *testing.T) {
	holds(t, thirdPartyProblems)
}

func TestOnlyRecipesLiveNamesTheRealConnection(t *testing.T) {
	holds(t, connectionProblems)
}

func TestDeterministicPackagesTakeNothingFromTheMachine(t *testing.T) {
	holds(t, determinismProblems)
}

func TestFunctionsAndFilesStaySmall(t *testing.T) {
	holds(t, func(source *tree) []string { return sizeProblems(source, sizeExceptions) })
}

func TestPackageNamesSayWhatThePackageIsFor(t *testing.T) {
	holds(t, nameProblems)
}

func TestEveryPackageAndExportedNameHasAComment(t *testing.T) {
	holds(t, docProblems)
}

func TestNoFileNamesAMachineOrLeavesWorkUndone(t *testing.T) {
	holds(t, wordingProblems)
}

func TestNothingDependsOnTheFolderBesideTheCheckout(t *testing.T) {
	holds(t, sharedProblems)
}
