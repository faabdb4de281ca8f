package conform

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
)

func TestTheTableNamesWhatWasReachedAndWhatNot(t *testing.T) {
	c := Coverage{}
	fired := firing{&watch{kind: dataWatch}, zk.Event{Type: zk.EventNodeDataChanged}}
	c.sequence(&Sequence{Steps: []Step{
		{Op: Op{Kind: Set}, Real: Outcome{fired: []firing{fired, fired}}},
		{Op: Op{Kind: Exists, Watch: true}, Real: Outcome{Found: "false", armed: existWatch}},
		{Op: Op{Kind: Create, Flags: zk.FlagTTL},
			Real: Outcome{Result: Result{Err: "Create with TTL flag disallowed: " + zk.ErrInvalidFlags.Error()}}},
		{Op: Op{Kind: CreateTTL, Flags: 9}, Real: Outcome{Result: Result{Err: "invalid flag value: [9]"}}},
		{Op: Op{Kind: Sync}, Real: Outcome{Result: Result{Err: zk.ErrSessionMoved.Error()}}},
	}})
	for _, cell := range []Cell{
		{"set", "OK", "data changed"}, {"existsW", "NONODE", "sets exist"}, {"create/wrong mode", "ErrInvalidFlags", "none"},
		{"createTTL/unknown flags", unknownFlags, "none"},
	} {
		if c[cell] != 1 || reason(cell) != "" {
			t.Errorf("%v: %d times, %q", cell, c[cell], reason(cell))
		}
	}
	surprise := Cell{"sync", "SESSIONMOVED", "none"}
	if got := c.surprises(); !slices.Equal(got, []Cell{surprise}) {
		t.Errorf("surprises: %v", got)
	}
	reached, reachable := c.reached()
	if reached != 4 || reachable < 200 {
		t.Errorf("%d of %d", reached, reachable)
	}
	var b strings.Builder
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"  set\n    OK                       data changed     1\n",
		"\n  never reached: set OK, watches: none\n",
		"QUOTAEXCEEDED: quotas are enforced only by",
		"\n  but this was: sync SESSIONMOVED, watches: none\n",
	} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("%q is not in\n%s", line, b.String())
		}
	}
}

// A typing error in the table would make cells unreachable without a word.
func TestTheTableSpeaksOfRowsErrorsAndEffectsThatExist(t *testing.T) {
	known := func(list []string, name string) bool { return slices.Contains(list, name) }
	keys := append(rows(), "creation")
	var names []string
	for _, e := range errorNames {
		names = append(names, e.name)
	}
	for key, errs := range possible {
		for _, name := range strings.Fields(errs) {
			if !known(keys, key) || !known(names, name) {
				t.Errorf("%s: %s", key, name)
			}
		}
	}
	for key, list := range effectsOf {
		for _, e := range list {
			if !known(keys, key) || !known(effects, e) {
				t.Errorf("%s: %s", key, e)
			}
		}
	}
	for name := range unreachableErrors {
		if !known(names, name) {
			t.Error(name)
		}
	}
}
