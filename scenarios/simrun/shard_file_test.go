package simrun

import (
	"runtime/debug"
	"strings"
	"testing"
)

// built returns what a program says that was built from a clean commit, with a published dependency.
func built() *debug.BuildInfo {
	return &debug.BuildInfo{GoVersion: "go1.26.0", Path: "example.org/mine", Settings: []debug.BuildSetting{
		{Key: "GOARCH", Value: "amd64"}, {Key: "vcs.revision", Value: "0123abcd"}, {Key: "vcs.modified", Value: "false"}},
		Deps: []*debug.Module{{Path: "zksim", Version: "v1.0.0", Sum: "h1:x"}}}
}

func TestTheVersionOfAProgramIsThatOfAllThatItWasBuiltFrom(t *testing.T) {
	clean := builtFrom(built())
	if !strings.HasPrefix(clean, "example.org/mine 0123abcd go1.26.0 ") || builtFrom(built()) != clean {
		t.Errorf("%q", clean)
	}
	for name, change := range map[string]func(x *debug.BuildInfo){
		"a dependency that is a folder beside it": func(x *debug.BuildInfo) {
			x.Deps[0].Replace = &debug.Module{Path: "../zksim"}
		},
		"a dependency of a workspace":    func(x *debug.BuildInfo) { x.Deps[0].Version, x.Deps[0].Sum = "(devel)", "" },
		"changes that are in no commit":  func(x *debug.BuildInfo) { x.Settings[2].Value = "true" },
		"no commit":                      func(x *debug.BuildInfo) { x.Settings = x.Settings[:1] },
		"what says nothing of its files": func(x *debug.BuildInfo) { x.Settings = x.Settings[:2] },
	} {
		x := built()
		if change(x); builtFrom(x) != "" {
			t.Errorf("%s: %q, expected the digest of the executable", name, builtFrom(x))
		}
	}
	for name, change := range map[string]func(x *debug.BuildInfo){
		"another version of Go": func(x *debug.BuildInfo) { x.GoVersion = "go1.25.0" },
		"another processor":     func(x *debug.BuildInfo) { x.Settings[0].Value = "arm64" },
	} {
		x := built()
		if change(x); builtFrom(x) == clean || builtFrom(x) == "" {
			t.Errorf("%s: %q", name, builtFrom(x))
		}
	}
}
