package checkers

import (
	"fmt"
	"testing"
)

func TestAChainSaysHowAWatchWasMissed(t *testing.T) {
	const asks = `
		created c2 /l/a z1 s12
		call c1 existsW /l/a
	`
	const gone = `
		deleted c2 /l/a z2
	`
	const answer = `
		reply c1 existsW /l/a: zk: node does not exist
	`
	for _, x := range []struct{ name, text, note string }{
		{"before", "created c2 /l/a z1 s12" + gone + "call c1 existsW /l/a" + answer,
			"its last change was at step 0, before c1 asked for the watch, at step 0"},
		{"meanwhile", asks + gone + answer, "its last change was at step 0, while c1 asked for the watch, at steps 0 to 0"},
		{"after", asks + answer + gone, "its last change was at step 0, after c1 had left the watch, at step 0"},
		{"a child of a list", "call c1 childrenW /l\nreply c1 childrenW /l\ncreated c2 /l/a z1 s12\nWaiting c1 /l",
			"its last change was at step 0, after c1 had left the watch, at step 0"},
		{"no change", "call c1 existsW /l/a" + answer, ""},
	} {
		if x.name != "a child of a list" {
			x.text += "\nWaiting c1 /l/a"
		}
		if chain := Chain(script(t, x.text)); len(chain) != 1 || chain[0].Note != x.note {
			t.Errorf("%s: %+v, want %q", x.name, chain, x.note)
		}
	}
}

func TestAChainHasThoseWhoWaitBehindIt(t *testing.T) {
	h := script(t, `
		Waiting c1 /l/a
		Waiting c2 /l/b
		Waiting c3 /l/x
		Waiting c4
		Znode /l/a s12
		Znode /l/b s13
		Known /l/a
		Known /l/b
		Open s12 c2
		Open s13 c3`)
	chain := Chain(h)
	var all string
	for _, l := range append(Behind(h, chain), chain...) {
		all += fmt.Sprintf("c%d %v; ", l.Client, l.States)
	}
	if want := "c1 [which c2 has]; c2 [which c3 has]; c3 [which does not exist]; "; all != want {
		t.Errorf("%q, want %q", all, want)
	}
	if Chain(script(t, "Outcome stopped\nWaiting c1 /l/a")) != nil {
		t.Error("a run that was stopped has a chain")
	}
}
