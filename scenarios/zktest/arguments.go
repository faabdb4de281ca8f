package zktest

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The arguments and the folder that this process was started with, before a test changes them. A process for runs
// starts with the same ones and makes the same changes.
var (
	given     = slices.Clone(os.Args)
	folder, _ = os.Getwd()
)

// arguments returns the arguments of a process that makes the runs of a test: the flags of this process that are not
// flags of package testing, as they were given, and those flags of package testing that the code can see.
func arguments(test, tmp string) []string {
	list := []string{"-test.run=" + pattern(test), "-test.count=1", "-test.timeout=0",
		"-test.short=" + value("test.short")}
	if value(logFlag) != "" {
		list = append(list, "-"+logFlag+"="+filepath.Join(tmp, logFile))
	}
	rest := given[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0], "-") && rest[0] != "-" && rest[0] != "--" {
		n := 1
		name, _, whole := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(rest[0], "-"), "-"), "=")
		if f := flag.Lookup(name); f != nil && !whole && !boolean(f) {
			n = min(2, len(rest))
		}
		if !strings.HasPrefix(name, "test.") {
			list = append(list, rest[:n]...)
		}
		rest = rest[n:]
	}
	return append(list, rest...)
}

// pattern returns the regular expression for -run that matches only this test.
func pattern(test string) string {
	parts := strings.Split(test, "/")
	for i := range parts {
		parts[i] = "^" + regexp.QuoteMeta(parts[i]) + "$"
	}
	return strings.Join(parts, "/")
}

// boolean reports whether a flag takes no argument of its own.
func boolean(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// value returns the value of a flag; "" if there is none.
func value(name string) string {
	if f := flag.Lookup(name); f != nil {
		return f.Value.String()
	}
	return ""
}
