package checkers

import (
	"fmt"
	"strings"
	"testing"
)

func TestNobodyPassesABarrierThatIsHeld(t *testing.T) {
	const held = `
		invoke c1 o1 hold
		return c1 o1 hold
	`
	const stuck = "c2 passed, but the barrier was held all the time that it waited, the last hold being that of c1"
	judge(t, Barrier{}, []judgement{
		{name: "never held", text: `
			invoke c2 o2 wait
			return c2 o2 wait`},
		{name: "held, released, passed", text: held + `
			invoke c2 o2 wait
			invoke c3 o3 release
			return c3 o3 release
			return c2 o2 wait`},
		{name: "held", text: held + `
			invoke c2 o2 wait
			return c2 o2 wait`, event: 3, message: stuck},
		{name: "a wait that gives up", text: held + `
			invoke c2 o2 wait
			return c2 o2 wait: canceled`},
		{name: "the wait began before the hold", text: `
			invoke c2 o2 wait` + held + `
			return c2 o2 wait`},
		{name: "the hold has not ended", text: `
			invoke c1 o1 hold
			invoke c2 o2 wait
			return c2 o2 wait`},
		{name: "the hold failed", text: `
			invoke c1 o1 hold
			return c1 o1 hold: closed
			invoke c2 o2 wait
			return c2 o2 wait`},
		{name: "the release came before the hold", text: `
			invoke c3 o3 release
			return c3 o3 release` + held + `
			invoke c2 o2 wait
			return c2 o2 wait`, event: 5, message: stuck},
		{name: "the release may have come after the hold", text: `
			invoke c3 o3 release` + held + `
			return c3 o3 release
			invoke c2 o2 wait
			return c2 o2 wait`},
		{name: "the release is under way", text: held + `
			invoke c3 o3 release
			invoke c2 o2 wait
			return c2 o2 wait`},
		{name: "the release comes after the wait", text: held + `
			invoke c2 o2 wait
			return c2 o2 wait
			invoke c3 o3 release`, event: 3, message: stuck},
		{name: "held by two, opened by one", text: held + `
			invoke c3 o3 hold
			return c3 o3 hold
			invoke c3 o3 release
			return c3 o3 release
			invoke c2 o2 wait
			return c2 o2 wait`},
		{name: "released and held again while it waits", text: held + `
			invoke c2 o2 wait
			invoke c3 o3 release
			return c3 o3 release` + held + `
			return c2 o2 wait`},
	})
}

func TestAReleaseThatIsRefusedOpensNothing(t *testing.T) {
	const held = `
		invoke c1 o1 hold
		return c1 o1 hold
		invoke c3 o3 release
	`
	const passed = `
		invoke c2 o2 wait
		return c2 o2 wait`
	judge(t, Barrier{}, []judgement{
		{name: "refused", text: held + `
			return c3 o3 release ok: not held` + passed, event: 5, message: "c2 passed, but the barrier was held all the time " +
			"that it waited, the last hold being that of c1"},
		{name: "given up", text: held + `
			return c3 o3 release ok: context canceled` + passed},
	})
}

// One release opens once, whenever it was.
func TestAReleaseOfABarrierTakesEffectOnce(t *testing.T) {
	const used = `
		invoke c1 o1 hold
		return c1 o1 hold
		invoke c3 o3 release
		invoke c4 o4 wait
		return c4 o4 wait
	`
	const again = `
		invoke c1 o1 hold
		return c1 o1 hold
		invoke c2 o2 wait
		return c2 o2 wait
	`
	const stuck = "c2 passed, but the barrier was held all the time that it waited, the last hold being that of c1"
	judge(t, Barrier{}, []judgement{
		{name: "under way", text: used + again, event: 8, message: stuck},
		{name: "ended", text: used + `return c3 o3 release` + again, event: 9, message: stuck},
		{name: "failed", text: used + `return c3 o3 release: closed` + again, event: 9, message: stuck},
		{name: "of a client that crashed", text: used + `crashed c3` + again, event: 9, message: stuck},
		{name: "failed and not needed before", text: `
			invoke c3 o3 release
			return c3 o3 release: closed` + again},
		{name: "of a client that crashed, not needed before", text: `
			invoke c3 o3 release
			crashed c3` + again},
		{name: "another one", text: used + `
			invoke c5 o5 release
			return c5 o5 release: closed` + again},
		{name: "another one, used up as well", text: used + `
			invoke c5 o5 release
			return c5 o5 release: closed` + again + again, event: 14, message: stuck},
		{name: "a crash ends a hold and a wait", text: `
			invoke c1 o1 hold
			invoke c4 o4 wait
			crashed c1
			crashed c4
			invoke c2 o2 wait
			return c2 o2 wait`},
	})
}

func TestManyAtABarrierAreJudgedQuickly(t *testing.T) {
	var b strings.Builder
	for round := range 40 {
		for c := 1; c <= 9; c++ {
			fmt.Fprintf(&b, "invoke c%d o%d %s\n", c, c, []string{"hold", "release", "wait"}[(c+round)%3])
		}
		for c := 1; c <= 9; c++ {
			fmt.Fprintf(&b, "return c%d o%d %s%s\n", c, c, []string{"hold", "release", "wait"}[(c+round)%3],
				[]string{"", ": closed"}[round%2])
		}
	}
	if v := (Barrier{}).Check(script(t, b.String())); v.Level != OK {
		t.Errorf("%+v", v)
	}
	b.Reset()
	for o := range 65 {
		fmt.Fprintf(&b, "invoke c1 o%d release\n", o+1)
	}
	if v := (Barrier{}).Check(script(t, b.String())); v.Level != Unknown || v.Event != 64 {
		t.Errorf("%+v", v)
	}
}
