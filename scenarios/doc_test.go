package scenarios_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"zksim/scenarios"
)

// internal are the fields and methods that only packages of this module use.
var internal = strings.Fields(`Outside Elsewhere Accepts Aims Alike Catches JudgeReal Judges KeepFaults Listed NewPart
	NewSchedule Notes Size Sum Unfit Unjudged Waived Whole With On`)

// "go doc ./scenarios Process" shows nothing of an alias but its comment.
func TestTheCommentsOfAliasesListFieldsAndMethods(t *testing.T) {
	text, err := os.ReadFile("scenarios.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []any{&scenarios.Scenario{}, &scenarios.Process{}, &scenarios.Object{}, &scenarios.Goal{}} {
		p := reflect.TypeOf(x)
		var names []string
		for i := range p.NumMethod() {
			names = append(names, p.Method(i).Name)
		}
		for _, f := range reflect.VisibleFields(p.Elem()) {
			if f.IsExported() {
				names = append(names, f.Name)
			}
		}
		_, comment, _ := strings.Cut(string(text), "\t// "+p.Elem().Name()+" is ")
		comment, _, _ = strings.Cut(comment, "\n\t"+p.Elem().Name()+" = ")
		var listed []string
		for _, m := range regexp.MustCompile(`(?m)^\t//\t(\w+)  +\S`).FindAllStringSubmatch(comment, -1) {
			listed = append(listed, m[1])
			if !slices.Contains(names, m[1]) {
				t.Errorf("%v has no %s", p.Elem(), m[1])
			}
		}
		for _, name := range names {
			if slices.Contains(listed, name) == slices.Contains(internal, name) {
				t.Errorf("%v: %s is in the comment of its alias, or in the list of what is internal, but not in one", p.Elem(),
					name)
			}
		}
	}
}
