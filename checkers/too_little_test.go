package checkers

import (
	"strings"
	"testing"
)

// TestTooLittleIsNoVerdict: a program that leaves out what a checker compares must not pass. Each history is judged as
// it is, and not without one of its words.
func TestTooLittleIsNoVerdict(t *testing.T) {
	const lock = "acquired c1 o1 /l/a\nacquired c2 o2 /l/b"
	const commit = "invoke c1 o1 begin /t v2\nreturn c1 o1 begin /t\ntold c1 o1 committed /t"
	for _, x := range []struct {
		checker Declaring
		text    string
		left    string
		instead string
	}{
		{Entry{}, "invoke c1 o1 enter v2\nreturn c1 o1 enter", " v2", ""},
		{Torn{}, "told c1 o1 config /a=7/1 z3", " /a=7/1", ""},
		{Replaced{}, "told c1 o1 config /a=7/1 z3", " /a=7/1", ""},
		{Recency{}, "told c1 o1 config /a=7/1 z3", " z3", ""},
		{Departure{}, "invoke c1 o1 join\nreturn c1 o1 join /g/a", " /g/a", ""},
		{Taken{}, "invoke c1 o1 join\nreturn c1 o1 join /g/a", " /g/a", ""},
		{Presence{}, "calm\ninvoke c1 o1 join /g/a\nreturn c1 o1 join /g/a\ninvoke c1 o1 rest\ninvoke c1 o1 leave /g/a",
			"join", "enter"},
		{Exit{}, "invoke c1 o1 enter\nreturn c1 o1 enter v7 /b/a\ninvoke c1 o1 leave\nreturn c1 o1 leave", "enter", "go"},
		{Passage{}, "calm\ninvoke c2 o2 release\nreturn c2 o2 release\ninvoke c1 o1 wait\ntold c1 o1 impatient",
			"told c1 o1 impatient", ""},
		{Settled{}, "invoke c1 o1 watch-children /d\ninvoke c1 o1 settle\nreturn c1 o1 settle\ntold c1 o1 children /d z3",
			"told c1 o1 children /d", "told c1 o1 children"},
		{Suspicion{}, "invoke c1 o1 watch-data /d\ntold c1 o1 doubt ok", "watch-data", "look"},
		{Atomicity{}, commit, "begin /t v2", "begin"},
		{Atomicity{}, commit, "committed /t", "committed"},
		{Overtaken{Flag: "f"}, "invoke c1 o1 update /c\nchanged c1 /c \"f\"\nreturn c1 o1 update", "update /c", "update"},
		{Alarm{}, "invoke c2 o2 monitor\ncreated c1 /l/a z3 s1\ntold c1 o1 until /l/a v9\ntold c2 o2 overdue /l/a v5",
			"until /l/a", "until"},
		{Belief{}, lock, "acquired", "acquired read"},
	} {
		if lacks := x.checker.Needs().Missing(script(t, x.text)); len(lacks) > 0 {
			t.Errorf("%s lacks %s in\n%s", x.checker.Name(), lacks[0].What, x.text)
		}
		text := strings.ReplaceAll(x.text, x.left, x.instead)
		if lacks := x.checker.Needs().Missing(script(t, text)); len(lacks) == 0 || text == x.text {
			t.Errorf("%s judges\n%s", x.checker.Name(), text)
		}
	}
}
