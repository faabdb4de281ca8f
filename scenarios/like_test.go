package scenarios_test

import (
	"path/filepath"
	"strings"
	"testing"

	"zksim/faults"
	"zksim/scenarios"
)

// trusting is code that goes by the session that it began with. It is right where a lost connection ends no session.
func trusting() scenarios.Scenario {
	return scenarios.Scenario{Name: "my/trust", Clients: 1, Faults: faults.MustParse("disconnect=1"),
		Program: func(p *scenarios.Process) {
			p.Conn.Exists("/")
			session := p.Conn.SessionID()
			for range 3 {
				p.Conn.Exists("/")
			}
			p.Always("the session is the same", session == 0 || p.Conn.SessionID() == session)
		}}
}

// TestAFlagSaysWhatServersBehaveLike has each way to judge a scenario meet servers that the scenario does not name.
func TestAFlagSaysWhatServersBehaveLike(t *testing.T) {
	for name, judge := range map[string]func(f *fakeT){
		"check":   func(f *fakeT) { scenarios.Check(f, trusting()) },
		"prove":   func(f *fakeT) { scenarios.Prove(f, trusting(), scenarios.Bounds{Clients: -1}) },
		"exhaust": func(f *fakeT) { scenarios.Exhaust(f, trusting(), scenarios.SearchBounds{Faults: 1}) },
	} {
		for _, like := range []string{"", "zookeeper-3.9", "zookeeper-3.6", "keeper"} {
			t.Chdir(t.TempDir())
			t.Setenv("ZKSIM_OUT", "out")
			t.Setenv("ZKSIM_LIKE", like)
			f := &fakeT{}
			f.run(func() { judge(f) })
			ok := f.fatal == "" && strings.Contains(f.logs, ", like ") == (like != "")
			if like == "keeper" {
				ok = strings.Contains(f.fatal, `always: "the session is the same" does not hold`)
			}
			if !ok {
				t.Errorf("%s like %q: %+v", name, like, f)
			}
		}
	}
}

// unfuzzed is a fuzzer that is never given anything.
type unfuzzed struct{ *fakeT }

func (unfuzzed) Add(...any) { panic("not expected") }
func (unfuzzed) Fuzz(any)   { panic("not expected") }

func TestServersThatThereAreNotAreAnError(t *testing.T) {
	t.Setenv("ZKSIM_LIKE", "etcd")
	for name, judge := range map[string]func(f *fakeT){
		"check":   func(f *fakeT) { scenarios.Check(f, trusting()) },
		"prove":   func(f *fakeT) { scenarios.Prove(f, trusting()) },
		"exhaust": func(f *fakeT) { scenarios.Exhaust(f, trusting(), scenarios.SearchBounds{}) },
		"fuzz":    func(f *fakeT) { scenarios.Fuzz(unfuzzed{f}, trusting()) },
	} {
		f := &fakeT{}
		f.run(func() { judge(f) })
		want := `ZKSIM_LIKE: the server is zookeeper, keeper, zookeeper-3.9 or zookeeper-3.6, not "etcd"`
		if f.fatal != want {
			t.Errorf("%s: %s, expected %s", name, f.fatal, want)
		}
	}
}

// TestAScheduleKnowsItsServersWithoutTheFlag replays what was found with the flag, and also under another one.
func TestAScheduleKnowsItsServersWithoutTheFlag(t *testing.T) {
	t.Setenv("ZKSIM_LIKE", "keeper")
	if f := check(t, trusting(), "1-20", ""); f.fatal == "" {
		t.Fatalf("%+v", f)
	}
	files, err := filepath.Glob("testdata/zksim/my.trust/*.txt")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	for _, like := range []string{"", "zookeeper-3.9"} {
		t.Setenv("ZKSIM_LIKE", like)
		if f := checkHere(t, trusting(), "1-20", files[0]); !strings.Contains(f.fatal, "the session is the same") {
			t.Errorf("%q: %+v", like, f)
		}
	}
}
