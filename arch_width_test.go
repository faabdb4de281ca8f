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
`
