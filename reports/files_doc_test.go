package reports

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"zksim/model/history"
)

// TestEveryFieldIsDocumented: docs/files.md names all fields of report.json and history.jsonl.
func TestEveryFieldIsDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/files.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		of     any
		prefix string // of its fields in the page
	}{{Failure{}, ""}, {Waits{}, ""}, {history.Futures{}, "why."}, {record{}, ""}} {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(x.of)) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name != "" && !strings.Contains(string(text), "`"+x.prefix+name+"`") {
				t.Errorf("docs/files.md does not have %s%s, a field of %T", x.prefix, name, x.of)
			}
		}
	}
}
