package zksim_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// actionScript is the script of the first step of the action.
func actionScript(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("action.yml")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "      run: |\n")
	script, _, more := strings.Cut(rest, "    - name: failures\n")
	if !found || !more {
		t.Fatal("action.yml has no script before the step that uploads")
	}
	return strings.ReplaceAll("\n"+script, "\n        ", "\n")
}

// The action is nothing but its script and what it passes to it, so the script is run as GitHub would.
func TestTheActionRunsThePartOfItsJob(t *testing.T) {
	script, dir := actionScript(t), t.TempDir()
	tool := filepath.Join(dir, "tool")
	body := "#!/bin/sh\necho \"$ZKSIM_SHARD $ZKSIM_JOB_INDEX/$ZKSIM_JOB_TOTAL $ZKSIM_SEEDS $ZKSIM_OUT $*\"\nexit 3\n"
	if err := os.WriteFile(tool, []byte(body), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(tool, filepath.Join(dir, "go")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "lock", "lock.go"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ command, total, seeds, want string }{
		{tool + " check lock/* queue", "4", "1-9", "auto 1/4 1-9 " + dir + "/out check lock/* queue -seeds 1-9 -shard " +
			"auto -o " + dir + "/out -junit " + dir + "/out/junit.xml\n"},
		{tool + " check", "4", "", "auto 1/4  " + dir + "/out check -shard auto -o " + dir + "/out -junit " + dir +
			"/out/junit.xml\n"},
		{tool + " check", "1", "", "auto 1/1  " + dir + "/out check -o " + dir + "/out -junit " + dir +
			"/out/junit.xml\n"},
		{"", "4", "1-9", "auto 1/4 1-9 " + dir + "/out test -v -count=1 ./a ./b\n"},
	} {
		c := exec.Command("bash", "-c", script)
		c.Dir = dir
		c.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "ZKSIM_JOB_INDEX=1", "ZKSIM_JOB_TOTAL="+x.total,
			"ZKSIM_SHARD=auto", "ZKSIM_SEEDS="+x.seeds, "ZKSIM_FOR=", "INPUT_PACKAGES=./a ./b", "INPUT_COMMAND="+x.command,
			"INPUT_OUT=out")
		out, _ := c.CombinedOutput()
		if code := c.ProcessState.ExitCode(); code != 3 || string(out) != x.want {
			t.Errorf("%q: status %d, %s\nexpected 3, %s", x.command, code, out, x.want)
		}
	}
	text, _ := os.ReadFile("action.yml")
	for _, name := range regexp.MustCompile(`\$([A-Z_]+)`).FindAllStringSubmatch(script, -1) {
		if !strings.Contains(string(text), "        "+name[1]+": ") && name[1] != "ZKSIM_OUT" {
			t.Errorf("the step has no variable %s", name[1])
		}
	}
}
