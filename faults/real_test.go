package faults_test

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	"zksim/faults"
)

func TestEveryFaultOfTheSimulatorHasAWordOnRealEnsembles(t *testing.T) {
	rows := map[string]faults.Real{}
	for _, f := range faults.RealTable {
		rows[f.Name] = f
		if (f.Doc == "") == (f.Instead == "") {
			t.Errorf("%s: what is done, or what to do instead, expected one", f.Name)
		}
	}
	for _, f := range faults.Table {
		if row, ok := rows[f.Name]; !ok || row.Only {
			t.Errorf("%s: %+v", f.Name, row)
		}
	}
}

func TestThePlanOfARealEnsembleIsWrittenInTheSameLanguage(t *testing.T) {
	const plan = "lose-reply=2@op=create,nth=2 depose=1 kill=1@leader pause=1@leader,client=c2 part=3@s2 black-hole=1"
	p, err := faults.ParseReal(plan)
	if err != nil || p.String() != plan {
		t.Errorf("%v, %v", p, err)
	}
	all := faults.RealContract().String()
	if p, err := faults.ParseReal(all); err != nil || p.String() != all {
		t.Errorf("%v, %v", p, err)
	}
	for plan, want := range map[string]string{
		"contract": faults.RealContract().String(), "none": "none", "": "none", "expire@op=get": "expire=1@op=get",
	} {
		if p, err := faults.ParseReal(plan); err != nil || p.String() != want {
			t.Errorf("%s: %v, %v", plan, p, err)
		}
	}
}

func TestWhatABackendCannotDoIsOneClearError(t *testing.T) {
	for _, x := range []struct {
		parse      func(string) (faults.Plan, error)
		plan, want string
	}{
		{faults.Parse, "kill", `"kill": kill is for real ensembles (-backend zookeeper); what the simulator has`},
		{faults.Parse, "part=1@s2", "real ensembles (-backend zookeeper); what the simulator has for it is stale-read"},
		{faults.Parse, "black-hole", "what the simulator has for it is learn-late"},
		{faults.Parse, "pause=1@leader", "@leader is for real ensembles (-backend zookeeper)"},
		{faults.ParseReal, "zombie", "zombie cannot be brought about on a real ensemble; what leads to it is part"},
		{faults.ParseReal, "deliver-close=1@end=rst", "end=rst is for simrun serve and zktest.Start; on a real ensemble "},
		{faults.ParseReal, "lost-early", "lost-early cannot be brought about on a real ensemble; what leads to it is depose"},
		{faults.ParseServed, "lost-early", "lost-early is what a client's library does, and is for simulated clients"},
		{faults.ParseReal, "sequence=2@path=/lock", "cannot be brought about on a real ensemble"},
		{faults.ParseReal, "kil", "did you mean kill?"},
		{faults.ParseReal, "kill=65", `"kill=65": a fault strikes a run on a real ensemble at most 64 times`},
		{faults.ParseReal, "lose-reply@leader", "lose-reply is not aimed at a server; kill, part and pause are"},
		{faults.ParseReal, "part@all", "expected @leader, @follower or @s1"},
		{faults.ParseReal, "kill@s1,s2", "s1 and s2 are two servers, expected one"},
		{faults.ParseReal, "kill@s4", `s1, s2, s3, not "s4"`},
		{faults.ParseReal, "kill@s1,s1", "s1 is given twice"},
	} {
		if p, err := x.parse(x.plan); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, %v, want an error with %s", x.plan, p, err, x.want)
		}
	}
}

func TestTheDocumentationSaysWhatFaultsAreOnRealEnsembles(t *testing.T) {
	text, err := os.ReadFile("../docs/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faults.RealTable {
		row := fmt.Sprintf("| `%s` | %s |\n", f.Name, f.Doc)
		if f.Doc == "" {
			row = fmt.Sprintf("| `%s` | not on purpose; what leads to it: %s |\n", f.Name, f.Instead)
		}
		if !strings.Contains(string(text), row) {
			t.Errorf("docs/faults.md lacks the row %s", row)
		}
	}
}

func TestWhatServersCannotHaveIsRefused(t *testing.T) {
	for _, x := range []struct {
		plan    string
		servers int
		own     bool
		want    string
	}{
		{"depose=1", 1, true, "depose=1 needs three servers, -nodes 3"},
		{"kill=1@s2", 1, true, "kill=1@s2: there is no s2, only s1; -nodes 3 starts three"},
		{"kill=1@follower", 1, true, "kill=1@follower: there is no follower, only s1; -nodes 3 starts three"},
		{"failover=1", 1, true, "failover=1 needs another server, as -nodes 3 has"},
		{"kill=1", 3, false, "kill=1 happens to servers, and is for those that are started here, not for -servers"},
		{"failover=1", 2, false, ""},
		{"failover=1 kill=1@follower", 3, true, ""},
		{"kill=1@leader pause=1@all", 1, true, ""},
	} {
		p, err := faults.ParseReal(x.plan)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Possible(x.servers, x.own); fmt.Sprint(err) != cmp.Or(x.want, "<nil>") {
			t.Errorf("%s on %d servers: %v, want %s", x.plan, x.servers, err, x.want)
		}
	}
}

// A fault of a real ensemble closes the connection itself; what the simulator has for it may need another that does.
func TestWhatHasStruckOnARealEnsembleCanStrikeInTheSimulator(t *testing.T) {
	for _, f := range faults.RealTable {
		if f.Doc == "" || f.Name == "deliver-close" { // which closes the connection in the simulator, too
			continue
		}
		p := faults.Plan{{Fault: f.Name, Budget: 2}}
		q := p.InSim([]int{2})
		if len(q) == 0 {
			t.Errorf("%s is nothing in the simulator", p)
		}
		for _, r := range q {
			if why := r.Lacks(q, 3); strings.Contains(why, "; add ") {
				t.Errorf("%s becomes %s: %s", p, q, why)
			}
		}
	}
}
