package scenarios_test

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"zksim/model/history"
	"zksim/scenarios/engine"
)

// forever waits for a znode that nobody makes, in one goroutine behind another call and in the first by itself.
func forever(p *engine.Process) {
	if p.ID == 2 {
		return
	}
	p.Env.Go("second", func() { waits(p, "/b") })
	_, _, made, _ := p.Conn.ExistsW("/a")
	p.Env.Await(context.Background(), made) // the first
}

func waits(p *engine.Process, path string) {
	_, _, made, _ := p.Conn.ExistsW(path)
	p.Env.Await(context.Background(), made, make(chan zk.Event)) // the second
}

func TestWhereCodeWaitsInTheEnd(t *testing.T) {
	s := engine.Scenario{Name: "a/wait", Clients: 2, Program: forever}
	r := engine.NewRunner()
	defer r.Close()
	res := r.Seed(&s, 1)
	r.Names(&res)
	if err := engine.Waits(&s, res.Schedule, res.History); err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("waits_test.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(source), "\n")
	line := func(comment string) int {
		return slices.IndexFunc(lines, func(x string) bool { return strings.HasSuffix(x, "// "+comment) }) + 1
	}
	want := map[string]string{
		"":       frame("forever", line("the first")),
		"second": frame("waits", line("the second")) + "\nfunc scenarios/waits_test.go:" + strconv.Itoa(line("the first")-2),
	}
	if len(res.History.Waiting) != 2 {
		t.Fatalf("%+v", res.History.Waiting)
	}
	for _, x := range res.History.Waiting {
		if got := strings.Join(x.Calls, "\n"); got != want[x.Where] {
			t.Errorf("%q waits in\n%s\nwant\n%s", x.Where, got, want[x.Where])
		}
	}
	impossible := engine.Schedule{Scenario: s.Name, Servers: 1, Names: []string{"run c9"}}
	if err := engine.Waits(&s, impossible, res.History); err == nil {
		t.Error("a schedule that is not possible tells where code waits")
	}
	if err := engine.Waits(&s, engine.Schedule{}, &history.History{}); err != nil {
		t.Error(err)
	}
}

func frame(name string, line int) string {
	return "zksim/scenarios_test." + name + " scenarios/waits_test.go:" + strconv.Itoa(line)
}
