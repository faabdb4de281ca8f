package transcript_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zksim/model/transcript"
)

// maxShown is how many differences of one transcript a failing test prints.
const maxShown = 5

func goldenFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/golden/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden transcripts: %v", err)
	}
	return files
}

func parseFile(t testing.TB, file string) *transcript.Transcript {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tr, err := transcript.Parse(f)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return tr
}

// TestModelAgreesWithRealServer replays every recording. The mutation test of
// package model runs it against broken models.
func TestModelAgreesWithRealServer(t *testing.T) {
	for _, file := range goldenFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			tr := parseFile(t, file)
			diffs := transcript.Replay(tr)
			for i, d := range diffs {
				if i == maxShown {
					t.Errorf("and %d more", len(diffs)-maxShown)
					break
				}
				t.Error(d)
			}
		})
	}
}
