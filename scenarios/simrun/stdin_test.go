package simrun

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// piped runs a command line with a standard input.
func piped(in string, args ...string) result {
	var out, err bytes.Buffer
	a := exampleApp()
	a.in, a.out, a.err = strings.NewReader(in), &out, &err
	code := a.main(context.Background(), args)
	return result{code, out.String(), err.String()}
}

func TestSchedulesMayComeFromTheStandardInput(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "first.txt", firstPiece)
	for _, args := range []string{"replay FILE", "replay -v FILE", "shrink FILE", "why -futures 20 FILE"} {
		named := simrun(t, strings.Fields(strings.ReplaceAll(args, "FILE", "first.txt"))...)
		if r := piped(firstPiece, strings.Fields(strings.ReplaceAll(args, "FILE", "-"))...); r != named || r.out == "" {
			t.Errorf("%s: %+v\nand of the file %+v", args, r, named)
		}
	}
	for _, args := range []string{"diff - first.txt", "diff first.txt -"} {
		if r := piped(firstPiece, strings.Fields(args)...); r.code != exitHeld || !strings.HasPrefix(r.out,
			"the same in all ") {
			t.Errorf("%s: %+v", args, r)
		}
	}
	for _, command := range []string{"replay", "shrink", "why"} {
		want := "simrun " + command + `: standard input: line 1: a schedule begins with "zksim schedule 1", not ` +
			`"nonsense"` + "\n"
		if r := piped("nonsense", command, "-"); r.code != exitUsage || r.err != want {
			t.Errorf("%s: %+v", command, r)
		}
	}
}

// The page of a schedule that had no file names one that there is.
func TestThePageOfAScheduleFromTheStandardInputCanBeReproduced(t *testing.T) {
	for _, args := range []string{"replay -o page -", "why -futures 20 -o page -"} {
		t.Chdir(t.TempDir())
		r := piped(firstPiece, strings.Fields(args)...)
		page, err := os.ReadFile(filepath.Join("page", "index.html"))
		if err != nil || !strings.Contains(string(page), "go run ./cmd/simrun replay page/schedule.txt") {
			t.Errorf("%s: %v, %+v", args, err, r)
		}
		if again := simrun(t, "replay", "page/schedule.txt"); again.code != exitViolation {
			t.Errorf("%s: %+v", args, again)
		}
	}
}

func TestShrinkWritesToAFileOrTheStandardOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "first.txt", firstPiece)
	whole := simrun(t, "shrink", "first.txt")
	if r := simrun(t, "shrink", "-o", "-", "first.txt"); r != whole || r.code != exitHeld {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "shrink", "-o", "new/small.txt", "first.txt"); r.code != exitHeld || r.out != "" || r.err != "" {
		t.Errorf("%+v", r)
	}
	if text, err := os.ReadFile("new/small.txt"); err != nil || string(text) != whole.out {
		t.Errorf("%v: %s", err, text)
	}
	if r := simrun(t, "shrink", "-o", "first.txt/x", "first.txt"); r.code != exitUsage || !strings.HasPrefix(r.err,
		"simrun shrink: -o: ") {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "prove", "lock/lock", "-most", "0", "-cert", "-"); !strings.Contains(r.out,
		"\n{\n  \"format\": ") {
		t.Errorf("%+v", r)
	}
	if r := simrun(t, "prove", "lock/lock", "-most", "0", "-junit", "-"); !strings.HasSuffix(r.out, "</testsuites>\n") {
		t.Errorf("%+v", r)
	}
}
