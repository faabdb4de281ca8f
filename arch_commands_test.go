package zksim_test

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	testCommand = regexp.MustCompile("`go test[^`]+`|\\bgo test(?: +(?:'[^'\n]*'|[^\\s'`;|&)#]+))+")
	testFlag    = regexp.MustCompile(`^-(run|bench|fuzz)$`)
	testFunc    = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz|Example)\w*)\(`)
)

// commandProblems looks at each go test in documents and scripts that names tests of this module: they are there. What
// examples and folders called ./my... have is not of this module.
func commandProblems(t *tree) (problems []string) {
	funcs := map[string][]string{} // by folder
	for _, f := range t.tests {
		for _, m := range testFunc.FindAllStringSubmatch(f.body, -1) {
			funcs[f.dir] = append(funcs[f.dir], m[1])
		}
	}
	for _, f := range t.files {
		if path.Ext(f.path) == ".go" || under(f.path, "examples") {
			continue
		}
		for _, m := range testCommand.FindAllStringIndex(f.body, -1) {
			line := 1 + strings.Count(f.body[:m[0]], "\n")
			for _, missing := range missingTests(strings.Fields(f.body[m[0]:m[1]]), funcs) {
				problems = append(problems, fmt.Sprintf("%s:%d: go test names %s", f.path, line, missing))
			}
		}
	}
	return problems
}

// missingTests returns the names of tests that none of the packages of a go test has.
func missingTests(words []string, funcs map[string][]string) (missing []string) {
	var there []string
	packages := 0
	for _, word := range words {
		dir, below := strings.CutSuffix(strings.Trim(word, "`"), "/...")
		if dir != "." && !strings.HasPrefix(dir, "./") || strings.HasPrefix(dir, "./my") {
			continue
		}
		packages++
		for of, names := range funcs {
			if of == path.Clean(dir) || below && (dir == "." || under(of, path.Clean(dir))) {
				there = append(there, names...)
			}
		}
	}
	for i, word := range words {
		if packages == 0 || i == 0 || !testFlag.MatchString(words[i-1]) {
			continue
		}
		for name := range strings.SplitSeq(strings.Trim(word, "'`"), "|") {
			name, _, _ = strings.Cut(name, "/")
			found := func(f string) bool { ok, err := regexp.MatchString(name, f); return ok && err == nil }
			if name != "xxx" && name != "." && !slices.ContainsFunc(there, found) {
				missing = append(missing, fmt.Sprintf("%q, which is not in the packages that it tests", name))
			}
		}
	}
	return missing
}
