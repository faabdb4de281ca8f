package zkservertest

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"zksim/internal/zkserver"
)

// verdict is a testing.TB that remembers how the test was ended.
type verdict struct {
	testing.TB
	how string
}

func (v *verdict) Helper()                  {}
func (v *verdict) Skipf(f string, a ...any) { v.end("skip: " + fmt.Sprintf(f, a...)) }
func (v *verdict) Fatal(a ...any)           { v.end("fatal: " + fmt.Sprint(a...)) }
func (v *verdict) end(how string) {
	v.how = how
	runtime.Goexit()
}

func TestWithoutAServerTestsAreSkippedAloudOrFailOnDemand(t *testing.T) {
	t.Setenv(zkserver.EnvZooKeeper, filepath.Join(t.TempDir(), "missing"))
	for require, want := range map[string]string{
		"":  "skip: SKIPPED: no ZooKeeper server: ZKSIM_ZOOKEEPER=",
		"0": "skip: SKIPPED: no ZooKeeper server: ZKSIM_ZOOKEEPER=",
		"1": "fatal: no ZooKeeper server: ZKSIM_ZOOKEEPER=",
	} {
		t.Setenv(EnvRequire, require)
		v := &verdict{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			ForTest(v, 1)
		}()
		<-done
		if !strings.HasPrefix(v.how, want) {
			t.Errorf("%s=%q: got %q, want %q", EnvRequire, require, v.how, want)
		}
	}
}
