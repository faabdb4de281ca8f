package checkers

import "testing"

// whatSaysNo are histories that end with a call that is refused for no reason, up to the error of its end.
var whatSaysNo = []struct {
	Checker
	text string
}{
	{Linearizability{}, `invoke c2 o2 trylock
		return c2 o2 trylock ok`},
	{Refusal{}, `invoke c2 o2 tryrlock
		return c2 o2 tryrlock ok`},
	{Refusal{Leases: 2}, `invoke c2 o2 tryacquire
		return c2 o2 tryacquire ok`},
	{Taken{}, `invoke c2 o2 register v21
		return c2 o2 register /n ok`},
	{Conflict{}, `invoke c2 o2 update
		return c2 o2 update ok`},
	{Names{}, registered11 + `
		invoke c1 o1 unregister /n
		return c1 o1 unregister /n ok`},
	{Acknowledged{}, acknowledged + `
		invoke c3 o3 leader
		return c3 o3 leader ok`},
	{Tasks{}, `Znode /p/assign/w/t s0
		invoke c1 o1 submit v7
		return c1 o1 submit v7 /t
		told c2 o2 task v7 /t
		created c3 /p/assign/w/t z3
		invoke c2 o2 done v7 /w/t
		return c2 o2 done v7 /w/t ok`},
}

// TestACallThatWasGivenUpIsNotRefused: OK says of it only that it did nothing.
func TestACallThatWasGivenUpIsNotRefused(t *testing.T) {
	for _, x := range whatSaysNo {
		for why, want := range map[string]Level{"no": Violated, "context canceled": OK, "context deadline exceeded": OK} {
			if v := x.Check(script(t, x.text+": "+why)); v.Level != want {
				t.Errorf("%s, %s: %v %q", x.Name(), why, v.Level, v.Message)
			}
		}
	}
}

// TestWhatAGivenUpCallHasMadeMayStillBeThere is about the undoing of a registration that was given up.
func TestWhatAGivenUpCallHasMadeMayStillBeThere(t *testing.T) {
	h := script(t, `
		invoke c2 o2 register v21
		return c2 o2 register /n ok: context canceled
		invoke c2 o2 register v22
		created c2 /n z1
		return c2 o2 register /n ok: taken`)
	if v := (Taken{}).Check(h); v.Level != OK {
		t.Error(v)
	}
}
