// Package kubernetes has the manifests of a campaign, and a test of them. It is a module of its own, so that the
// product does not depend on the validator.
package kubernetes

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kubectl-validate/pkg/openapiclient"
	"sigs.k8s.io/kubectl-validate/pkg/validator"
)

// release is the version of Kubernetes whose schemas validate the manifests.
const release = "1.30"

// documents validates the manifests in text, and returns them.
func documents(t *testing.T, text []byte) (list []*unstructured.Unstructured, err error) {
	t.Helper()
	v, err := validator.New(openapiclient.NewHardcodedBuiltins(release))
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range bytes.Split(text, []byte("\n---\n")) {
		_, x, err := v.Parse(doc)
		if err == nil {
			err = v.Validate(x)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}

// job returns the Job in a file.
func job(t *testing.T, file string) (j batch.Job) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	list, err := documents(t, text)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, x := range list {
		if x.GetKind() != "Job" {
			continue
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(x.Object, &j, true); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	return j
}

func TestTheValidatorFindsMistakes(t *testing.T) {
	text, err := os.ReadFile("campaign.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for old, wrong := range map[string]string{"completionMode: Indexed": "completionsMode: Indexed",
		"completions: 8": "completions: eight", "restartPolicy: Never": "restartPolicy: [Never]",
		"kind: Job": "kind: IndexedJob", "name: simrun\n": "nom: simrun\n"} {
		if _, err := documents(t, bytes.Replace(text, []byte(old), []byte(wrong), 1)); err == nil {
			t.Errorf("%s is valid", wrong)
		}
	}
}

// run runs the container of a Job as Kubernetes would, with a local folder as its volume. It returns status and output.
func run(t *testing.T, j *batch.Job, binary, volume string, more []string, env ...string) (code int, text string) {
	t.Helper()
	c := j.Spec.Template.Spec.Containers[0]
	for _, x := range c.Env {
		env = append(env, x.Name+"="+x.Value)
	}
	var args []string
	for _, arg := range append(c.Args, more...) {
		for _, x := range env {
			name, value, _ := strings.Cut(x, "=")
			arg = strings.ReplaceAll(arg, "$("+name+")", value)
		}
		args = append(args, strings.ReplaceAll(arg, c.VolumeMounts[0].MountPath, volume))
	}
	cmd := exec.Command(binary, args...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// Each pod finds its part by what the Job sets, and the merge finds all parts.
func TestThePodsOfTheJobsDoTheWholeCampaign(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "simrun")
	build := exec.Command("go", "build", "-o", binary, "./cmd/simrun")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	campaign, merge, volume := job(t, "campaign.yaml"), job(t, "merge.yaml"), t.TempDir()
	for i := range *campaign.Spec.Completions {
		code, out := run(t, &campaign, binary, volume, []string{"-seeds=1-400", "lock/lock"},
			fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i))
		if want := fmt.Sprintf("-shard auto is %d/8, from JOB_COMPLETION_INDEX=%d ZKSIM_JOB_TOTAL=8 (Kubernetes)\n", i+1,
			i); code != 0 || !strings.Contains(out, want) {
			t.Errorf("pod %d: %d\n%s", i, code, out)
		}
		if i == 6 {
			if code, out := run(t, &merge, binary, volume, nil); code != 3 || !strings.Contains(out, "not there: part 8 of 8") {
				t.Errorf("the merge of seven parts: %d\n%s", code, out)
			}
		}
	}
	if code, out := run(t, &merge, binary, volume, nil); code != 0 || !strings.Contains(out, "400 runs") {
		t.Errorf("the merge: %d\n%s", code, out)
	}
	for _, name := range []string{"merged/index.html", "merged/junit.xml", "findings.json"} {
		if _, err := os.Stat(filepath.Join(volume, name)); err != nil {
			t.Error(err)
		}
	}
	mount := merge.Spec.Template.Spec.Containers[0].VolumeMounts[0].MountPath
	if mount != campaign.Spec.Template.Spec.Containers[0].VolumeMounts[0].MountPath {
		t.Errorf("the merge looks at %s", mount)
	}
}

// action returns the action of the first rule that applies to a failed pod, or "" if none does.
func action(j *batch.Job, status int32, has ...core.PodConditionType) batch.PodFailurePolicyAction {
	for _, r := range j.Spec.PodFailurePolicy.Rules {
		applies := slices.ContainsFunc(r.OnPodConditions, func(c batch.PodFailurePolicyOnPodConditionsPattern) bool {
			return slices.Contains(has, c.Type)
		})
		if applies || r.OnExitCodes != nil && slices.Contains(r.OnExitCodes.Values, status) {
			return r.Action
		}
	}
	return ""
}

// An evicted pod gets SIGTERM. Then simrun ends with the status of an interrupted run, or with that of a violation.
func TestAPodThatIsEvictedIsRunAgainAndOneWithAVerdictIsNot(t *testing.T) {
	j := job(t, "campaign.yaml")
	for status := int32(1); status <= 4; status++ {
		if got := action(&j, status); got != batch.PodFailurePolicyActionFailIndex {
			t.Errorf("status %d: %q", status, got)
		}
		if got := action(&j, status, core.DisruptionTarget); got != batch.PodFailurePolicyActionIgnore {
			t.Errorf("status %d after an eviction: %q", status, got)
		}
	}
	if got := action(&j, 137); got != "" {
		t.Errorf("a pod that was killed: %q", got)
	}
}
