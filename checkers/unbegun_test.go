package checkers

import (
	"strings"
	"testing"
)

// A Return without its Invoke would be judged by nobody.
func TestWhatEndsHasBegun(t *testing.T) {
	const why = `c1 ends the operation "enter" on an object that has not begun it`
	for name, x := range map[string]struct {
		all  []Checker
		free []string
		text string
		want string
	}{
		"never begun":        {[]Checker{Entry{}}, nil, "return c1 o1 enter", why},
		"begun by another":   {[]Checker{Entry{}}, nil, "invoke c1 o2 enter\nreturn c1 o1 enter", why},
		"ended twice":        {[]Checker{Entry{}}, nil, "invoke c1 o1 enter\nreturn c1 o1 enter\nreturn c1 o1 enter", why},
		"begun":              {[]Checker{Entry{}}, nil, "invoke c1 o1 enter v2\nreturn c1 o1 enter", ""},
		"not judged":         {[]Checker{Belief{}}, nil, "return c1 o1 lock", ""},
		"only shown":         {[]Checker{Entry{}}, []string{"work"}, "return c1 o1 work", ""},
		"how long it was":    {[]Checker{Overdue{}}, nil, "return c1 o1 held /a v7", ""},
		"of a cached reader": {[]Checker{Recency{}}, nil, "told c1 o1 config z3\nreturn c1 o1 follow", ""},
	} {
		v := VocabularyOf(x.all, x.free)
		if got := v.Unfit(script(t, x.text)); (got == "") != (x.want == "") || !strings.HasPrefix(got, x.want) {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}
