package engine_test

import (
	"context"
	"strings"
	"testing"

	"zksim/model"
	"zksim/scenarios/engine"
)

func TestASetupThatFailsIsAnErrorInWords(t *testing.T) {
	three := engine.Options{Seeds: engine.Range{First: 1, Last: 3}}
	for _, x := range []struct {
		setup []model.Request
		want  string
	}{
		{[]model.Request{engine.Mkdir("/a/b")},
			"the setup of test/setup fails: create /a/b: zk: node does not exist; the parent has to be made first, as by Mkdir"},
		{[]model.Request{engine.Mkdir("/a"), engine.Mkdir("/a")},
			"the setup of test/setup fails: create /a: zk: node already exists; it was made before"},
		{[]model.Request{{Op: model.OpCreate, Path: "/a"}},
			"the setup of test/setup fails: create /a: zk: invalid ACL specified; Mkdir makes a znode that everybody may use"},
	} {
		s := engine.Scenario{Name: "test/setup", Clients: 1, Setup: x.setup, Program: func(*engine.Process) {}}
		if _, err := engine.Run(context.Background(), &s, three); err == nil || err.Error() != x.want {
			t.Errorf("%v: error %v, want %s", x.setup, err, x.want)
		}
		r := engine.NewRunner()
		_, err := r.Replay(&s, engine.Schedule{Scenario: s.Name, Servers: 1})
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("a replay of %v: error %v, want %s", x.setup, err, x.want)
		}
		r.Close()
	}
}
