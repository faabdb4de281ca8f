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
	out, err := exec.Command(bash, "../../scripts/slurm-campaign", dir, "4", "serve").CombinedOutput()
	const want = "slurm-campaign: no command serve, expected check or prove\n"
	if x, ok := err.(*exec.ExitError); !ok || x.ExitCode() != exitUsage || string(out) != want {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a folder was made for it")
	}
}
