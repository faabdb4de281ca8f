package checkers

import (
	"fmt"
	"testing"
)

// edges are histories at the edge of what a contract says, on both sides of it.
var edges = []struct {
	name    string
	checker Checker
	want    Level
	text    string
}{
	{"more leases than there are, the client of two of them first", Belief{Leases: 2}, Violated, `
		acquired c1 o1 /s/a
		acquired c1 o4 /s/b
		acquired c2 o2 /s/c`},
	{"more leases than there are, that client last", Belief{Leases: 2}, Violated, `
		acquired c2 o2 /s/c
		acquired c1 o1 /s/a
		acquired c1 o4 /s/b`},
	{"the latest holder is refused after it was accepted", Fenced{}, Violated, `
		created c1 /l/a z5 s11
		acquired c1 o1 /l/a v5
		created c2 /l/b z7 s12
		acquired c2 o2 /l/b v7
		write c1 o1 v5 ok
		write c2 o2 v7 ok
		write c2 o2 v7`},
	{"what a session owned that is over, two sessions ago", Claim{}, Violated, `
		session c1 StateHasSession s11
		invoke c1 o1 lock
		created c1 /l/a z1 s11
		session c1 StateExpired
		session c1 StateHasSession s12
		heard c1 s12
		session c1 StateExpired
		session c1 StateHasSession s13
		heard c1 s13
		acquired c1 o1 /l/a`},
	{"a lock at the top, beside an older znode", Ownership{}, OK, `
		created /app z1
		invoke c1 o1 lock
		created c1 /lock z2 s11
		acquired c1 o1 /lock`},
	{"a persistent znode beside those that queue", Ownership{}, OK, `
		created /l/info z1
		invoke c1 o1 lock
		created c1 /l/lock-1 z2 s11
		acquired c1 o1 /l/lock-1`},
	{"what was not read, as the connection was lost", Suspicion{}, Violated, `
		invoke c1 o1 watch-data /a
		reply c1 getW /a
		told c1 o1 data /a z1
		told c1 o1 doubt ok
		reply c1 getW /a
		told c1 o1 doubt
		reply c1 getW /a: zk: connection closed
		told c1 o1 data /a z2`},
	{"the children of the root", Settled{}, OK, `
		created c1 /a z3
		invoke c1 o1 watch-children /
		invoke c1 o1 settle
		return c1 o1 settle
		told c1 o1 children / z3`},
	{"the children of the root, in the end", Convergence{}, OK, `
		created c1 /a z3
		calm
		invoke c1 o1 watch-children /
		told c1 o1 children / z3 v` + fmt.Sprint(Fingerprint("a")) + `
		invoke c1 o1 rest
		invoke c1 o1 stop
		Znode / s0 p3
		Znode /a s0 z3`},
	{"a list that the end of a session changed", Settled{}, Violated, `
		created c1 /g/a z3 s11
		invoke c2 o1 watch-children /g
		invoke c2 o1 settle
		deleted /g/a z4 s11
		return c2 o1 settle
		told c2 o1 children /g z3`},
	{"a folder that was there twice", Settled{}, Violated, `
		created c1 /g z1
		created c1 /g/a z2
		deleted c1 /g/a z3
		deleted c1 /g z4
		invoke c2 o1 watch-children /g
		invoke c2 o1 settle
		created c3 /g z5
		return c2 o1 settle
		told c2 o1 children /g`},
	{"a leave that is tried again", Entry{}, OK, `
		session c1 StateHasSession s11
		session c2 StateHasSession s12
		invoke c1 o1 enter v2
		invoke c2 o2 enter v2
		return c1 o1 enter
		return c2 o2 enter
		invoke c1 o1 leave
		return c1 o1 leave: zk: connection closed
		invoke c1 o1 leave
		return c1 o1 leave
		invoke c2 o2 leave
		return c2 o2 leave
		invoke c1 o1 enter v2
		invoke c2 o2 enter v2
		return c1 o1 enter
		return c2 o2 enter`},
	{"a leave after an enter that failed", Entry{}, OK, `
		session c1 StateHasSession s11
		session c2 StateHasSession s12
		invoke c1 o1 enter v2
		return c1 o1 enter: gave up
		invoke c1 o1 leave
		return c1 o1 leave
		invoke c1 o1 enter v2
		invoke c2 o2 enter v2
		return c1 o1 enter`},
	{"a lock that was broken and taken again by the same path", LostRevoke{}, OK, `
		calm
		created c1 /lock z3 s11
		invoke c2 o2 break /lock
		deleted c2 /lock z4
		created c3 /lock z5 s13
		return c2 o2 break /lock
		invoke c3 o3 hold /lock
		return c3 o3 hold /lock: context deadline exceeded`},
	{"an old set under the date of the new one, when it was known before", Replaced{}, Violated, `
		told c1 o1 config /a=1/1 z5
		told c1 o1 config /a=1/1 z9
		told c2 o2 config /a=2/1 z9`},
	{"a set between two dates of another", Replaced{}, Violated, `
		told c1 o1 config /a=1/1 z5
		told c1 o1 config /a=1/1 z9
		told c2 o2 config /a=2/1 z7`},
	{"the documented names of readers and writers", Refusal{}, OK, `
		created c1 /l/write-0000000001 z1 s11
		invoke c2 o2 tryrlock
		created c2 /l/read-0000000002 z2 s12
		return c2 o2 tryrlock ok: locked`},
	{"Curator's names of readers and writers", Refusal{}, OK, `
		created c1 /l/_c_1-__WRIT__0000000001 z1 s11
		invoke c2 o2 tryrlock
		created c2 /l/_c_2-__READ__0000000002 z2 s12
		return c2 o2 tryrlock ok: locked`},
	{"an item is taken that was acknowledged", DoubledItem{}, Violated, `
		invoke c1 o1 put v1
		return c1 o1 put v1
		invoke c1 o1 claim
		return c1 o1 claim v1
		invoke c1 o1 ack v1
		return c1 o1 ack v1
		invoke c2 o2 take
		return c2 o2 take v1`},
	{"a state before the end that was told", Monotone{}, Violated, `
		created c1 /a z3
		invoke c2 o1 watch-data /a
		told c2 o1 data /a z3
		changed c1 /a z7
		deleted c1 /a z9
		told c2 o1 gone /a
		told c2 o1 data /a z7`},
}

func TestAContractIsJudgedToItsEdge(t *testing.T) {
	for _, x := range edges {
		if v := x.checker.Check(script(t, x.text)); v.Level != x.want {
			t.Errorf("%s, %s: %+v, want %v", x.checker.Name(), x.name, v, x.want)
		}
	}
}
