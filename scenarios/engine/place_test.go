package engine_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/scenarios/engine"
)

// twoTurns is a program whose places are known by their comments.
func twoTurns(p *engine.Process) { // begins
	p.Conn.Create("/a", nil, 0, zk.WorldACL(zk.PermAll)) // created
	p.Conn.Exists("/a")                                  // looked
}

func TestWhereCodeGoesOnInAStep(t *testing.T) {
	s := engine.Scenario{Name: "a/place", Clients: 1, Program: twoTurns}
	p := engine.Schedule{Scenario: s.Name, Servers: 1,
		Names: []string{"run c1", "connect c1 s1", "serve c1", "deliver c1", "serve c1", "deliver c1"}}
	r := engine.NewRunner()
	defer r.Close()
	whole, err := r.Replay(&s, p)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("place_test.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(source), "\n")
	found := map[string]int{}
	for step := 1; step <= whole.Steps; step++ {
		x, err := engine.PlaceOf(&s, p, step)
		if idle := (*engine.IdleError)(nil); errors.As(err, &idle) {
			if idle.Next != 0 && idle.Next <= step || idle.Name != whole.Schedule.Names[step-1] {
				t.Errorf("%+v", idle)
			}
			continue
		}
		if err != nil || x.Client != 1 || !strings.HasSuffix(x.File, "place_test.go") || x.PC == 0 {
			t.Fatalf("step %d: %v, %v", step, x, err)
		}
		_, comment, _ := strings.Cut(lines[x.Line-1], "// ")
		found[comment] = step
		if x.Begins != (comment == "begins") || !strings.Contains(x.String(), "engine_test.twoTurns, ") {
			t.Errorf("step %d: %v", step, x)
		}
		stopped := 0
		if _, err := r.ReplayStopping(&s, p, step, func() { stopped = r.World().Step() + 1 }); err != nil ||
			stopped != step {
			t.Errorf("stopped before step %d, want %d: %v", stopped, step, err)
		}
	}
	if found["begins"] == 0 || found["created"] <= found["begins"] || found["looked"] <= found["created"] {
		t.Errorf("%v of %v", found, whole.Schedule.Names)
	}
	if _, err := engine.PlaceOf(&s, p, whole.Steps+1); err == nil ||
		!strings.Contains(err.Error(), "expected one from 1") {
		t.Error(err)
	}
	_, err = engine.PlaceOf(&s, p, 2)
	if err == nil ||
		!strings.HasPrefix(err.Error(), "step 2, connect c1 s1, runs no code of a client; the next that does") {
		t.Error(err)
	}
}
