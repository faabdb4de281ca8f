package pipeline

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"zksim/reports"
)

// Nobody may ever write to a pipe that is among the files of a part.
func TestAPipeIsNoScheduleOfAFolder(t *testing.T) {
	dir := t.TempDir()
	report := `{"format": "` + reports.Format + `"}`
	if err := os.WriteFile(filepath.Join(dir, "report.json"), []byte(report), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{fullFile, ScheduleFile} {
		file := filepath.Join(dir, name)
		if err := syscall.Mkfifo(file, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Restore(nil, dir, "x"); err == nil || !strings.Contains(err.Error(), name+" is no regular file") {
			t.Errorf("%s: %v", name, err)
		}
		os.Remove(file)
		text := "zksim schedule 1\nscenario lock/lock\norder 1\nfaults none\n\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
