package transcript_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zksim/internal/transcript"
)

// maxShown is how many differences of one transcript a failing test prints.
const maxShown = 5

// recordings returns all transcripts, or those of one folder of testdata.
func recordings(t testing.TB, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
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

// TestTheModelAgreesWithTheRealServer replays every recording. The mutation
// test runs it against broken models.
func TestTheModelAgreesWithTheRealServer(t *testing.T) {
	steps := 0
	for _, file := range append(recordings(t, "golden"), recordings(t, "extra")...) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			tr := parseFile(t, file)
			steps += len(tr.Steps)
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
	t.Logf("%d steps", steps)
}

// TestTheReadmeCountsTheRecordings compares the number in the README with what [TestTheModelAgreesWithTheRealServer]
// replays.
func TestTheReadmeCountsTheRecordings(t *testing.T) {
	want := fmt.Sprintf(": %d recordings", len(recordings(t, "golden"))+len(recordings(t, "extra")))
	text, err := os.ReadFile("../../README.md")
	if err != nil || !strings.Contains(string(text), want) {
		t.Errorf("README.md: expected %q, %v", want, err)
	}
}

func BenchmarkReplay(b *testing.B) {
	var all []*transcript.Transcript
	for _, file := range recordings(b, "golden") {
		all = append(all, parseFile(b, file))
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, tr := range all {
			transcript.Replay(tr)
		}
	}
}
