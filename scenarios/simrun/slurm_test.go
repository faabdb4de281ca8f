package simrun

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestASlurmCampaignIsOneOfRunsOrProofs(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	dir := filepath.Join(t.TempDir(), "out")
	// One file of all tasks would be that of the task that ends last, whatever the others have found.
	const shared = "each task would replace the file of -junit, expected simrun merge -junit at the end\n"
	for _, x := range []struct {
		want string
		args []string
	}{
		{"no command serve, expected check or prove\n", []string{"serve"}},
		{shared, []string{"check", "-seeds", "1-4", "-junit", "junit.xml"}},
		{shared, []string{"prove", "--junit=junit.xml"}},
	} {
		args := append([]string{"../../scripts/slurm-campaign", dir, "4"}, x.args...)
		out, err := exec.Command(bash, args...).CombinedOutput()
		if e, ok := err.(*exec.ExitError); !ok || e.ExitCode() != exitUsage || string(out) != "slurm-campaign: "+x.want {
			t.Errorf("%v: %s", err, out)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Error("a folder was made for it")
		}
	}
}

// A merge that still runs would write the folder and the status of the one that waits for the parts.
func TestPartsAreNotRunAgainWhileTheMergeRuns(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	program := func(name, text string) {
		write(t, filepath.Join(dir, name), "#!/bin/sh\n"+text+"\n")
		if err := os.Chmod(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	program("squeue", `case $3 in *39*) echo 39 ;; esac`) // the tasks have ended, the merge has not
	program("simrun", "echo")
	write(t, filepath.Join(dir, "campaign"), "2\x00check\x00")
	write(t, filepath.Join(dir, "merging"), "")
	write(t, filepath.Join(dir, "jobs"), "37,39\n")
	again := func() string {
		c := exec.Command(bash, "../../scripts/slurm-campaign", "-again", dir)
		c.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		out, _ := c.CombinedOutput()
		return string(out)
	}
	if out := again(); out != "slurm-campaign: tasks of jobs 37,39 have not ended, expected that, or scancel\n" {
		t.Error(out)
	}
	write(t, filepath.Join(dir, "merge.status"), "3\n")
	if out := again(); out != "slurm-campaign: all 2 parts are done\n" {
		t.Error(out)
	}
}
